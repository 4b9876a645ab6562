# User code has no types, and neither has what these tests pass for it.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
"""The public promise of the design, sentence by sentence, through public names alone."""

import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pandas as pd  # pyright: ignore[reportMissingTypeStubs]
import polars as pl
import pytest
from study.problems import BUDGET, GRAMMAR, GUESSES, TRUTH, inputs, outcome_of, request, rows, run

import alder
from alder.arrays import FloatArray
from alder.records.outcome import CAUSES, Cause

SOURCE = Path(__file__).parents[1] / "src"
QUICK = alder.Budget(proposals=1, queries=0)


def motion(n: int, seed: int, noise: float = 0.02) -> dict[str, FloatArray]:
    """Return rows of a body that is attracted, damped and pushed."""
    rng = np.random.default_rng(seed)
    r, v, u = rng.uniform(0.8, 3.0, n), rng.uniform(-2.0, 2.0, n), rng.uniform(-1.0, 1.0, n)
    return {"r": r, "v": v, "u": u, "a": accelerate(r, v, u) + noise * rng.standard_normal(n)}


def accelerate(r: Any, v: Any, u: Any) -> Any:
    return -3.0 / r**2 - 0.4 * v + 0.8 * u


def test_the_example_of_the_design_works_as_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    pool = {name: column for name, column in motion(60, 3).items() if name != "a"}
    rows, more_rows, rows_a, rows_s = (
        motion(n, seed) for n, seed in ((24, 1), (20, 2), (40, 4), (20, 5))
    )
    r, v, u = (rows[name] for name in ("r", "v", "u"))

    def run(settings: dict[str, Any]) -> float:
        return accelerate(**settings)

    def cost(settings: dict[str, Any]) -> float:
        return 1.0 + abs(settings["u"])

    def is_safe(settings: dict[str, Any]) -> bool:
        return settings["r"] > 1.0

    grammar = alder.Grammar(
        variables=[
            alder.Variable("r", unit="m"),
            alder.Variable("v", unit="m/s"),
            alder.Variable("u", unit="N"),
        ],
        target=alder.Variable("a", unit="m/s^2"),
        operators=("add", "sub", "mul", "div", "pow", "exp", "tanh"),
        max_nodes=31,
    )
    world = alder.FunctionWorld(run, experiments=pool, cost=cost, is_safe=is_safe)
    outcome = alder.discover(
        world,
        grammar,
        initial=rows,
        validation=more_rows,
        protected=alder.Protected(admission=rows_a, shift=rows_s),
        budget=alder.Budget(proposals=4, queries=48, batch=24, seconds=60),
        proposer="search",
        selector="disagreement",
        ledger="run.alder",
        seed=0,
    )
    assert outcome.law is not None, outcome.refusal
    y = outcome.law.predict({"r": r, "v": v, "u": u})
    np.testing.assert_allclose(y, accelerate(r, v, u), atol=0.1)
    assert str(outcome.law).startswith("a = ")
    assert "r" in outcome.law.latex()
    assert set(outcome.law.scope.ranges) == {"r", "v", "u"}
    outcome.law.save("law.json")
    assert alder.Law.load("law.json").digest == outcome.law.digest
    assert Path("run.alder").exists()


# "PoolWorld ... is the finite pool whose outcomes are hidden until queried"


def pool_world(calls: list[Any], **changes: Any) -> alder.PoolWorld:
    columns = inputs(40, seed=3)

    def query(numbers: Any) -> FloatArray:
        calls.append(numbers)
        pairs = zip(columns["x"][numbers], columns["v"][numbers], strict=True)
        return np.array([outcome_of({"x": x, "v": v}) for x, v in pairs])

    return alder.PoolWorld(columns, query=query, **changes)


def test_a_pool_is_asked_for_distinct_safe_row_numbers_and_for_no_others() -> None:
    calls: list[Any] = []
    safe = np.arange(40) % 2 == 0
    cost = np.linspace(1.0, 2.0, 40)
    budget = alder.Budget(proposals=4, queries=6, batch=3)
    world = pool_world(calls, cost=cost, safe=safe)
    outcome = run(world, proposer="guesses", guesses=GUESSES[:1], budget=budget)
    assert calls
    for numbers in calls:
        assert isinstance(numbers, np.ndarray)
        assert numbers.ndim == 1
        assert np.issubdtype(numbers.dtype, np.integer)
    asked = np.concatenate(calls)
    assert len(set(asked.tolist())) == len(asked) == outcome.spent.queries == 6
    assert safe[asked].all()
    assert outcome.spent.cost == pytest.approx(cost[asked].sum())


