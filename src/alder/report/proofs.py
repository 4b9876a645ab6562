"""The one picture that proves a refusal, by its cause."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from alder.arrays import FloatArray
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
from alder.report.story import Story, public_rows
from alder.report.svg import Drawing, Frame, limits_of

_MOST_GROUPS = 12
_REACH = 12.0


def proof(story: Story, refusal: Refusal) -> Figure | None:
    """Return the picture that shows why no law is returned."""
    if refusal.cause == "no-valid-proposal":
        return _problems(story)
    if story.unit is None or refusal.candidate is None:
        return None
    return _PROOFS[refusal.cause](story, refusal.candidate, story.unit)


def _structure(story: Story, law: Law, unit: Yardstick) -> Figure:
    misfits = [m for r in story.rounds for m in r.attempt.misfits if r.attempt.fit is not None]
    strongest = max(misfits, key=lambda m: m.strength, default=None)
    names = {v.name: v for v in unit.variables}
    along = strongest.along if strongest is not None and strongest.along in names else ""
    variable = names.get(along, unit.variables[0])
    rows, _ = public_rows(story)
    x, z = rows[variable.name], unit.residuals(law, rows)
    reach = min(max(4.0, 1.08 * float(np.max(np.abs(z)))), 4.0 * _REACH)

    def draw(width: float, height: float) -> str:
        drawing = Drawing(Frame(width, height, limits_of([x]), (-reach, reach)))
        residual_band(drawing)
        drawing.axes(axis(variable), "what the best candidate leaves over, in noise sd")
        drawing.dots(x, np.clip(z, -reach, reach), "var(--ref)", 5.0)
        return drawing.render(f"Residuals over {variable.name}")

    wide, narrow = both(draw, (900.0, 320.0))
    return Figure(
        "proof", f"The evidence: what is left over follows {variable.name}", wide, narrow,
        "Each dot is one public row. Noise alone would leave almost all of them in the grey band.",
    )  # fmt: skip


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
        drawing.axes("settings that were repeated", "deviation from their mean, in noise sd")
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
        [(name, 100.0 * share, f"{short(100.0 * share, 2)} %") for name, share in shares],
        "An input that does not move says nothing of what depends on it. Where no range was "
        "declared, the range is that of the rows.",
    )


def _problems(story: Story) -> Figure | None:
    codes = Counter(p.code for a in story.evidence.attempts for p in a.problems)
    if not codes:
        return None
    return _bars(
        "The evidence: what the checks found in the proposals",
        [(code, float(n), f"{n}") for code, n in sorted(codes.items(), key=lambda i: -i[1])],
        f"{len(story.evidence.attempts)} proposals; none passed.",
    )


def _bars(title: str, bars: list[tuple[str, float, str]], caption: str) -> Figure:
    def draw(width: float, height: float) -> str:
        del height
        left = 130.0
        frame = Frame(
            width, 34.0 * len(bars) + 12.0, (0.0, max(max(v for _, v, _ in bars), 1.0)), (0.0, 1.0),
            left=left, right=70.0, top=4.0, bottom=4.0,
        )  # fmt: skip
        drawing = Drawing(frame)
        for i, (name, value, words) in enumerate(bars):
            y = 8.0 + 34.0 * i
            drawing.text(left - 10, y + 15, name, anchor="end", kind="an")
            drawing.rect(left, y, width - left - 70.0, 20.0, "fill:var(--soft)")
            drawing.rect(left, y, float(frame.px(value)) - left, 20.0, "fill:var(--ref)")
            drawing.text(float(frame.px(value)) + 8, y + 15, words, kind="an")
        return drawing.render(title)

    wide, narrow = both(draw, (720.0, 200.0))
    return Figure("proof", title, wide, narrow, caption)


def _laws_left(story: Story, best: Law, unit: Yardstick) -> Figure | None:
    return parting(story, unit) or _rounds(story, best, unit)


def _rounds(story: Story, law: Law, unit: Yardstick) -> Figure | None:
    del law
    found = progress(story, unit)
    return None if found is None else replace(found, name="proof")


_Draw: TypeAlias = Callable[[Story, Law, Yardstick], Figure | None]

_PROOFS: Mapping[Cause, _Draw] = {
    "missing-variable": _replicates,
    "missing-operator": _structure,
    "excitation": _moved,
    "no-safe-experiment": _laws_left,
    "noise": predicted_observed,
    "budget": _rounds,
}
