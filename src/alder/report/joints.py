"""Pictures of joints: errors of every model by family, and a planned pull over time."""

from collections.abc import Mapping, Sequence

import numpy as np

from alder.arrays import FloatArray
from alder.bench.articulated.worlds import FAMILIES
from alder.bench.benchmark import Row
from alder.report.bars import COLOURS, STYLE, frame_of, grouped, ordinate
from alder.report.svg import Drawing, Frame, limits_of

# Errors outside these powers of ten are drawn at the edge: a law that is exact has none.
_LOW, _HIGH = -7.0, -1.0
_MODELS = ("nominal", "passive", "mlp", "alder")
_LINES = ".ln{fill:none;stroke-width:2}"


def figures(rows: Sequence[Row]) -> dict[str, str]:
    """Return the pictures as SVG by file name; none for rows of channels or selectors."""
    known = [row for row in rows if row.get("ood_rmse") is not None and row["method"] in _MODELS]
    models = [model for model in _MODELS if any(row["method"] == model for row in known)]
    heights = {
        family: [_height(known, model, family) for model in models]
        for family in FAMILIES
        if any(row.get("family") == family for row in known)
    }
    if not heights or any(row.get("part") != "control" for row in known):
        return {}
    drawing = Drawing(frame_of(len(heights), (_LOW, _HIGH)), [STYLE])
    ticks = {float(p): f"1e{p}" for p in range(int(_LOW), int(_HIGH) + 1)}
    ordinate(drawing, ticks, "mean error of where control probes end, share of the range")
    grouped(drawing, heights, models)
    return {"prediction-errors.svg": drawing.file("Errors of predicted ends by family")}


def _height(rows: Sequence[Row], model: str, family: str) -> float:
    errors = [r["ood_rmse"] for r in rows if r["method"] == model and r["family"] == family]
    mean = float(np.mean(errors)) if errors else 0.0
    return float(np.clip(np.log10(max(mean, 1e-300)), _LOW, _HIGH))


def pull_picture(seconds: FloatArray, paths: Mapping[str, FloatArray], target: float) -> str:
    """Draw joint positions over time, such as planned and executed ones, and the target.

    Returns the text of an SVG file. The last path is drawn dashed, so that what lies below it is
    seen.
    """
    ends = limits_of([*paths.values(), target])
    frame = Frame(620.0, 320.0, (float(seconds[0]), float(seconds[-1])), ends, right=150.0)
    drawing = Drawing(frame, [STYLE, f"<style>{_LINES}</style>"])
    drawing.axes("time, s", "joint position, share of its range")
    level = float(frame.py(target))
    drawing.line(frame.left, level, frame.width - frame.right, level, "ax")
    labels = [(target, "target", "#5f5b54")]
    for i, (name, path) in enumerate(paths.items()):
        drawing.curve(seconds, path, COLOURS[i], dashed=i == len(paths) - 1)
        labels.append((float(path[-1]), name, COLOURS[i]))
    drawing.labels_at_right(labels)
    return drawing.file("A planned pull") + "\n"
