"""The pictures of a report: each answers the question its title asks; its caption says how.

Every picture is drawn twice, wide and narrow; the page shows the one that fits.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import final

import numpy as np

from alder.arrays import FloatArray
from alder.records.law import Law
from alder.records.variable import Variable
from alder.report.measure import REFUTED, Yardstick
from alder.report.numbers import short, sigmas, unit_text, with_unit
from alder.report.story import Answer, Story, public_rows
from alder.report.svg import Drawing, Frame, limits_of
from alder.report.sweeps import Sweep, sweep

N_HUES = 7
# Text of 12 px stays above 11 px where the page is narrower than such a picture.
_WIDE = 900.0
# Residuals beyond this many noise sd are drawn at the edge, as arrows would be.
_EDGE = 12.0
_MOST_PLOTS = 6
_MOST_PAIRS = 3
_MOST_NUMBERS = 60


@final
@dataclass(frozen=True, slots=True)
class Figure:
    """One picture, wide and narrow, with the question it answers and what is seen."""

    name: str
    title: str
    wide: str
    narrow: str
    caption: str


def hue(story: Story, label: str) -> str:
    """Return the colour a rival keeps through the page; green is the admitted law's."""
    if story.law is not None and label == story.letter(story.law.structure):
        return "var(--law)"
    number = sum((ord(c) - 64) * 26**i for i, c in enumerate(reversed(label)))
    return f"var(--r{number % N_HUES})" if label else "var(--mut)"


def axis(variable: Variable) -> str:
    """Name a variable with its unit, as the title of an axis."""
    unit = unit_text(variable.unit)
    words = f"{variable.name}, {variable.description}" if variable.description else variable.name
    return f"{words} ({unit})" if unit else words


def crucial(story: Story, answer: Answer, unit: Yardstick, width: float = _WIDE) -> Figure | None:
    """Draw the rivals' curves at one experiment, the first rows' range, and what was seen."""
    candidates = story.rounds[answer.round - 1].candidates
    by_label = {said.label: said.sigmas for said in answer.said}
    ordered = sorted(candidates, key=lambda c: (by_label[c.label] >= REFUTED, -c.weight))
    found = sweep(story, ordered, answer.inputs, unit)
    if found is None:
        return None
    held = ", ".join(
        with_unit(f"{v.name} = {short(answer.inputs[v.name])}", v.unit)
        for v in unit.variables
        if v.name != found.along
    )
    caption = f"Experiment of round {answer.round}"
    caption += f", at {held}. " if held else ". "
    caption += (
        "Shade: the range of the first rows. Bands: noise and coefficient uncertainty "
        f"together, {short(2)} sd. Dashed: refuted here."
    )
    return Figure(
        "crucial",
        "The crucial experiment: where do the rivals part, and who was right?",
        _draw_sweep(story, found, unit, (width, 340.0), answer),
        _draw_sweep(story, found, unit, (372.0, 300.0), answer),
        caption,
    )


def telling_experiment(story: Story, answer: Answer, unit: Yardstick) -> Figure | None:
    """Draw the experiment that told most in one round, in the width of the story."""
    found = crucial(story, answer, unit, 840.0)
    title = "The telling experiment: where do the rivals part, and who was right?"
    return None if found is None else replace(found, title=title)


def parting(story: Story, unit: Yardstick) -> Figure | None:
    """Draw the laws that are left, where they part most, without an observation."""
    best = story.best
    if best is None or len(story.state.candidates) < 2:
        return None
    last = next(r for r in reversed(story.rounds) if r.candidates)
    rows = story.evidence.rows()
    middle = {v.name: float(np.median(rows[v.name])) for v in unit.variables}
    found = sweep(story, last.candidates, middle, unit, wider=1.0)
    if found is None:
        return None
    return Figure(
        "parting",
        "The evidence: the laws that are left agree on what was measured",
        _draw_sweep(story, found, unit, (_WIDE, 340.0), None),
        _draw_sweep(story, found, unit, (372.0, 300.0), None),
        f"They part by {short(found.parting, 2)} noise sd over the range drawn, wider than "
        "what was measured (shade). None of them is a law that is offered.",
    )


