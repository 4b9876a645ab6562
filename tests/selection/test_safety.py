"""What every surviving law must forecast before an experiment may be chosen."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.errors import BadStudy
from alder.ports import Forecast
from alder.prediction import predict_rows
from alder.records.evidence import Candidate, Choice, Evidence
from alder.records.experiment import Pool
from alder.records.law import Law
from alder.records.limits import Limits
from alder.selection.registry import SELECTORS, selector
from alder.selection.safety import (
    DIVERGED,
    Predicate,
    Safeguarded,
    Shown,
    permitted,
    require_foreseen,
)
from selection.worlds import HiddenPool, draw_pool, make_evidence, some_candidates

SEEDS = st.integers(0, 2**32 - 1)
EVERY = tuple(SELECTORS)


def always(shown: Shown) -> bool:
    return True


def never(shown: Shown) -> bool:
    return False


def forecasts(law: Law, choice: Choice) -> tuple[float, float]:
    """Return what a law says of a choice, and the standard error of that."""
    point = {name: np.array([float(x)]) for name, x in choice.experiment.settings.items()}
    return float(predict_rows(law, point)[0]), float(law.standard_error(point)[0])


def choose(limits: Limits, name: str, world: Forecast, n: int = 8) -> tuple[Choice, ...]:
    rng = np.random.default_rng(5)
    guarded = Safeguarded(selector(name), limits)
    return guarded.select(some_candidates(), make_evidence(), world, n, rng)


@pytest.mark.parametrize("name", EVERY)
@settings(max_examples=12, deadline=None)
@given(SEEDS, st.floats(0.1, 4.0))
def test_no_candidate_forecasts_a_choice_beyond_its_limit(
    name: str, seed: int, high: float
) -> None:
    limits = Limits({"a": (-high, high)}, sigmas=0.0)
    for choice in choose(limits, name, draw_pool(seed)):
        for candidate in some_candidates():
            assert abs(forecasts(candidate.law, choice)[0]) <= high


@pytest.mark.parametrize("name", EVERY)
@settings(max_examples=12, deadline=None)
@given(SEEDS, st.floats(0.3, 4.0), st.floats(0.5, 5.0))
def test_coefficients_moved_by_so_many_deviations_stay_within_the_limit(
    name: str, seed: int, high: float, sigmas: float
) -> None:
    limits = Limits({"a": (-math.inf, high)}, sigmas=sigmas)
    for choice in choose(limits, name, draw_pool(seed)):
        for candidate in some_candidates():
            value, error = forecasts(candidate.law, choice)
            # Central differences of a curved law agree with its linear error only roughly.
            assert value + 0.9 * sigmas * error <= high + 1e-9


@pytest.mark.parametrize("name", EVERY)
def test_every_reason_names_the_limit_and_how_many_laws_keep_it(name: str) -> None:
    chosen = choose(Limits({"a": (-2.0, 2.0)}), name, draw_pool(1))
    assert chosen
    for choice in chosen:
        assert choice.reason.endswith(
            f"; keeps -2 <= a <= 2 under all {len(some_candidates())} laws"
        )


@pytest.mark.parametrize("name", EVERY)
def test_limits_that_exclude_nothing_change_no_choice(name: str) -> None:
    wide = choose(Limits({"a": (-1e9, 1e9)}), name, draw_pool(3))
    plain = selector(name).select(
        some_candidates(), make_evidence(), draw_pool(3), 8, np.random.default_rng(5)
    )
    assert [c.experiment.id for c in wide] == [c.experiment.id for c in plain]


def test_one_law_among_many_is_enough_to_hold_an_experiment_back() -> None:
    world, evidence, limits = draw_pool(2), make_evidence(), Limits({"a": (-1.0, 1.0)}, sigmas=0.0)
    each = [set(permitted(limits, [c], evidence, world).tolist()) for c in some_candidates()]
    together = set(permitted(limits, some_candidates(), evidence, world).tolist())
    assert together == set.intersection(*each)
    assert together < max(each, key=len)


@settings(max_examples=12, deadline=None)
@given(SEEDS, st.floats(0.2, 3.0))
def test_more_deviations_permit_no_more(seed: int, high: float) -> None:
    found = [
        set(
            permitted(
                Limits({"a": (-high, high)}, k), some_candidates(), make_evidence(), draw_pool(seed)
            )
        )
        for k in (0.0, 1.0, 3.0)
    ]
    assert found[0] >= found[1] >= found[2]


def test_a_function_of_forecast_columns_is_a_limit_too() -> None:
    def gentle(shown: Shown) -> bool:
        return bool(shown["a"].max() < 0.5 and shown["x"].min() > 0.0)

    guarded = Safeguarded(selector("random"), gentle)
    rng = np.random.default_rng(0)
    chosen = guarded.select(some_candidates(), make_evidence(), draw_pool(4), 50, rng)
    assert chosen
    for choice in chosen:
        assert float(choice.experiment.settings["x"]) > 0.0
        assert all(forecasts(c.law, choice)[0] < 0.5 for c in some_candidates())
        assert "keeps the limit `gentle`" in choice.reason


def test_a_limit_that_raises_is_told_in_a_sentence() -> None:
    guarded = Safeguarded(selector("random"), lambda shown: bool(shown["nowhere"].any()))
    with pytest.raises(BadStudy, match="could not be asked about a forecast: KeyError"):
        guarded.select(
            some_candidates(), make_evidence(), draw_pool(4), 3, np.random.default_rng(0)
        )


def test_without_a_law_nothing_is_known_to_be_safe() -> None:
    assert not len(permitted(Limits({"a": (-9.0, 9.0)}), (), make_evidence(), draw_pool(1)))


class Disobedient:
    """Chooses the first experiments, safe or not."""

    def select(
        self,
        candidates: Sequence[Candidate],
        evidence: Evidence,
        forecast: Forecast,
        n: int,
        rng: np.random.Generator,
    ) -> tuple[Choice, ...]:
        pool = forecast.pool()
        return tuple(Choice(pool.experiment(i), 1.0, "the next") for i in range(n))


def test_a_selector_that_ignores_what_is_safe_is_stopped() -> None:
    guarded = Safeguarded(Disobedient(), Limits({"a": (-1e-3, 1e-3)}))
    with pytest.raises(BadStudy, match=r"Disobedient chose experiment e.*which is not safe"):
        guarded.select(
            some_candidates(), make_evidence(), draw_pool(1), 60, np.random.default_rng(0)
        )


@dataclass(frozen=True)
class Diverging:
    """A world whose rollouts diverge beyond x = 1, in a column nobody limits."""

    hidden: HiddenPool

    def pool(self) -> Pool:
        return self.hidden.pool()

    def predict(self, law: Law, experiments: NDArray[np.intp]) -> FloatArray:
        return self.hidden.predict(law, experiments)

    def foreseen(self) -> tuple[str, ...]:
        return ("a", "x")

    def outlook(self, law: Law, experiments: NDArray[np.intp]) -> dict[str, FloatArray]:
        x = self.pool().columns["x"][experiments]
        path = np.column_stack([x, np.where(x > 1.0, DIVERGED, x), x])
        return {"a": self.predict(law, experiments), "x": path}


@pytest.mark.parametrize("limits", [Limits({"a": (-1e9, 1e9)}), always])
def test_a_forecast_that_diverges_breaks_any_limit(limits: Limits | Predicate) -> None:
    world = Diverging(draw_pool(6))
    kept = permitted(limits, some_candidates(), make_evidence(), world)
    assert len(kept)
    assert (world.pool().columns["x"][kept] <= 1.0).all()


def test_a_limit_on_what_cannot_be_foreseen_is_refused_by_name() -> None:
    with pytest.raises(BadStudy, match=r"`T` cannot be forecast.*a, x, y can"):
        require_foreseen(Limits({"T": (0.0, 1.0)}), draw_pool(1), "a")


@pytest.mark.parametrize("limits", [Limits({"a": (-1e-6, 1e-6)}), never])
def test_what_is_held_back_is_named_only_where_limits_alone_hold_everything_back(
    limits: Limits | Predicate,
) -> None:
    guarded = Safeguarded(selector("random"), limits)
    assert "keeps" in guarded.held_back(some_candidates(), make_evidence(), draw_pool(1))
    wide = Safeguarded(selector("random"), Limits({"a": (-9.0, 9.0)}))
    assert wide.held_back(some_candidates(), make_evidence(), draw_pool(1)) == ""
    nothing = draw_pool(1)
    unsafe = replace(nothing.offered, safe=np.zeros(len(nothing.offered), dtype=np.bool_))
    empty = replace(nothing, offered=unsafe)
    assert guarded.held_back(some_candidates(), make_evidence(), empty) == ""
