"""The pictures of a run of planted causes: what was named, and what following advice led to."""

from collections.abc import Mapping, Sequence

from alder.bench.benchmark import Row
from alder.bench.causes.scores import ADMITTED
from alder.bench.causes.scores import figures as figures_of
from alder.bench.causes.worlds import PLANTS
from alder.report.bars import STYLE, frame_of, grouped, ordinate
from alder.report.svg import Drawing, Frame

_CELL, _LEFT, _TOP = 74.0, 150.0, 66.0
# Numbers are white on cells of more than this shade.
_DARK = 0.45
_ON_DARK = "<style>.dk{fill:#fff;font-weight:700}</style>"
_PERCENT = {0.0: "0", 25.0: "25", 50.0: "50", 75.0: "75", 100.0: "100"}


def figures(rows: Sequence[Row]) -> dict[str, str]:
    """Return the pictures as SVG by file name."""
    found = figures_of(rows)
    causes = [cause for cause in PLANTS if f"f1_{cause}" in found]
    heights: Mapping[str, Sequence[float]] = {
        "\n".join(cause.rsplit("-", 1)).replace("-", " "): [
            100.0 * found[f"f1_{cause}"],
            100.0 * found[f"followed_admitted_{cause}"],
        ]
        for cause in causes
    }
    drawing = Drawing(frame_of(len(heights), (0.0, 100.0)), [STYLE])
    ordinate(drawing, _PERCENT, "per cent")
    grouped(drawing, heights, ["F1", "admitted after"])
    return {
        "confusion.svg": _confusion(rows, causes),
        "by-cause.svg": drawing.file("F1, and admissions after following the advice, by cause"),
    }


def _confusion(rows: Sequence[Row], causes: Sequence[str]) -> str:
    """Draw how often each planted cause was named as which."""
    named = (*causes, ADMITTED)
    width = _LEFT + _CELL * len(named) + 14.0
    height = _TOP + 30.0 * len(causes) + 12.0
    drawing = Drawing(Frame(width, height, (0.0, 1.0), (0.0, 1.0)), [STYLE, _ON_DARK])
    drawing.text(2, 14, "rows: planted; columns: named")
    for j, name in enumerate(named):
        place = _LEFT + _CELL * (j + 0.5)
        words = name.split("-")
        for k, word in enumerate(words):
            drawing.text(place, _TOP - 8 - 14.0 * (len(words) - 1 - k), word, anchor="middle")
    for i, cause in enumerate(causes):
        own = [row for row in rows if str(row["case"]).rpartition("-")[0] == cause]
        y = _TOP + 30.0 * i
        drawing.text(_LEFT - 10, y + 19, cause, anchor="end")
        for j, name in enumerate(named):
            n = sum(row.get("named") == name for row in own)
            shade = 0.9 * n / max(len(own), 1)
            kind = "dk" if shade > _DARK else "st"
            colour = "#0a6e52" if name == cause else "#b4500f"
            style = f"fill:{colour};fill-opacity:{max(shade, 0.04):.2f}"
            drawing.rect(_LEFT + _CELL * j + 2, y + 2, _CELL - 4, 26.0, style)
            if n:
                drawing.text(_LEFT + _CELL * (j + 0.5), y + 19, str(n), anchor="middle", kind=kind)
    return drawing.file("Planted causes against named ones")
