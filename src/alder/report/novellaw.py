"""The pictures of a NovelLaw run, made of its rows: recovery, shift errors, queries."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from alder.bench.benchmark import Row
from alder.bench.novellaw.recipes import PLACES
from alder.bench.novellaw.table import PAPER
from alder.report.svg import Drawing, Frame

_COLOURS: Mapping[str, str] = {
    "library": "#b9b3a7",
    "sindy": "#7d6300",
    "mlp": "#8a3b93",
    "one-shot": "#2566b0",
    "revision-only": "#2b6f86",
    "random-query": "#b4500f",
    "alder": "#0a6e52",
    "oracle": "#1c1b19",
}
_STYLE = (
    "<style>text{font:12px Inter,system-ui,'Segoe UI',Arial,sans-serif;fill:#5f5b54}"
    ".st{font-weight:650}.ax{stroke:#5f5b54}.grid{stroke:#d9d5cc}"
    ".ln{fill:none;stroke-width:1.8;stroke-linejoin:round}</style>"
    '<rect width="100%" height="100%" fill="#fffefb"/>'
)
_SPLITS = ("iid", "compositional", "stress")
_DEPTHS = ("short", "medium", "deep")
_QUERYING = ("random-query", "alder")
# Errors outside these powers of ten are drawn at the edge.
_LOW, _HIGH = -8.0, 1.0
_WIDTH, _HEIGHT = 720.0, 300.0


def figures(rows: Sequence[Row]) -> dict[str, str]:
    """Return the pictures as SVG by file name; methods without rows are left out."""
    by_method = {m: [r for r in rows if r["method"] == m] for m in PAPER}
    by_method = {method: found for method, found in by_method.items() if found}
    return {
        "recovery-by-split.svg": _bars(by_method, _SPLITS, lambda row: PLACES[row["case"]].split),
        "recovery-by-depth.svg": _bars(by_method, _DEPTHS, lambda row: row.get("depth", "")),
        "shift-error.svg": _shift_errors(by_method),
        "queries.svg": _queries({m: by_method[m] for m in _QUERYING if m in by_method}),
    }


def _bars(
    by_method: Mapping[str, Sequence[Row]], groups: Sequence[str], group_of: Callable[[Row], str]
) -> str:
    """Draw the share of recovered cases of each group, a bar for each method."""
    shares = {
        (group, method): [bool(row.get("recovered_1e3")) for row in rows if group_of(row) == group]
        for group in groups
        for method, rows in by_method.items()
    }
    heights = {key: float(np.mean(found)) for key, found in shares.items() if found}
    sizes = {group: max((len(shares[group, m]) for m in by_method), default=0) for group in groups}
    labels = [f"{group} ({sizes[group]} cases)" for group in groups]
    return _grouped(heights, groups, labels, by_method, ("recovered, %", "Recovered cases"))


def _queries(by_method: Mapping[str, Sequence[Row]]) -> str:
    """Draw how many cases used how many queries."""
    used = sorted({int(row.get("queries", 0)) for rows in by_method.values() for row in rows})
    groups = [str(n) for n in used]
    heights = {
        (str(n), method): float(np.mean([int(row.get("queries", 0)) == n for row in rows]))
        for n in used
        for method, rows in by_method.items()
    }
    labels = [f"{n} queries" for n in used]
    return _grouped(heights, groups, labels, by_method, ("cases, %", "Queries used"))


def _grouped(
    heights: Mapping[tuple[str, str], float],
    groups: Sequence[str],
    labels: Sequence[str],
    methods: Mapping[str, object],
    titles: tuple[str, str],
) -> str:
    frame = Frame(_WIDTH, _HEIGHT, (0.0, max(len(groups), 1)), (0.0, 100.0), right=130.0)
    drawing = Drawing(frame, [_STYLE])
    _ordinate(drawing, titles[0])
    width = 0.84 / max(len(methods), 1)
    for i, (group, label) in enumerate(zip(groups, labels, strict=True)):
        for j, method in enumerate(methods):
            if (group, method) not in heights:
                continue
            left, right = (float(frame.px(i + 0.08 + width * (j + k))) for k in (0.05, 0.95))
            top = float(frame.py(100.0 * heights[group, method]))
            style = f"fill:{_COLOURS[method]}"
            drawing.rect(left, top, right - left, max(frame.floor - top, 1.5), style)
        drawing.text(float(frame.px(i + 0.5)), frame.floor + 17, label, anchor="middle")
    drawing.legend({name: _COLOURS[name] for name in methods})
    return drawing.file(titles[1])


def _shift_errors(by_method: Mapping[str, Sequence[Row]]) -> str:
    """Draw the share of cases whose noiseless shift NMSE lies below each value."""
    frame = Frame(_WIDTH, _HEIGHT, (_LOW, _HIGH), (0.0, 100.0), right=130.0)
    drawing = Drawing(frame, [_STYLE])
    _ordinate(drawing, "cases below, %")
    for power in range(int(_LOW), int(_HIGH) + 1):
        x = float(frame.px(float(power)))
        drawing.line(x, frame.floor, x, frame.floor + 4, "ax")
        drawing.text(x, frame.floor + 17, f"1e{power}", anchor="middle")
    drawing.text(frame.left, frame.height - 4, "shift NMSE, without noise")
    for method, rows in by_method.items():
        errors = [1e30 if row.get("shift_nmse") is None else row["shift_nmse"] for row in rows]
        places = np.sort(np.clip(np.log10(np.maximum(errors, 1e-300)), _LOW, _HIGH))
        share = 100.0 * np.arange(len(places) + 1) / len(places)
        x = np.concatenate([[_LOW], np.repeat(places, 2), [_HIGH]])
        # What lies at the right edge lies beyond it: those cases are never below.
        y = np.repeat(share, 2)
        inside = (x < _HIGH) | (np.arange(len(x)) == 0)
        drawing.curve(x[inside], y[inside], _COLOURS[method])
    drawing.legend({name: _COLOURS[name] for name in by_method})
    return drawing.file("Distribution of shift errors")


def _ordinate(drawing: Drawing, title: str) -> None:
    frame = drawing.frame
    for tick in (0.0, 25.0, 50.0, 75.0, 100.0):
        y = float(frame.py(tick))
        drawing.line(frame.left, y, frame.width - frame.right, y, "grid")
        drawing.text(frame.left - 7, y + 4, f"{tick:g}", anchor="end")
    drawing.line(frame.left, frame.floor, frame.width - frame.right, frame.floor, "ax")
    drawing.text(2, 12, title)
