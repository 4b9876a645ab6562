"""The picture of what a refused law leaves over, with the region marked that its refusal names."""

import numpy as np

from alder.arrays import FloatArray
from alder.records.law import Law
from alder.records.outcome import Refusal
from alder.report.charts import Figure, axis, both
from alder.report.measure import Yardstick
from alder.report.story import Story, public_rows
from alder.report.svg import Drawing, Frame, limits_of


def region_figure(story: Story, refusal: Refusal, law: Law, unit: Yardstick) -> Figure | None:
    """Draw residuals along the variable that was named, or along the time or the batches.

    None where the refusal names neither, or holds no step: older ledgers have none.
    """
    if refusal.step is None:
        return None
    rows, _ = public_rows(story)
    found = _abscissa(story, refusal, unit)
    if found is None:
        return None
    name, title = found
    x, residual = rows[name], rows[unit.target] - unit.predict(law, rows)
    ends = refusal.step.ranges.get(name)
    target = axis(story.evidence.grammar.target)
    reach = 1.08 * float(np.max(np.abs(residual))) or 1.0

    def draw(width: float, height: float) -> str:
        drawing = Drawing(Frame(width, height, limits_of([x]), (-reach, reach)))
        if ends is not None:
            _mark(drawing, ends, x)
        drawing.axes(title, f"observed minus predicted {target}")
        zero = float(drawing.frame.py(0.0))
        drawing.line(drawing.frame.left, zero, width - drawing.frame.right, zero, "ax")
        drawing.dots(x, residual, "var(--ref)", 4.6)
        return drawing.render(f"What the best candidate leaves over, along {name}")

    wide, narrow = both(draw, (900.0, 320.0))
    marked = " The shaded region is where it is largest." if ends is not None else ""
    return Figure(
        "proof", f"The evidence: what is left over follows {name}", wide, narrow,
        f"Each dot is a public row; a law that held would leave them even about the line.{marked}",
    )  # fmt: skip


def _abscissa(story: Story, refusal: Refusal, unit: Yardstick) -> tuple[str, str] | None:
    """Return the column to draw along, and the title of its axis."""
    assert refusal.step is not None
    titles = {variable.name: axis(variable) for variable in unit.variables}
    named = [name for name in (*refusal.step.variables, *refusal.step.ranges) if name in titles]
    if named:
        return named[0], titles[named[0]]
    roles = story.evidence.roles
    other = roles.time or roles.group
    return None if other is None else (other, other)


def _mark(drawing: Drawing, ends: tuple[float, float], x: FloatArray) -> None:
    frame = drawing.frame
    low, high = max(ends[0], float(x.min())), min(ends[1], float(x.max()))
    left, right = float(frame.px(low)), float(frame.px(high))
    drawing.rect(left, frame.top, right - left, frame.floor - frame.top, "fill:var(--soft)")
