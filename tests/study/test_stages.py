"""Single stages: a law is judged, and experiments are chosen, without a study."""

import numpy as np
import pytest

import alder
from alder.arrays import FloatArray

GRAMMAR = alder.Grammar([alder.Variable("F"), alder.Variable("m")], alder.Variable("a"))


def _rows(n: int, heaviest: float, seed: int) -> dict[str, FloatArray]:
    rng = np.random.default_rng(seed)
    F, m = rng.uniform(1.0, 8.0, n), rng.uniform(2.0, heaviest, n)
    return {"F": F, "m": m, "a": 0.8 * F / m + rng.normal(0.0, 0.05, n)}


def _world() -> alder.FunctionWorld:
    offered = [{"F": float(F), "m": m} for m in (2.0, 3.0, 4.0) for F in range(1, 9)]

    def run(settings: object) -> float:
        raise AssertionError("nothing is run")

    return alder.FunctionWorld(run, experiments=offered)


@pytest.mark.parametrize(("law", "accepted"), [("k*F/m", True), ("k*F", False)])
def test_a_law_is_accepted_where_it_holds_on_new_rows(law: str, accepted: bool) -> None:
    rows = _rows(40, 2.001, seed=1)
    fitted = alder.fit(law, rows, target="a").law
    verdict = alder.verify(fitted, alder.Protected(_rows(60, 4.0, seed=2)), public=rows)
    assert verdict.accepted == accepted
    assert (verdict.bound is not None) == accepted


def test_the_experiment_on_which_two_laws_disagree_is_chosen_and_not_run() -> None:
    rows = _rows(40, 2.001, seed=1)
    laws = [alder.fit(law, rows, target="a").law for law in ("k*F", "k*F/m")]
    chosen = alder.select(laws, _world(), GRAMMAR, rows=rows, n=2)
    assert len(chosen) == 2
    assert dict(chosen[0].experiment.settings) == {"F": 8.0, "m": 4.0}


def test_one_law_alone_does_not_disagree() -> None:
    rows = _rows(40, 4.0, seed=1)
    law = alder.fit("k*F/m", rows, target="a").law
    with pytest.raises(alder.BadStudy, match="two or more"):
        alder.select([law], _world(), GRAMMAR, rows=rows)
