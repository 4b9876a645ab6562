"""The pictures of an identification run: cases identified by each query, and calibration."""

from collections.abc import Mapping, Sequence

import numpy as np

from alder.bench.benchmark import Row
from alder.bench.identification.calibration import bins, statements
from alder.bench.identification.table import costs_of
from alder.bench.identification.trial import METHODS, N_QUERIES
from alder.report.svg import Drawing, Frame

_COLOURS: Mapping[str, str] = {
    "passive": "#b9b3a7",
    "random": "#b4500f",
    "coverage": "#7d6300",
    "uncertainty": "#8a3b93",
    "disagreement": "#0a6e52",
    "information": "#2566b0",
    "oracle": "#1c1b19",
}
_STYLE = (
    "<style>text{font:12px Inter,system-ui,'Segoe UI',Arial,sans-serif;fill:#5f5b54}"
    ".st{font-weight:650}.ax{stroke:#5f5b54}.grid{stroke:#d9d5cc}"
    ".ln{fill:none;stroke-width:1.8;stroke-linejoin:round}</style>"
    '<rect width="100%" height="100%" fill="#fffefb"/>'
)
_WIDTH, _HEIGHT = 720.0, 320.0


def figures(rows: Sequence[Row]) -> dict[str, str]:
    """Return the pictures as SVG by file name; selectors without rows are left out."""
    shown = [m for m in METHODS if any(row["method"] == m for row in rows)]
    return {
        "identified.svg": _identified(rows, shown),
        "calibration.svg": _calibration(rows, shown),
    }


def _identified(rows: Sequence[Row], shown: Sequence[str]) -> str:
    """Draw the share of ambiguous cases that stay identified from each query count on."""
    frame = Frame(_WIDTH, _HEIGHT, (0.0, float(N_QUERIES)), (0.0, 100.0), right=130.0)
    drawing = Drawing(frame, [_STYLE])
    drawing.axes("queries", "identified and never lost again, % of ambiguous cases", n_x=8)
    x = np.arange(N_QUERIES + 1.0)
    for method in shown:
        costs = np.array(list(costs_of(rows, method).values()))
        if len(costs):
            share = np.array([100.0 * float(np.mean(costs <= n)) for n in x])
            # A step: a case is identified by a query, not between two.
            drawing.curve(np.repeat(x, 2)[1:], np.repeat(share, 2)[:-1], _COLOURS[method])
    drawing.legend({name: _COLOURS[name] for name in shown})
    return drawing.file("Cases identified by each query")


def _calibration(rows: Sequence[Row], shown: Sequence[str]) -> str:
    """Draw how often the likeliest candidate was the true one, against what was said of it."""
    frame = Frame(_WIDTH, _HEIGHT, (0.2, 1.0), (0.0, 100.0), right=130.0)
    drawing = Drawing(frame, [_STYLE])
    drawing.axes("probability of the likeliest candidate", "it is the true one, %", n_x=8)
    ends = np.array([0.2, 1.0])
    drawing.curve(ends, 100.0 * ends, "#5f5b54", dashed=True)
    for method in shown:
        said, right = statements([row for row in rows if row["method"] == method])
        if not len(said):
            continue
        found = bins(said, right)
        for b in found:
            px, py = float(frame.px(b.said)), float(frame.py(100.0 * b.right))
            # The area of a box is as the number of statements, between a dot and a finger tip.
            side = float(np.clip(1.2 * np.sqrt(b.n) ** 0.7, 3.0, 16.0))
            style = f"fill:{_COLOURS[method]};fill-opacity:0.65"
            drawing.rect(px - side / 2.0, py - side / 2.0, side, side, style)
    drawing.legend({name: _COLOURS[name] for name in shown})
    return drawing.file("Calibration of the posterior")
