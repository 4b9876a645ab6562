"""The one picture that proves a refusal, by its cause."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias, final

import numpy as np

from alder.arrays import FloatArray
from alder.diagnosis import MOVED
from alder.records.law import Law
from alder.records.outcome import Cause, Refusal
from alder.report.charts import (
    Figure,
    axis,
    both,
    parting,
    predicted_observed,
    progress,
    residual_band,
)
from alder.report.measure import Yardstick
from alder.report.numbers import short
from alder.report.region import region_figure
from alder.report.story import Story, public_rows
from alder.report.svg import Drawing, Frame, limits_of

_MOST_GROUPS = 12
_PARTS = 8
# Causes whose refusal names a region, a time or batches along which rows are left over.
_ALONG: tuple[Cause, ...] = ("missing-operator", "missing-variable")
# The width of a letter of the words beside a bar, in pixels.
_LETTER = 7.4


def proof(story: Story, refusal: Refusal) -> Figure | None:
    """Return the picture that shows why no law is returned."""
    if refusal.cause == "no-valid-proposal":
        return _problems(story)
    if story.unit is None or refusal.candidate is None:
        return None
    if refusal.cause in _ALONG:
        along = region_figure(story, refusal, refusal.candidate, story.unit)
        if along is not None:
            return along
    return _PROOFS[refusal.cause](story, refusal.candidate, story.unit)


def _structure(story: Story, law: Law, unit: Yardstick) -> Figure:
    misfits = [m for r in story.rounds for m in r.attempt.misfits if r.attempt.fit is not None]
    strongest = max(misfits, key=lambda m: m.strength, default=None)
    names = {v.name: v for v in unit.variables}
    along = strongest.along if strongest is not None and strongest.along in names else ""
    variable = names.get(along, unit.variables[0])
    rows, _ = public_rows(story)
    x = rows[variable.name]
    residual = rows[unit.target] - unit.predict(law, rows)
    places, means, halves = _part_means(x, residual)
    target = story.evidence.grammar.target
    reach = 1.08 * float(np.max(np.abs(residual))) or 1.0

    def draw(width: float, height: float) -> str:
        drawing = Drawing(Frame(width, height, limits_of([x]), (-reach, reach)))
        drawing.axes(axis(variable), f"observed minus predicted {axis(target)}")
        zero = float(drawing.frame.py(0.0))
        drawing.line(drawing.frame.left, zero, width - drawing.frame.right, zero, "ax")
        drawing.dots(x, residual, "var(--faint)", 4.0)
        for place, mean, half in zip(places, means, halves, strict=True):
            drawing.bar(place, mean - half, mean + half, "var(--ref)")
        drawing.dots(places, means, "var(--ref)", 8.0)
        return drawing.render(f"Residuals over {variable.name}")

    wide, narrow = both(draw, (900.0, 320.0))
    return Figure(
        "proof", f"The evidence: what is left over follows {variable.name}", wide, narrow,
        f"Grey: the public rows. Brown: the means of {len(places)} parts of them with 95 % "
        "intervals. Noise alone would leave the means on the line.",
    )  # fmt: skip


def _part_means(x: FloatArray, residual: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Cut rows along a column; return the middle, the mean and the 95 % half-width of each part."""
    order = np.argsort(x, kind="stable")
    parts = [part for part in np.array_split(order, _PARTS) if len(part) > 1]
    means = np.array([residual[part].mean() for part in parts])
    spread = np.array([residual[part].std(ddof=1) / np.sqrt(len(part)) for part in parts])
    return np.array([float(np.median(x[part])) for part in parts]), means, 2.0 * spread


