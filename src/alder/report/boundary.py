"""The picture of a boundary run: the errors of the four predictors under shift, by regime."""

from collections.abc import Sequence

import numpy as np

from alder.bench.benchmark import Row
from alder.bench.boundary.regimes import REGIMES
from alder.bench.boundary.run import ERRORS
from alder.report.bars import STYLE, frame_of, grouped, ordinate
from alder.report.svg import Drawing

# Errors outside these powers of ten are drawn at the edge.
_LOW, _HIGH = -5.0, 1.0


def figures(rows: Sequence[Row]) -> dict[str, str]:
    """Return the pictures as SVG by file name; regimes without rows are left out."""
    by_regime = {
        r: [row for row in rows if row["method"] == r and "error" not in row] for r in REGIMES
    }
    by_regime = {regime: found for regime, found in by_regime.items() if found}
    heights = {
        regime: [
            float(
                np.clip(np.log10(max(np.mean([row[name] for row in found]), 1e-300)), _LOW, _HIGH)
            )
            for name in ERRORS
        ]
        for regime, found in by_regime.items()
    }
    drawing = Drawing(frame_of(len(heights), (_LOW, _HIGH)), [STYLE])
    ticks = {float(p): f"1e{p}" for p in range(int(_LOW), int(_HIGH) + 1)}
    ordinate(drawing, ticks, "mean NMSE under shift, without noise")
    grouped(drawing, heights, [name.removesuffix("_nmse") for name in ERRORS])
    return {"shift-errors.svg": drawing.file("Errors of the four predictors under shift")}