def test_initial_rows_may_also_be_in_the_pool() -> None:
    calls: list[Any] = []
    columns = inputs(40, seed=3)
    first = {name: column[:8] for name, column in columns.items()}
    y = [outcome_of({"x": x, "v": v}) for x, v in zip(first["x"], first["v"], strict=True)]
    outcome = run(pool_world(calls), initial={**first, "y": np.array(y)})
    assert outcome.law is not None or outcome.refusal is not None


# "`experiments` is a sequence of dicts or a mapping of columns; `run` gets one dict and returns
# the target, or rows."


def as_rows(settings: dict[str, Any]) -> dict[str, Any]:
    return {**settings, "y": [outcome_of(settings)]}


def test_experiments_are_dicts_or_columns_and_answers_targets_or_rows() -> None:
    columns = inputs(40, seed=3)
    dicts = [{"x": x, "v": v} for x, v in zip(columns["x"], columns["v"], strict=True)]
    seen: list[Any] = []

    def note(settings: dict[str, Any]) -> Any:
        seen.append(settings)
        return as_rows(settings)

    first = run(alder.FunctionWorld(outcome_of, experiments=dicts))
    second = run(alder.FunctionWorld(note, experiments=columns))
    assert first.law is not None
    assert second.law is not None
    assert first.law.digest == second.law.digest
    assert seen
    assert all(type(settings) is dict for settings in seen)


# "User callables run in the caller's process, one at a time, and need not pickle."


def test_callables_run_here_one_at_a_time_and_need_not_pickle() -> None:
    inside: list[int] = []
    places: set[int] = set()
    lock = open(os.devnull)  # noqa: PTH123, SIM115 (an open file is what cannot be pickled)

    def answer(settings: dict[str, Any]) -> float:
        assert not inside
        inside.append(lock.fileno())
        places.add(os.getpid())
        inside.pop()
        return outcome_of(settings)

    with lock:
        run(alder.FunctionWorld(answer, experiments=inputs(40, seed=3)))
    assert places == {os.getpid()}


SCRIPT = """
import numpy as np, alder
x = np.random.default_rng(0).uniform(1, 2, 60)
rows = {"x": x, "y": 3 * x**2 + 0.01 * np.random.default_rng(1).standard_normal(60)}
world = alder.FunctionWorld(lambda s: 3 * s["x"] ** 2, experiments={"x": [1.5, 3.0]})
grammar = alder.Grammar([alder.Variable("x")], alder.Variable("y"))
outcome = alder.discover(world, grammar, initial=rows, guesses=["a*x^2"])
print(outcome.law)
"""