def _draw_sweep(
    story: Story, found: Sweep, unit: Yardstick, size: tuple[float, float], answer: Answer | None
) -> str:
    is_wide = size[0] > 500.0
    observed = [] if answer is None else [answer.saw]
    frame = Frame(
        *size, (float(found.x[0]), float(found.x[-1])), limits_of([found.said, *observed]),
        right=150.0 if is_wide else 66.0, top=26.0,
    )  # fmt: skip
    drawing = Drawing(frame)
    low, high = (float(frame.px(end)) for end in found.initial)
    shade = max(high - low, 5.0)  # first rows may share one setting
    drawing.rect(
        (low + high - shade) / 2.0, frame.top, shade, frame.floor - frame.top, "fill:var(--soft)"
    )
    variable = next(v for v in unit.variables if v.name == found.along)
    target = story.evidence.grammar.target
    drawing.axes(axis(variable), axis(target), n_x=8 if is_wide else 4)
    inner = frame.width - frame.left - frame.right
    drawing.text(
        min(max((low + high) / 2.0, frame.left + 34.0), frame.left + inner - 34.0),
        frame.top + 14, "first rows", anchor="middle", kind="halo",
    )  # fmt: skip
    missed = {} if answer is None else {s.label: s.sigmas for s in answer.said}
    ends: list[tuple[float, str, str]] = []
    for candidate, said, sd in zip(found.candidates, found.said, found.sd, strict=True):
        colour = hue(story, candidate.label)
        dead = missed.get(candidate.label, 0.0) >= REFUTED
        drawing.band(found.x, said - 2.0 * sd, said + 2.0 * sd, colour)
        drawing.curve(found.x, said, colour, dashed=dead)
        mark = "" if answer is None else " ×" if dead else " ✓"
        words = f"{candidate.label}{mark}"
        if is_wide and candidate.label in missed:
            words += f"  {sigmas(missed[candidate.label])} sd off"
        ends.append((float(said[-1]), words, colour))
    drawing.labels_at_right(ends)
    if answer is not None:
        _observe(drawing, answer.inputs[found.along], answer.saw)
    return drawing.render(f"{target.name} over {found.along}, by rival")


def _observe(drawing: Drawing, x: float, y: float) -> None:
    frame = drawing.frame
    drawing.ring(x, y)
    px, py = float(frame.px(x)), float(frame.py(y))
    to_left = px > frame.width - frame.right - 80.0
    above = py - 11 if py > frame.top + 30 else py + 21
    drawing.text(
        px - 8 if to_left else px + 8, above, "observed",
        anchor="end" if to_left else "start", kind="an halo st",
    )  # fmt: skip


def predicted_observed(story: Story, law: Law, unit: Yardstick) -> Figure:
    """Draw what was observed against what the law says of the public rows."""
    rows, numbers = public_rows(story)
    said, y = unit.predict(law, rows), rows[unit.target]
    target = story.evidence.grammar.target

    def draw(width: float, height: float) -> str:
        ends = limits_of([said, y])
        drawing = Drawing(Frame(width, height, ends, ends))
        drawing.axes(f"predicted {axis(target)}", "observed", n_x=5 if width > 400 else 4)
        line = np.array(ends)
        drawing.curve(line, line, "var(--line)")
        drawing.dots(said[numbers == 0], y[numbers == 0], "var(--faint)")
        drawing.dots(said[numbers > 0], y[numbers > 0], _main_colour(story))
        return drawing.render("Predicted against observed")

    n_asked = int(np.sum(numbers > 0))
    asked = f"{'Green' if story.law else 'Brown'}: {n_asked} rows of experiments. "
    return Figure(
        "fit", "Does it say what was seen?", draw(480.0, 400.0), draw(372.0, 330.0),
        f"Grey: {int(np.sum(numbers == 0))} first rows. {asked if n_asked else ''}"
        "The line is equality.",
    )  # fmt: skip


def _main_colour(story: Story) -> str:
    return "var(--law)" if story.law is not None else "var(--ref)"


def residuals(story: Story, law: Law, unit: Yardstick) -> list[Figure]:
    """Draw the residuals in noise units over every input, with the band of two sd."""
    rows, numbers = public_rows(story)
    z = unit.residuals(law, rows)
    reach = min(max(3.2, 1.08 * float(np.max(np.abs(z), initial=0.0))), _EDGE)
    shown = np.clip(z, -reach * 0.99, reach * 0.99)

    def draw(variable: Variable, width: float, height: float) -> str:
        x = rows[variable.name]
        drawing = Drawing(Frame(width, height, limits_of([x]), (-reach, reach), left=40.0))
        residual_band(drawing)
        drawing.axes(axis(variable), "noise sd", n_x=4, n_y=4)
        drawing.dots(x[numbers == 0], shown[numbers == 0], "var(--faint)", 4.0)
        drawing.dots(x[numbers > 0], shown[numbers > 0], _main_colour(story), 4.0)
        return drawing.render(f"Residuals over {variable.name}")

    return [
        Figure(
            "residuals", f"Is anything left along {v.name}?",
            draw(v, 320.0, 210.0), draw(v, 372.0, 200.0), "",
        )
        for v in unit.variables[:_MOST_PLOTS]
    ]  # fmt: skip


