from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import alder
from alder.arrays import FloatArray
from alder.bench.odes.systems import given_law
from alder.proposers.search.fields.proposer import VectorFields
from alder.records.experiment import Trajectory
from alder.worlds.ode import Together

OPERATORS = ("add", "sub", "mul", "div", "pow", "sin", "cos", "neg")


def truth(**equations: str) -> alder.Dynamics:
    names = tuple(equations)
    return alder.Dynamics({name: given_law(name, e, names) for name, e in equations.items()})


def rows(
    system: alder.Dynamics, starts: list[tuple[float, ...]], n: int = 30
) -> dict[str, FloatArray]:
    t, tables = np.linspace(0.0, 1.0, n), list[dict[str, FloatArray]]()
    for start in starts:
        path = system.rollout(dict(zip(system.states, start, strict=True)), t)
        rates = {f"d{name}_dt": rate for name, rate in system.rates(path).items()}
        tables.append({**path, **rates, "t": t})
    return {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}


def world(system: alder.Dynamics, rates: dict[str, object] | None = None) -> alder.ODEWorld:
    rng = np.random.default_rng(3)
    pool = {name: rng.uniform(0.2, 3.0, 24) for name in system.states}
    given = alder.System(rates or dict(system.laws))  # pyright: ignore[reportArgumentType]
    return alder.ODEWorld(given, experiments=pool, sampling=alder.Sampling(1.0, 12))


def grammar(system: alder.Dynamics) -> alder.Grammar:
    variables = [alder.Variable(name, role="state", range=(0.0, 4.0)) for name in system.states]
    return alder.Grammar(variables, alder.Variable("rate"), OPERATORS, max_nodes=63)


STRICT = alder.Criteria(thresholds=alder.Thresholds(admission_nmse=1e-14))
OTHERS = [(0.3, 2.0), (2.2, 0.4), (1.1, 1.2), (2.9, 2.7)]


def discovered(system: alder.Dynamics, folder: Path) -> alder.SystemOutcome:
    return alder.discover_system(
        world(system), grammar(system), initial=rows(system, [(1.3, 0.4)]),
        protected=alder.Protected(rows(system, OTHERS)), criteria=STRICT, rollout=1e-9,
        ledgers=folder / "ledgers",
    )  # fmt: skip


def test_both_rates_of_a_system_are_found_and_admitted_together(tmp_path: Path) -> None:
    system = truth(x="1.84*x - 1.45*x*y", y="-3*y + 1.62*x*y")
    outcome = discovered(system, tmp_path)
    assert outcome.dynamics is not None
    assert outcome.verdict is not None
    assert outcome.verdict.accepted
    far = {"x": [5.0], "y": [4.0]}
    said, true = outcome.dynamics.rates(far), system.rates(far)
    assert said["x"] == pytest.approx(true["x"], rel=1e-9)
    assert said["y"] == pytest.approx(true["y"], rel=1e-9)
    assert sorted(path.name for path in (tmp_path / "ledgers").glob("*.alder")) == [
        "x.alder",
        "y.alder",
    ]
    again = alder.discover_system(
        world(system), grammar(system), initial=rows(system, [(1.3, 0.4)]),
        protected=alder.Protected(rows(system, OTHERS)), criteria=STRICT, rollout=1e-9,
        ledgers=tmp_path / "ledgers",
    )  # fmt: skip
    assert again.dynamics == outcome.dynamics


def test_a_rate_that_is_known_is_taken_as_it_is_and_experiments_are_shared() -> None:
    system = truth(x="v", v="-0.9*sin(x) - 0.1*v")
    rates: dict[str, object] = {"x": "v", "v": system.laws["v"]}
    outcome = alder.discover_system(
        world(system, rates), grammar(system), initial=rows(system, [(0.4, 0.1)]),
        protected=alder.Protected(rows(system, OTHERS)), criteria=STRICT, rollout=1e-9,
        budget=alder.Budget(proposals=6, queries=6, batch=2),
    )  # fmt: skip
    assert outcome.dynamics is not None
    assert outcome.dynamics.known["x"] == "v"
    assert tuple(outcome.outcomes) == ("v",)
    assert outcome.spent.queries <= 6


def test_a_system_beyond_the_grammar_is_refused_and_the_state_is_named() -> None:
    system = truth(x="0.5*x", y="exp(0 - x*y)*y^1.3")
    outcome = alder.discover_system(
        world(system), grammar(system), initial=rows(system, [(1.3, 0.4)]),
        protected=alder.Protected(rows(system, OTHERS)), criteria=STRICT, rollout=1e-9,
        budget=alder.Budget(proposals=2, queries=2, batch=2),
        proposer=VectorFields(then=None),
    )  # fmt: skip
    assert outcome.dynamics is None
    assert outcome.state == "y"
    assert outcome.refusal is not None