def test_a_script_from_standard_input_needs_no_main_guard(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-"],
        input=SCRIPT,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert "x^2" in ran.stdout
    assert list(tmp_path.iterdir()) == []


def law_found() -> str:
    """Return the law of the small study, for a worker."""
    return str(run().law)


def test_discover_works_inside_a_worker_process() -> None:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as workers:
        assert workers.submit(law_found).result() == law_found()


# "`unit` is optional ... `k`, `c`, `T`, `gamma`, `E` are legal variable names"


def test_names_of_constants_and_functions_are_legal_variables() -> None:
    rng = np.random.default_rng(0)
    names = ("k", "c", "T", "gamma", "E")
    table = {name: rng.uniform(1.0, 3.0, 60) for name in names}
    table["a"] = table["k"] * table["T"] + 2.0 * table["gamma"] + 0.5 * table["E"] - table["c"]
    table["a"] += 0.01 * rng.standard_normal(60)
    grammar = alder.Grammar([alder.Variable(name) for name in names], alder.Variable("a"))
    pool = {name: [1.5] for name in names}
    world = alder.FunctionWorld(lambda settings: 0.0, experiments=pool)
    law = "p*k*T + q*gamma + s*E + t*c"
    outcome = alder.discover(world, grammar, initial=table, guesses=[law], budget=QUICK)
    assert outcome.law is not None
    assert {variable.name for variable in outcome.law.variables} == set(names)
    assert {c.name for c in outcome.law.coefficients} == {"p", "q", "s", "t"}


def test_without_units_no_unit_is_checked_and_parameters_absorb_them() -> None:
    bare = alder.Grammar([alder.Variable("x"), alder.Variable("v")], alder.Variable("y"))
    with_units = alder.Grammar(
        [alder.Variable("x", unit="m"), alder.Variable("v", unit="m/s")],
        alder.Variable("y", unit="kg"),
    )
    strict = alder.Grammar(with_units.variables, with_units.target, units="strict")
    assert alder.check("a*x + b*v", bare) == ()
    assert alder.check("a*x + b*v", with_units) == ()
    assert alder.check("x + v", with_units) != ()
    assert alder.check("a*x + b*v", strict) != ()


# "`validation`, `protected.shift`, `cost`, `is_safe` are optional. Without `protected`, rows for it
# are split off before anything else sees them"


def test_the_shortest_call_is_enough() -> None:
    world = alder.FunctionWorld(outcome_of, experiments=inputs(10, seed=3))
    outcome = alder.discover(world, GRAMMAR, initial=rows(60, seed=1))
    assert outcome.law is not None
    assert outcome.ledger == ""


def test_sixteen_rows_are_enough_for_a_first_law() -> None:
    assert run(initial=rows(16, seed=1), protected=None, guesses=[TRUTH], budget=QUICK).law


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_rows_are_a_mapping_of_columns_or_any_dataframe(kind: Any) -> None:
    table = rows(60, seed=1)
    frame = kind(table)
    world = alder.FunctionWorld(outcome_of, experiments=inputs(10, seed=3))
    found = [
        alder.discover(world, GRAMMAR, initial=given, guesses=[TRUTH], budget=QUICK).law
        for given in (table, frame)
    ]
    assert found[0] is not None
    assert found[1] is not None
    assert found[0].digest == found[1].digest
    np.testing.assert_array_equal(found[0].predict(frame), found[0].predict(table))


# The design says: rows may carry columns for sigma, weight, group and time, declared as such.


def test_rows_may_carry_error_bars_weights_groups_and_times() -> None:
    def carried(n: int, seed: int) -> dict[str, Any]:
        more = {"bar": np.full(n, 0.05), "w": np.ones(n), "t": np.arange(n)}
        return {**rows(n, seed=seed), **more, "who": [f"sample-{i % 5}" for i in range(n)]}

    def answer(settings: dict[str, Any]) -> dict[str, Any]:
        return {"y": [outcome_of(settings)], "bar": [0.05], "w": [1.0], "t": [99.0], "who": [9.0]}

    outcome = alder.discover(
        alder.FunctionWorld(answer, experiments=inputs(40, seed=3)),
        GRAMMAR,
        initial=carried(30, 1),
        protected=alder.Protected(carried(40, 2)),
        guesses=["a*x + b*v + c", TRUTH],
        budget=BUDGET,
        sigma="bar",
        weight="w",
        group="who",
        time_column="t",
    )
    assert outcome.law is not None


# "Noise is estimated ...; a law is admitted when its protected error is consistent with that
# noise" and "a single heavy-tailed column must not let a wrong law through"


def test_a_wrong_law_is_refused_and_the_right_one_admitted() -> None:
    for guess, admitted in ((TRUTH, True), ("a*x + b*v", False), ("a*x", False)):
        outcome = run(initial=rows(40, seed=1), guesses=[guess], budget=QUICK)
        assert (outcome.law is not None) == admitted


def test_a_heavy_tailed_column_does_not_let_a_wrong_law_through() -> None:
    rng = np.random.default_rng(0)

    def heavy(n: int) -> dict[str, FloatArray]:
        columns = {"x": np.exp(3.0 * rng.standard_normal(n)), "v": rng.uniform(0.5, 3.0, n)}
        y = 2.0 * columns["x"] + 3.0 * np.sin(3.0 * columns["v"])
        return {**columns, "y": y + 0.05 * rng.standard_normal(n)}

    initial, protected = heavy(60), heavy(60)
    outcome = run(
        initial=initial, protected=alder.Protected(protected), guesses=["a*x + b"], budget=QUICK
    )
    assert outcome.law is None


# The design says: predictions are float64, one for each row, and finite inside and outside scope.


def test_predictions_are_finite_everywhere_and_only_in_scope_reports_scope() -> None:
    law = run().law
    assert law is not None
    huge = [0.0, -1e300, 1e300, 5e-324, 1e154]
    far = {"x": np.repeat(huge, 5), "v": np.tile(huge, 5)}
    y = law.predict(far)
    assert y.dtype == np.float64
    assert y.shape == (25,)
    assert np.isfinite(y).all()
    assert not law.in_scope(far).any()
    assert law.in_scope({"x": [1.5], "v": [1.2]}).all()
    assert law.predict({"x": 1.0, "v": 2.0}).shape == (1,)


# "`refusal.cause` is a plain string from a documented list; `refusal.advice` a sentence."


def test_a_refusal_is_a_plain_string_and_a_sentence() -> None:
    outcome = run(guesses=["a*x"], budget=QUICK)
    assert outcome.law is None
    assert outcome.refusal is not None
    assert type(outcome.refusal.cause) is str
    assert outcome.refusal.cause in CAUSES
    assert set(CAUSES) == set(get_args(Cause))
    assert outcome.refusal.advice.endswith(".")


# The design says: without a ledger the file is a private temporary one.


def test_without_a_ledger_nothing_is_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    outcome = run(budget=QUICK)
    assert outcome.ledger == ""
    assert len(outcome.digest) == 64
    assert list(tmp_path.iterdir()) == []


def test_the_digest_of_an_outcome_is_that_of_its_ledger(tmp_path: Path) -> None:
    from alder.ledger.store import read_events

    outcome = run(ledger=tmp_path / "run.alder", budget=QUICK)
    assert outcome.digest == read_events(tmp_path / "run.alder")[-1].digest


# "Effort is counted in fits, so results do not depend on the machine; `seconds` is a guard"


def test_the_same_seed_gives_the_same_law() -> None:
    first, second = run().law, run().law
    assert first is not None
    assert second is not None
    assert first.digest == second.digest


def test_an_outcome_that_time_cut_short_says_so() -> None:
    outcome = run(budget=alder.Budget(seconds=0.0))
    assert outcome.cut_short
    assert outcome.refusal is not None
    assert outcome.refusal.cause == "budget"


# "Study is the same loop as ask/tell"


def test_a_study_asks_and_is_told() -> None:
    with alder.Study(alder.ManualWorld(inputs(40, seed=3)), GRAMMAR, **request()) as study:
        while experiments := study.ask():
            for experiment in experiments:
                study.tell(experiment, {"y": [outcome_of(experiment.settings)]})
        assert study.outcome is not None
        assert study.outcome.law is not None


# What is misuse is one sentence of an AlderError.


@pytest.mark.parametrize(
    ("changes", "error", "sentence"),
    [
        ({"initial": {"x": [1.0], "v": [1.0]}}, alder.BadTable, "y"),
        ({"proposer": "oracle"}, alder.BadStudy, "oracle"),
        ({"selector": "oracle"}, alder.BadStudy, "oracle"),
        ({"guesses": ["a*x +"]}, alder.MalformedLaw, "x"),
        ({"proposer": "guesses", "guesses": []}, alder.BadStudy, "guess"),
        ({"seed": -1}, alder.BadStudy, "seed"),
    ],
    ids=["column", "proposer", "selector", "guess", "no guess", "seed"],
)
def test_a_study_that_cannot_begin_says_why(
    changes: dict[str, Any], error: type[alder.AlderError], sentence: str
) -> None:
    with pytest.raises(error, match=sentence) as raised:
        run(**changes)
    assert "\n" not in str(raised.value)


def test_what_is_no_world_is_misuse() -> None:
    with pytest.raises(alder.BadWorld, match="no world"):
        run(outcome_of)


def test_an_experiment_outside_its_range_is_misuse() -> None:
    grammar = alder.Grammar(
        [alder.Variable("x", range=(0.0, 1.0)), alder.Variable("v")], alder.Variable("y")
    )
    world = alder.FunctionWorld(outcome_of, experiments=[{"x": 2.0, "v": 1.0}])
    with pytest.raises(alder.BadWorld, match="outside its range"):
        alder.discover(world, grammar, initial=rows(40, seed=1))


def test_a_wrong_unit_is_misuse() -> None:
    with pytest.raises(alder.BadUnit, match="blorb"):
        alder.Variable("v", unit="blorb per fortnight")


def test_a_world_that_hangs_is_a_failed_experiment() -> None:
    from alder.worlds.guard import Guard

    calls: list[int] = []

    def answer(settings: dict[str, Any]) -> float:
        calls.append(1)
        while len(calls) == 1:
            pass
        return outcome_of(settings)

    world = alder.FunctionWorld(answer, experiments=inputs(40, seed=3), guard=Guard(seconds=0.05))
    outcome = run(world)
    assert len(calls) == 2
    assert outcome.spent.queries == 2


def test_a_pool_whose_query_raises_is_a_failed_round_and_the_study_goes_on() -> None:
    def query(numbers: Any) -> Any:
        raise ConnectionError("no instrument")

    outcome = run(alder.PoolWorld(inputs(40, seed=3), query=query))
    assert outcome.spent.queries == 2
    assert outcome.spent.proposals == 2