def residual_band(drawing: Drawing) -> None:
    """Fill the place of two noise sd about zero."""
    frame = drawing.frame
    top, bottom = float(frame.py(2.0)), float(frame.py(-2.0))
    width = frame.width - frame.left - frame.right
    drawing.rect(frame.left, top, width, bottom - top, "fill:var(--soft)")


def domain(story: Story, unit: Yardstick) -> list[Figure]:
    """Draw where experiments were asked, by pairs of inputs; the numbers are rounds."""
    names = unit.variables
    pairs = [(names[0], None)] if len(names) == 1 else list(pairwise(names))[:_MOST_PAIRS]
    return [_domain(story, unit, first, second) for first, second in pairs]


def _domain(story: Story, unit: Yardstick, first: Variable, second: Variable | None) -> Figure:
    rows, numbers = public_rows(story)
    x = rows[first.name]
    y = rows[second.name] if second is not None else rows[unit.target]
    asked = numbers > 0
    other = second or story.evidence.grammar.target

    def draw(width: float, height: float) -> str:
        drawing = Drawing(Frame(width, height, limits_of([x]), limits_of([y]), left=44.0))
        drawing.axes(axis(first), axis(other), n_x=4, n_y=4)
        drawing.dots(x[~asked], y[~asked], "var(--faint)", 4.0)
        if int(asked.sum()) > _MOST_NUMBERS:
            drawing.dots(x[asked], y[asked], "var(--ink)", 4.6)
        else:
            _numbers(drawing, x[asked], y[asked], numbers[asked])
        return drawing.render(f"Experiments over {first.name} and {other.name}")

    return Figure("domain", "", draw(320.0, 260.0), draw(372.0, 270.0), "")


def _numbers(drawing: Drawing, x: FloatArray, y: FloatArray, numbers: FloatArray) -> None:
    drawing.dots(x, y, "var(--soft)", 15.0)
    for px, py, n in zip(drawing.frame.px(x), drawing.frame.py(y), numbers, strict=True):
        drawing.text(float(px), float(py) + 4, f"{int(n)}", anchor="middle", kind="an")


def progress(
    story: Story, unit: Yardstick, size: tuple[float, float] = (_WIDE, 260.0)
) -> Figure | None:
    """Draw the error of each submitted law on public rows, in noise units, by round."""
    rows, _ = public_rows(story)
    fitted = [(r, r.attempt.fit.law) for r in story.rounds if r.attempt.fit is not None]
    if not fitted:
        return None
    errors = np.array(
        [float(np.sqrt(np.mean(np.square(unit.residuals(law, rows))))) for _, law in fitted]
    )
    x = np.array([float(r.number) for r, _ in fitted])
    labels = [story.letter(law.structure) for _, law in fitted]
    capped = float(min(errors.max(), 12.0 * max(float(np.median(errors)), 1.0)))

    def draw(width: float, height: float) -> str:
        last = float(max(x[-1], 2.0))
        frame = Frame(width, height, (0.6, last + 0.4), (0.0, 1.12 * max(capped, 1.5)))
        drawing = Drawing(frame)
        drawing.axes("round", "error on public rows, in noise sd", n_x=min(int(last), 8))
        floor = float(frame.py(1.0))
        drawing.parts.append(
            f'<line class="ax" x1="{frame.left}" x2="{frame.width - frame.right}" '
            f'y1="{floor:.1f}" y2="{floor:.1f}" style="stroke-dasharray:3 3"/>'
        )
        drawing.text(frame.left + 4, floor - 5, "noise floor", kind="halo")
        shown = np.minimum(errors, capped)
        drawing.curve(x, shown, "var(--faint)")
        for a, b, label in zip(frame.px(x), frame.py(shown), labels, strict=True):
            drawing.parts.append(
                f'<circle cx="{a:.1f}" cy="{b:.1f}" r="4" style="fill:{hue(story, label)}"/>'
            )
            drawing.text(float(a), float(b) - 9, label, anchor="middle", kind="an halo st")
        return drawing.render("Error by round")

    return Figure(
        "progress", "Did more rows help?", draw(*size), draw(372.0, 240.0),
        "Each dot is the law submitted in that round, on all public rows.",
    )  # fmt: skip


def both(draw: Callable[[float, float], str], wide: Sequence[float]) -> tuple[str, str]:
    """Draw a picture wide and narrow."""
    return draw(wide[0], wide[1]), draw(372.0, min(wide[1], 280.0))
