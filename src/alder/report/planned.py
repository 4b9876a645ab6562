"""A planned move as an SVG file of its own: what was predicted, and what happened."""

import numpy as np

from alder.errors import BadParameter
from alder.records.plan import Plan
from alder.report.bars import COLOURS, STYLE
from alder.report.svg import Drawing, Frame, limits_of
from alder.tables import Rows, as_columns

_WIDTH, _HEIGHT = 620.0, 300.0
_STILL = ".ln{fill:none;stroke-width:1.6}.ds{stroke-linecap:round;fill:none}"


def draw_plan(plan: Plan, column: str, executed: Rows | None = None) -> str:
    """Draw a column along a planned move; return the text of an SVG file.

    Example: `alder.draw_plan(plan, "x", executed=rows)`

    The line is what the law predicts, the dashed line the target. `executed` are rows of what
    happened, drawn as dots, evenly over the horizon where they hold no column `t`.
    """
    if column not in plan.path:
        can = ", ".join(plan.path) or "a refusal has none"
        raise BadParameter(f"`{column}` is no column of the planned path; {can}.")
    y = plan.path[column]
    t = plan.path["t"] if "t" in plan.path else np.linspace(0.0, plan.horizon, len(y))
    shown = [y]
    if column in plan.target:
        shown.append(np.array([plan.target[column]]))
    happened = None if executed is None else as_columns(executed)
    if happened is not None:
        shown.append(happened[column])
    drawing = Drawing(Frame(_WIDTH, _HEIGHT, limits_of([t], 0.0), limits_of(shown), right=96.0))
    drawing.parts.append(STYLE + f"<style>{_STILL}</style>")
    drawing.axes("t", column)
    labels = {"predicted": COLOURS[0]}
    if column in plan.target:
        wanted = plan.target[column]
        drawing.curve(t[[0, -1]], np.array([wanted, wanted]), COLOURS[2], dashed=True)
        labels["target"] = COLOURS[2]
    drawing.curve(t, y, COLOURS[0])
    if happened is not None:
        found = happened[column]
        times = happened.get("t", np.linspace(0.0, plan.horizon, len(found)))
        drawing.dots(times, found, COLOURS[1], size=3.4)
        labels["executed"] = COLOURS[1]
    drawing.legend(labels)
    return drawing.file(f"A planned move of {column}") + "\n"