def _replicates(story: Story, law: Law, unit: Yardstick) -> Figure:
    del law
    rows, _ = public_rows(story)
    inputs = np.column_stack([rows[v.name] for v in unit.variables])
    _, group, counts = np.unique(inputs, axis=0, return_inverse=True, return_counts=True)
    group = group.ravel()
    y = rows[unit.target]
    means: FloatArray = np.bincount(group, weights=y) / counts
    deviation = (y - means[group]) / unit.noise_at(means[group], rows)
    order = np.argsort(-counts, kind="stable")[:_MOST_GROUPS]
    repeated = [int(g) for g in order if counts[g] > 1]
    reach = max(3.0, 1.1 * float(np.max(np.abs(deviation))))

    def draw(width: float, height: float) -> str:
        frame = Frame(width, height, (0.4, len(repeated) + 0.6), (-reach, reach))
        drawing = Drawing(frame)
        residual_band(drawing)
        drawing.axes(
            "settings that were repeated, one column each",
            "deviation from their mean, in noise sd",
            n_x=0,
        )
        for place, g in enumerate(repeated, start=1):
            mine = deviation[group == g]
            drawing.dots(np.full(len(mine), float(place)), mine, "var(--ref)", 6.0)
        return drawing.render("Deviation of repeats from their mean")

    wide, narrow = both(draw, (900.0, 320.0))
    return Figure(
        "proof", "The evidence: equal settings, unequal results", wide, narrow,
        "Each dot is one row. Repeats that differed by noise alone would lie in the grey band.",
    )  # fmt: skip


def _moved(story: Story, law: Law, unit: Yardstick) -> Figure:
    del law
    rows, _ = public_rows(story)
    shares: list[tuple[str, float]] = []
    for variable in unit.variables:
        column = rows[variable.name]
        ends = variable.range or (float(column.min()), float(column.max()))
        width = ends[1] - ends[0]
        shares.append((variable.name, float(np.ptp(column)) / width if width > 0.0 else 0.0))
    return _bars(
        "The evidence: how much of its range did each input move through?",
        [
            _Bar(name, 100.0 * share, f"{short(100.0 * share, 2)} %", is_cause=share < MOVED)
            for name, share in shares
        ],
        "An input that does not move says nothing of what depends on it. Where no range was "
        "declared, the range is that of the rows.",
    )


def _problems(story: Story) -> Figure | None:
    codes = Counter(p.code for a in story.evidence.attempts for p in a.problems)
    if not codes:
        return None
    return _bars(
        "The evidence: what the checks found in the proposals",
        [_Bar(code, float(n), f"{n}") for code, n in sorted(codes.items(), key=lambda i: -i[1])],
        f"{len(story.evidence.attempts)} proposals; none passed.",
    )


@final
@dataclass(frozen=True, slots=True)
class _Bar:
    """A named amount, with the words written beside it."""

    name: str
    value: float
    words: str
    is_cause: bool = True


def _bars(title: str, bars: list[_Bar], caption: str) -> Figure:
    def draw(width: float, height: float) -> str:
        del height
        left = 16.0 + _LETTER * max(len(bar.name) for bar in bars)
        frame = Frame(
            width, 34.0 * len(bars) + 12.0, (0.0, max(max(b.value for b in bars), 1.0)), (0.0, 1.0),
            left=left, right=70.0, top=4.0, bottom=4.0,
        )  # fmt: skip
        drawing = Drawing(frame)
        for i, bar in enumerate(bars):
            y = 8.0 + 34.0 * i
            end = float(frame.px(bar.value))
            colour = "var(--ref)" if bar.is_cause else "var(--faint)"
            drawing.text(left - 10, y + 15, bar.name, anchor="end", kind="an")
            drawing.rect(left, y, width - left - 70.0, 20.0, "fill:var(--soft)")
            drawing.rect(left, y, end - left, 20.0, f"fill:{colour}")
            drawing.text(end + 8, y + 15, bar.words, kind="an")
        return drawing.render(title)

    wide, narrow = both(draw, (720.0, 200.0))
    return Figure("proof", title, wide, narrow, caption)


def _laws_left(story: Story, best: Law, unit: Yardstick) -> Figure | None:
    return parting(story, unit) or _rounds(story, best, unit)


def _rounds(story: Story, law: Law, unit: Yardstick) -> Figure | None:
    del law
    found = progress(story, unit)
    return None if found is None else replace(found, name="proof")


def _scatter(story: Story, law: Law, unit: Yardstick) -> Figure:
    found = predicted_observed(story, law, unit)
    return replace(
        found,
        name="proof",
        title="The evidence: what was seen scatters whatever the best candidate predicts",
        caption=f"{found.caption} A law that explained the rows would have them along it.",
    )


_Draw: TypeAlias = Callable[[Story, Law, Yardstick], Figure | None]

_PROOFS: Mapping[Cause, _Draw] = {
    "missing-variable": _replicates,
    "missing-operator": _structure,
    "excitation": _moved,
    "no-safe-experiment": _laws_left,
    "noise": _scatter,
    "budget": _rounds,
}