def test_a_rate_that_never_changes_is_a_law_too() -> None:
    system = truth(x="0 - 0.4*x*c", c="0*c")
    outcome = alder.discover_system(
        world(system), grammar(system), initial=rows(system, [(1.3, 0.4), (1.0, 0.9)]),
        protected=alder.Protected(rows(system, OTHERS)), criteria=STRICT, rollout=1e-9,
    )  # fmt: skip
    assert outcome.dynamics is not None
    assert str(outcome.dynamics.laws["c"]) == "dc_dt = 0"


def test_a_system_without_an_unknown_rate_is_misuse() -> None:
    system = truth(x="v", v="x")
    known = world(system, {"x": "v", "v": "x"})
    with pytest.raises(alder.BadStudy, match="nothing to discover"):
        alder.discover_system(
            known, grammar(system), initial=rows(system, [(1.0, 0.4)]),
            protected=alder.Protected(rows(system, OTHERS)),
        )  # fmt: skip


def test_each_experiment_of_a_system_is_run_once_for_all_rates() -> None:
    system = truth(x="1.84*x - 1.45*x*y", y="-3*y + 1.62*x*y")
    begun: list[tuple[float, float]] = []

    def rates(t: float, state: FloatArray) -> list[float]:
        if t == 0.0:
            begun.append((float(state[0]), float(state[1])))
        x, y = state
        return [1.84 * x - 1.45 * x * y, -3.0 * y + 1.62 * x * y]

    rng = np.random.default_rng(3)
    pool = {name: rng.uniform(0.2, 3.0, 24) for name in system.states}
    asked = alder.ODEWorld(
        alder.System.of(rates, ("x", "y")), experiments=pool, sampling=alder.Sampling(1.0, 12)
    )
    together = replace(asked, together=Together())
    x, y = (
        together.bind(replace(grammar(system), target=alder.Variable(f"d{name}_dt")))
        for name in ("x", "y")
    )
    experiment = x.pool().experiment(2)
    first = x.run([experiment])
    n_begun = len(begun)
    second = y.run([experiment])
    assert len(begun) == n_begun > 0
    assert isinstance(first[0], Trajectory)
    assert isinstance(second[0], Trajectory)
    assert first[0].columns["x"] == pytest.approx(second[0].columns["x"], rel=0.0)


def test_rates_are_followed_beyond_the_start_with_the_laws_that_lead() -> None:
    system = truth(x="1.84*x - 1.45*x*y", y="-3*y + 1.62*x*y")
    shared = Together()
    bound = replace(world(system), together=shared).bind(
        replace(grammar(system), target=alder.Variable("dx_dt"))
    )
    places = np.array([0, 1])
    assert bound.predict(system.laws["x"], places).shape == (2, 1)
    shared.leading["y"] = system.laws["y"]
    along = bound.predict(system.laws["x"], places)
    assert along.shape == (2, 12)
    pool = bound.pool().columns
    start = {name: float(pool[name][0]) for name in ("x", "y")}
    path = system.rollout(start, np.linspace(0.0, 1.0, 12))
    assert along[0] == pytest.approx(system.rates(path)["x"], rel=1e-3)


def test_laws_that_do_not_keep_what_is_conserved_are_refused() -> None:
    system = truth(x="y", y="-2*x")
    asked = dict[str, object](
        initial=rows(system, [(1.3, 0.4)]), protected=alder.Protected(rows(system, OTHERS)),
        criteria=STRICT, rollout=1e-9,
    )  # fmt: skip
    kept = alder.discover_system(world(system), grammar(system), conserved=["x^2 + y^2/2"], **asked)  # pyright: ignore[reportArgumentType]
    assert kept.dynamics is not None
    other = alder.discover_system(world(system), grammar(system), conserved=["x^2 + y^2"], **asked)  # pyright: ignore[reportArgumentType]
    assert other.dynamics is None
    assert other.refusal is not None
    assert "do not keep `x^2 + y^2`" in other.refusal.reason


def test_a_true_law_is_not_blamed_for_what_lies_between_rows_of_other_states() -> None:
    # Read between sparse rows, the second state drives the first away in finite time.
    system = truth(x="3.1*x^2*y - 4.03*x + 1", y="-3.1*x^2*y + 3.03*x")
    outcome = alder.discover_system(
        world(system), grammar(system), initial=rows(system, [(0.7, 1.4)]),
        protected=alder.Protected(rows(system, OTHERS, n=5)), criteria=STRICT, rollout=1e-9,
    )  # fmt: skip
    assert outcome.dynamics is not None


def test_a_rate_is_found_with_a_part_of_another_and_what_they_share_is_said(tmp_path: Path) -> None:
    system = truth(x="1.84*x - 1.45*x*y/(0.7371 + x)", y="0.8113*x*y/(0.7371 + x) - 0.6*y")
    outcome = discovered(system, tmp_path)
    assert outcome.dynamics is not None
    assert outcome.dynamics.shared == (
        "x*y/(0.7371 + x) in dx_dt is also in dy_dt times -0.559517.",
    )
