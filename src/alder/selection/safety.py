"""Predicted safety: what may be chosen is what every surviving law says will stay within limits.

A selector is wrapped, so that every one of them, a plug-in too, is shown a pool in which all else
is unsafe. What the user's own predicate on settings forbids is not even forecast.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.errors import BadStudy
from alder.ports import Forecast, Outlook, Selector
from alder.records.evidence import Candidate, Choice, Evidence
from alder.records.experiment import Pool
from alder.records.law import Law
from alder.records.limits import Limits
from alder.records.moves import moves
from alder.selection.feasible import feasible

Shown: TypeAlias = Mapping[str, FloatArray]
"""Columns as a law forecasts them: (experiments, rows), or (rows,) for one experiment."""
Predicate: TypeAlias = Callable[[Shown], bool]
"""Says of the forecast rows of one experiment whether they are safe."""

_See: TypeAlias = Callable[[NDArray[np.intp]], Shown]

DIVERGED = 1e100
"""A forecast this large is no forecast; rollouts that diverge are held here."""
# Numbers of one forecast held at once.
_CHUNK = 65_536


@final
@dataclass(frozen=True, slots=True)
class Safeguarded:
    """A selector that is offered only what stays within limits under every candidate.

    With `Limits`, coefficients count as moved by so many of their standard deviations; a predicate
    is asked about the fitted coefficients alone. A forecast that diverges breaks any limit. Without
    a candidate there is no forecast, so nothing is offered.
    """

    inner: Selector
    limits: Limits | Predicate

    def select(
        self,
        candidates: Sequence[Candidate],
        evidence: Evidence,
        forecast: Forecast,
        n: int,
        rng: np.random.Generator,
    ) -> tuple[Choice, ...]:
        """Return up to n experiments within the limits; each reason names them."""
        allowed = self.restrict(candidates, evidence, forecast)
        choices = self.inner.select(candidates, evidence, allowed, n, rng)
        offered = allowed.pool()
        safe = {offered.ids[int(i)] for i in np.flatnonzero(offered.safe)}
        for choice in choices:
            if choice.experiment.id not in safe:
                raise BadStudy(
                    f"The selector {type(self.inner).__name__} chose experiment "
                    f"{choice.experiment.id}, which is not safe; it must keep to `pool().safe`."
                )
        laws = "the law that stands" if len(candidates) == 1 else f"all {len(candidates)} laws"
        said = f"; {name_of(self.limits)} under {laws}"
        return tuple(replace(choice, reason=choice.reason + said) for choice in choices)

    def restrict(
        self, candidates: Sequence[Candidate], evidence: Evidence, forecast: Forecast
    ) -> Forecast:
        """Return the forecast with everything marked as unsafe that may not be chosen."""
        pool = forecast.pool()
        safe = np.zeros(len(pool), dtype=np.bool_)
        safe[permitted(self.limits, candidates, evidence, forecast)] = True
        return _Restricted(forecast, replace(pool, safe=safe))

    def held_back(
        self, candidates: Sequence[Candidate], evidence: Evidence, forecast: Forecast
    ) -> str:
        """Name the limits where they alone leave nothing to choose; otherwise say nothing."""
        on_offer = len(feasible(forecast.pool(), evidence))
        if not on_offer or len(permitted(self.limits, candidates, evidence, forecast)):
            return ""
        return name_of(self.limits)


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Restricted:
    """A forecast with another pool."""

    forecast: Forecast
    offered: Pool

    def pool(self) -> Pool:
        """Return the narrower pool."""
        return self.offered

    def predict(self, law: Law, experiments: NDArray[np.intp]) -> FloatArray:
        """Return what a law says."""
        return self.forecast.predict(law, experiments)


def permitted(
    limits: Limits | Predicate,
    candidates: Sequence[Candidate],
    evidence: Evidence,
    forecast: Forecast,
) -> NDArray[np.intp]:
    """Return the pool positions that may be chosen and stay within limits under every candidate.

    One forecast of each law first; moved coefficients, two forecasts for each, only where that
    was safe. Memory does not grow with the pool.
    """
    positions = feasible(forecast.pool(), evidence)
    if not candidates:
        return positions[:0]
    see = partial(foresee, forecast, evidence.grammar.target.name)
    for candidate in candidates:
        positions = _narrow(positions, partial(see, candidate.law), partial(_holds, limits))
    if isinstance(limits, Limits) and limits.sigmas > 0.0:
        for candidate in candidates:
            moved = [tuple(partial(see, law) for law in pair) for pair in moves(candidate.law)]
            holds = partial(_holds_moved, limits, moved)
            positions = _narrow(positions, partial(see, candidate.law), holds)
    return positions


def _narrow(
    positions: NDArray[np.intp],
    see: _See,
    holds: Callable[[Shown, NDArray[np.intp]], NDArray[np.bool_]],
) -> NDArray[np.intp]:
    """Keep the positions at which a forecast holds, looking at so many numbers at once."""
    if not len(positions):
        return positions
    n_rows = max(column.size for column in see(positions[:1]).values())
    step = max(_CHUNK // max(n_rows, 1), 1)
    parts = [positions[start : start + step] for start in range(0, len(positions), step)]
    return np.concatenate([part[holds(see(part), part)] for part in parts])


def foresee(
    forecast: Forecast, target: str, law: Law, positions: NDArray[np.intp]
) -> dict[str, FloatArray]:
    """Return the columns a law forecasts, (experiments, rows): whole paths where the world can."""
    if isinstance(forecast, Outlook):
        return dict(forecast.outlook(law, positions))
    found = {name: column[positions][:, None] for name, column in forecast.pool().columns.items()}
    return {**found, target: forecast.predict(law, positions).reshape(len(positions), -1)}


def foreseen(forecast: Forecast, target: str) -> tuple[str, ...]:
    """Name the columns `foresee` returns."""
    if isinstance(forecast, Outlook):
        return tuple(forecast.foreseen())
    return (target, *forecast.pool().columns)


def require_foreseen(limits: Limits | Predicate, forecast: Forecast, target: str) -> None:
    """Refuse limits on what this world cannot forecast: they could not be kept."""
    known = foreseen(forecast, target)
    wanted = limits.columns if isinstance(limits, Limits) else (target,)
    missing = next((name for name in wanted if name not in known), None)
    if missing is None:
        return
    can = f"; {', '.join(known)} can" if known else ""
    raise BadStudy(
        f"`{missing}` cannot be forecast along a whole experiment in this world, so no limit on it "
        f"can be kept{can}. A system needs the rates of all other states (`System(known=...)`), "
        f"an environment episodes of one step."
    )


def name_of(limits: Limits | Predicate) -> str:
    """Say the limits in words: as inequalities, or by the name of the predicate.

    >>> name_of(Limits({"T": (0.0, 350.0)}))
    'keeps 0 <= T <= 350'
    """
    if isinstance(limits, Limits):
        return f"keeps {limits}"
    return f"keeps the limit `{getattr(limits, '__name__', type(limits).__name__)}`"


def _holds(limits: Limits | Predicate, shown: Shown, _part: NDArray[np.intp]) -> NDArray[np.bool_]:
    sound = _is_sound(shown)
    if isinstance(limits, Limits):
        for name, (low, high) in limits.columns.items():
            sound &= ((shown[name] >= low) & (shown[name] <= high)).all(axis=1)
        return sound
    for i in np.flatnonzero(sound):
        sound[i] = _ask(limits, {name: column[i] for name, column in shown.items()})
    return sound


def _holds_moved(
    limits: Limits, moved: Sequence[tuple[_See, ...]], shown: Shown, part: NDArray[np.intp]
) -> NDArray[np.bool_]:
    r"""Hold the forecast plus and minus k standard deviations against the limits.

    The variance is the sum over principal axes of $((f_+ - f_-)/2)^2$; see `sensitivity.moves`.
    """
    sound = _is_sound(shown)
    variance = {name: np.zeros_like(shown[name]) for name in limits.columns}
    with np.errstate(over="ignore", invalid="ignore"):
        for see_up, see_down in moved:
            up, down = see_up(part), see_down(part)
            sound &= _is_sound(up) & _is_sound(down)
            for name in variance:
                variance[name] += np.square((up[name] - down[name]) / 2.0)
        for name, (low, high) in limits.columns.items():
            margin = limits.sigmas * np.sqrt(variance[name])
            column = shown[name]
            sound &= ((column - margin >= low) & (column + margin <= high)).all(axis=1)
    return sound


def _is_sound(shown: Shown) -> NDArray[np.bool_]:
    """Say which experiments have a forecast at all: one that does not diverge."""
    # Written so that what is no number is refused.
    return np.all([(np.abs(column) < DIVERGED).all(axis=1) for column in shown.values()], axis=0)


def _ask(predicate: Predicate, shown: Shown) -> bool:
    try:
        return bool(predicate(shown))
    except Exception as error:  # noqa: BLE001 (user code; the sentence names the place)
        raise BadStudy(
            f"The limit `{getattr(predicate, '__name__', 'limits')}` could not be asked about a "
            f"forecast: {type(error).__name__}: {error}. It gets a dict of columns and returns "
            f"True or False."
        ) from None
