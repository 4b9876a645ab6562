"""The contract of selectors."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import cast, final

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.ports import Forecast, Selector
from alder.records.evidence import Candidate, Choice, Evidence
from alder.records.experiment import FailedRun, Pool
from alder.records.law import Law
from alder.testing.contract import fingerprint, report, watched


def check_selector(
    make: Callable[[], Selector],
    *,
    candidates: Sequence[Candidate],
    evidence: Evidence,
    forecast: Forecast,
    n: int = 4,
    seed: int = 0,
) -> None:
    """Check a selector on a forecast, such as a bound world.

    It gives at most n distinct, safe experiments of the pool that were not run before, each with a
    finite score and a reason; the same seed gives the same choices, from a fresh selector too;
    evidence and numpy's global randomness are left alone; and where nothing is safe, or everything
    was run, it chooses nothing.
    """
    asked = _Asked(tuple(candidates), evidence, forecast, n, seed)
    report(make, _selector_breaches(make, asked))


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """What a selector is asked."""

    candidates: tuple[Candidate, ...]
    evidence: Evidence
    forecast: Forecast
    n: int
    seed: int

    def answer(self, make: Callable[[], Selector], breaches: list[str]) -> tuple[Choice, ...]:
        """Ask a fresh selector."""
        selector, rng = make(), np.random.default_rng(self.seed)
        given = (self.candidates, self.evidence)
        return watched(
            "candidates or evidence",
            given,
            lambda: selector.select(self.candidates, self.evidence, self.forecast, self.n, rng),
            breaches,
        )


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Changed:
    """A forecast with another pool."""

    forecast: Forecast
    changed: Pool

    def pool(self) -> Pool:
        """Return the other pool."""
        return self.changed

    def predict(self, law: Law, experiments: NDArray[np.intp]) -> FloatArray:
        """Return what the forecast says."""
        return self.forecast.predict(law, experiments)


def _selector_breaches(make: Callable[[], Selector], asked: _Asked) -> Iterator[str]:
    if not isinstance(cast("object", make()), Selector):
        yield "it has no method `select`"
        return
    breaches: list[str] = []
    choices = asked.answer(make, breaches)
    if fingerprint(choices) != fingerprint(asked.answer(make, breaches)):
        yield "the same question and seed gave two different answers"
    yield from breaches
    yield from _choice_breaches(choices, asked)
    pool = asked.forecast.pool()
    for n in (1, len(pool) + 1):
        more = replace(asked, n=n)
        yield from _choice_breaches(more.answer(make, breaches), more)
    yield from _bounded_breaches(make, asked, pool)


def _bounded_breaches(make: Callable[[], Selector], asked: _Asked, pool: Pool) -> Iterator[str]:
    """Mark experiments as unsafe or as run, and look whether they are left alone."""
    odd = np.arange(len(pool)) % 2 == 1
    for safe in (pool.safe & odd, np.zeros(len(pool), dtype=np.bool_)):
        some = replace(asked, forecast=_Changed(asked.forecast, replace(pool, safe=safe)))
        yield from _choice_breaches(some.answer(make, []), some)
    failures = tuple(FailedRun(identity, "it broke") for identity in pool.ids)
    for failed in (failures[: len(pool) // 2], failures):
        evidence = replace(asked.evidence, failures=(*asked.evidence.failures, *failed))
        done = replace(asked, evidence=evidence)
        yield from _choice_breaches(done.answer(make, []), done)


def _choice_breaches(choices: Sequence[Choice], asked: _Asked) -> Iterator[str]:
    pool = asked.forecast.pool()
    rows = {identity: i for i, identity in enumerate(pool.ids)}
    if not isinstance(cast("object", choices), tuple):
        yield f"it gave a {type(choices).__name__}; a tuple of choices is expected"
    if len(choices) > asked.n:
        yield f"it chose {len(choices)} experiments where at most {asked.n} were asked for"
    chosen = [choice.experiment.id for choice in choices]
    if len(set(chosen)) < len(chosen):
        yield "it chose an experiment twice"
    for choice in choices:
        row = rows.get(choice.experiment.id)
        if row is None:
            yield f"it chose {choice.experiment.id}, which is not in the pool"
        else:
            yield from _one_choice_breaches(choice, pool, row)
        if choice.experiment.id in asked.evidence.done:
            yield "it chose an experiment that was run before"


def _one_choice_breaches(choice: Choice, pool: Pool, row: int) -> Iterator[str]:
    if not pool.safe[row]:
        yield "it chose an experiment that is marked as unsafe"
    if choice.experiment != pool.experiment(row):
        yield "it changed the settings or the cost of an experiment of the pool"
    if not np.isfinite(choice.score):
        yield f"it gave a score of {choice.score}; a finite number is expected"
    if not choice.reason.strip():
        yield "it gave no reason for a choice"
