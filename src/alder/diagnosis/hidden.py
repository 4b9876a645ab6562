"""A missing variable or a hidden state: rows that are alike differ by more than the noise."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np

from alder.arrays import FloatArray
from alder.diagnosis.signs import SCATTER, SHOWN, Sign
from alder.diagnosis.smoothing import find_pattern, foresee
from alder.diagnosis.view import Left, View
from alder.records.nextstep import NextStep
from alder.records.outcome import Cause

_CAUSE: Cause = "missing-variable"
_FEWEST_REPLICATES = 5
# Memories that are tried, in typical distances between rows in time.
_MEMORIES = (2.0, 6.0, 20.0, 60.0)


@final
@dataclass(frozen=True, slots=True)
class _Clue:
    """One way in which rows that are alike differ; `share` is how much of it is foreseen."""

    sentence: str
    advice: str
    share: float
    speaks: bool
    ranges: tuple[tuple[str, tuple[float, float]], ...] = ()


def hidden(view: View) -> Sign:
    """Compare repeats and neighbours with error bars, times, batches, and with each other."""
    clues = [*_replicates(view)]
    if view.left is not None:
        clues += [*_bars(view.left), *_time(view, view.left), *_batches(view, view.left)]
        clues += [*_uneven(view, view.left)]
    speaking = [clue for clue in clues if clue.speaks]
    if not speaking:
        # Even scatter alone rules nothing out: a hidden variable may act everywhere alike.
        told = [clue for clue in clues if not clue.ranges]
        return Sign(_CAUSE, told[0].sentence if told else _why_not(view), is_made=bool(told))
    clue = max(speaking, key=lambda one: one.share)
    return Sign(_CAUSE, clue.sentence, clue.advice, NextStep("measure", ranges=dict(clue.ranges)))


def hidden_share(view: View) -> float:
    """Return how much of what is left over time or batches foresee, for comparison."""
    if view.left is None:
        return 0.0
    clues = [*_time(view, view.left), *_batches(view, view.left)]
    return max((clue.share for clue in clues), default=0.0)


def _why_not(view: View) -> str:
    roles = view.evidence.roles
    if roles.sums is not None:
        return "Sums over rows are not compared with repeats."
    if roles.sigma is None:
        return "Rows have no error bars to compare repeats with."
    return "There are too few rows to compare neighbours."


def _replicates(view: View) -> Iterator[_Clue]:
    """Compare rows of equal settings with their error bars."""
    evidence = view.evidence
    sigma, rows = evidence.roles.sigma, evidence.rows()
    if sigma is None or not view.names or evidence.roles.sums is not None:
        return
    inputs = np.column_stack([rows[name] for name in view.names])
    _, index, counts = np.unique(inputs, axis=0, return_inverse=True, return_counts=True)
    index = index.ravel()
    df = int(np.sum(counts - 1))
    if df < _FEWEST_REPLICATES:
        return
    y = rows[evidence.grammar.target.name]
    means = np.bincount(index, weights=y) / counts
    ratio = float(np.sum(np.square((y - means[index]) / rows[sigma])) / df)
    yield _Clue(
        f"Rows with equal settings differ by {np.sqrt(ratio):.1f} times their error bars.",
        "Record a further quantity with each row, or the time and order of the rows.",
        1.0,
        ratio >= SCATTER,
    )


def _bars(left: Left) -> Iterator[_Clue]:
    """Compare what neither law nor pattern says with error bars."""
    if left.sigma is None:
        return
    ratio = float(np.mean(np.square(left.unforeseen / left.sigma)))
    yield _Clue(
        f"Rows differ from their neighbours by {np.sqrt(ratio):.1f} times their error bars, "
        "whatever is made of the inputs.",
        "Record a further quantity with each row: something that is not measured moves the target.",
        1.0 - left.pattern.share,
        ratio >= SCATTER and left.pattern.share < 0.5,
    )


def _time(view: View, left: Left) -> Iterator[_Clue]:
    """Ask whether rows that were measured one after the other are alike."""
    name = view.evidence.roles.time
    if name is None:
        return
    t = left.columns[name]
    gaps = np.diff(np.unique(t))
    if not len(gaps):
        return
    apart = np.abs(t[:, None] - t[None, :]) / float(np.median(gaps))
    share = max(foresee(left.residual, np.exp(-apart / memory)).share for memory in _MEMORIES)
    yield _Clue(
        f"Rows measured soon after each other are alike: {100 * share:.0f} % of what is left over "
        "is foreseen by the rows before and after.",
        "Measure what drifts or lags: a temperature, a load, an earlier input; or give the law "
        "the time.",
        share,
        share >= SHOWN,
    )


def _batches(view: View, left: Left) -> Iterator[_Clue]:
    """Ask whether the law has other slopes in other batches."""
    name = view.evidence.roles.group
    if name is None:
        return
    same = (left.columns[name][:, None] == left.columns[name][None, :]).astype(np.float64)
    shares = [
        foresee(left.residual, same * (1.0 + np.outer(u, u))).share
        for u in (2.0 * left.inputs - 1.0).T
    ]
    share = max(shares)
    along = view.names[int(np.argmax(shares))]
    yield _Clue(
        f"The slope along {along} differs between batches of {name}: that foresees "
        f"{100 * share:.0f} % of what is left over.",
        f"Measure the property in which batches of {name} differ.",
        share,
        share >= SHOWN,
    )


def _uneven(view: View, left: Left) -> Iterator[_Clue]:
    """Ask whether rows scatter far more in one region than the noise of the law lets them."""
    if left.pattern.share >= 0.5:
        return
    unforeseen = left.scaled * (
        left.unforeseen / np.where(left.residual == 0.0, 1.0, left.residual)
    )
    size = np.minimum(np.abs(unforeseen), _largest(unforeseen))
    found = find_pattern(size, left.inputs, view.names)
    if not found.along:
        return
    most = found.foreseen >= np.quantile(found.foreseen, 0.75)
    ranges = tuple((n, _ends(left.columns[n][most])) for n in found.along)
    name, (low, high) = ranges[0]
    yield _Clue(
        f"Rows scatter far more than elsewhere where {name} is {low:.4g} to {high:.4g}; where they "
        f"lie foresees {100 * found.share:.0f} % of the size of what is left over.",
        f"Record what else differs between rows where {name} is {low:.4g} to {high:.4g}: a mode, "
        "a contact, a switch.",
        found.share,
        found.share >= SHOWN and left.sigma is None,
        ranges,
    )


def _largest(values: FloatArray) -> float:
    """Return six median deviations; single rows beyond are no region."""
    return 6.0 * 1.4826 * float(np.median(np.abs(values))) + 1e-300


def _ends(column: FloatArray) -> tuple[float, float]:
    low, high = np.quantile(column, [0.05, 0.95])
    return float(low), float(high)
