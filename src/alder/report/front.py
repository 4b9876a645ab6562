"""The front of accuracy against size: what each further node of a law buys, and where noise ends.

Everything is computed from public rows; what became of a law follows from the verdicts.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from alder.expr.nodes import size
from alder.fitting.front import Measure
from alder.records.front import Standing
from alder.records.law import Law
from alder.report.charts import Figure, hue
from alder.report.measure import yardstick
from alder.report.numbers import short, unit_text, with_unit
from alder.report.story import Story, judging_law
from alder.report.svg import Drawing, Frame, limits_of, ticks

FATES: Mapping[Standing, str] = {
    "admitted": "✓ admitted",
    "refused": "× refused",
    "submitted": "… submitted",
    "open": "",
}
"""What became of a law, in words."""

_SIZE, _NARROW = (900.0, 330.0), (372.0, 290.0)
# As many powers of ten have a number at the ordinate.
_MOST_DECADES = 7
# A front over less than this share of a decade has plain numbers in between.
_FEW_DECADES = 2.0
# Words beside a dot need about so much room, in pixels.
_ROOM = 92.0


@final
@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """One law beside its front: size, error, the noise of the rows, and what became of it.

    `is_on` is false for an admitted law that another one beats.
    """

    law: Law
    nodes: int
    error: float
    noise: float
    label: str
    standing: Standing
    is_on: bool = True


def lines(story: Story) -> list[Line]:
    """Return the front by size, and with it the admitted law where that is not on it."""
    noise = _noise(story)
    found = [
        Line(f.law, f.nodes, f.error, noise, story.letter(f.law.structure), f.standing)
        for f in story.state.front
    ]
    if not found:
        return []
    return sorted([*found, *_beside(story, found, noise)], key=lambda line: line.nodes)


def _beside(story: Story, found: Sequence[Line], noise: float) -> list[Line]:
    """Return the admitted law where it is not on the front: another one leaves less."""
    law = story.law
    if law is None or any(line.standing == "admitted" for line in found):
        return []
    error = Measure.of(story.evidence).error(law.structure, law.values)
    label = story.letter(law.structure)
    return [Line(law, size(law.structure), error, noise, label, "admitted", is_on=False)]


def _noise(story: Story) -> float:
    r"""Return the noise of the public rows as errors of laws are measured.

    $$\sigma = \sqrt{\frac{\sum_i w_i \sigma_i^2}{\sum_i w_i}}$$

    $\sigma_i$ is the noise of one observation. Zero where nothing was fitted.
    """
    law = judging_law(story.state)
    if law is None:
        return 0.0
    measure, unit = Measure.of(story.evidence), yardstick(law, story.evidence)
    sigma = unit.noise_at(unit.predict(law, measure.rows), measure.rows)
    squared = np.square(measure.segments.first(sigma))
    return math.sqrt(float(np.sum(measure.weights * squared) / np.sum(measure.weights)))


def draw_front(story: Story) -> Figure | None:
    """Draw error against size as steps, the noise as a line, and what became of each law."""
    found = lines(story)
    if len(found) < 2:
        return None
    return Figure(
        "front",
        "What does each further node buy?",
        _draw(story, found, *_SIZE),
        _draw(story, found, *_NARROW),
        "Each dot is a law; the steps are the least error that a law of so many nodes leaves, on a "
        "logarithmic scale. Below the noise a law follows the rows, not the world.",
    )


def _draw(story: Story, found: Sequence[Line], width: float, height: float) -> str:
    target = story.evidence.grammar.target
    nodes = np.array([float(line.nodes) for line in found])
    levels = np.log10([line.error for line in found])
    noise = found[0].noise
    shown = [levels, *([math.log10(noise)] if noise > 0.0 else [])]
    x_ends = (float(nodes.min()) - 1.0, float(nodes.max()) + 1.5)
    frame = Frame(width, height, x_ends, limits_of(shown, 0.1), left=58.0)
    drawing = Drawing(frame)
    unit = unit_text(target.unit)
    _axes(drawing, f"error on public rows{f' ({unit})' if unit else ''}", is_wide=width > 500.0)
    if noise > 0.0:
        floor = float(frame.py(math.log10(noise)))
        right = frame.width - frame.right
        drawing.parts.append(
            f'<line class="ax" x1="{frame.left:.1f}" x2="{right:.1f}" y1="{floor:.1f}" '
            f'y2="{floor:.1f}" style="stroke-dasharray:3 3"/>'
        )
        words = f"noise {with_unit(short(noise, 2), target.unit)}"
        drawing.text(frame.left + 4, floor - 5, words, kind="halo")  # a front is higher there
    _steps(drawing, [line for line in found if line.is_on], x_ends[1])
    for line in found:
        _dot(drawing, line, hue(story, line.label), is_wide=width > 500.0)
    return drawing.render("Error against size")


def _axes(drawing: Drawing, title: str, *, is_wide: bool) -> None:
    """Draw the grid of a logarithmic ordinate and a plain abscissa of whole numbers."""
    f = drawing.frame
    for level, words in _levels(f.y):
        y = float(f.py(level))
        drawing.line(f.left, y, f.width - f.right, y, "grid")
        drawing.text(f.left - 7, y + 4, words, anchor="end")
    drawing.line(f.left, f.floor, f.width - f.right, f.floor, "ax")
    for tick in ticks(f.x, 10 if is_wide else 5):
        if tick == round(tick) and tick >= 1.0:
            x = float(f.px(tick))
            drawing.line(x, f.floor, x, f.floor + 4, "ax")
            drawing.text(x, f.floor + 17, short(tick), anchor="middle")
    drawing.text(f.left, f.height - 4, "nodes")
    drawing.text(2, 12, title)


def _levels(ends: tuple[float, float]) -> list[tuple[float, str]]:
    """Return places of a logarithmic axis with their numbers: powers of ten, or 1, 2 and 5."""
    low, high = ends
    steps = (1.0, 2.0, 5.0) if high - low < _FEW_DECADES else (1.0,)
    every = max(1, math.ceil((high - low) / _MOST_DECADES))
    decades = [d for d in range(math.floor(low), math.ceil(high) + 1) if d % every == 0]
    values = [float(f"{step}e{decade}") for decade in decades for step in steps]
    return [(math.log10(v), short(v, 1)) for v in values if low <= math.log10(v) <= high]


def _steps(drawing: Drawing, front: Sequence[Line], end: float) -> None:
    """Draw the least error that laws up to each size leave."""
    x: list[float] = []
    y: list[float] = []
    for i, line in enumerate(front):
        following = float(front[i + 1].nodes) if i + 1 < len(front) else end
        x += [float(line.nodes), following]
        y += [math.log10(line.error)] * 2
    drawing.curve(np.array(x), np.array(y), "var(--faint)")


def _dot(drawing: Drawing, line: Line, colour: str, *, is_wide: bool) -> None:
    """Draw one law; one that was submitted is larger, and says what became of it."""
    frame = drawing.frame
    x, y = float(frame.px(float(line.nodes))), float(frame.py(math.log10(line.error)))
    is_open = line.standing == "open"
    radius = 3.6 if is_open else 5.5
    fill = "var(--mut)" if not line.label else colour
    drawing.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" style="fill:{fill}"/>')
    fate = FATES[line.standing] if is_wide else FATES[line.standing][:1]
    words = f"{line.label} {fate}".strip()
    to_left = x > frame.width - frame.right - (_ROOM if is_wide else 0.4 * _ROOM)
    if words:
        drawing.text(
            x - 9 if to_left else x + 9, y - 9, words,
            anchor="end" if to_left else "start", kind="an halo st",
        )  # fmt: skip
