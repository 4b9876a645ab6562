"""One cause each: what is public, and what the refusal makes of it."""

from collections.abc import Callable

import numpy as np
import pytest
from diagnosis.looked_at import columns, offered, refused

from alder.arrays import FloatArray
from alder.checking import check
from alder.diagnosis import diagnose
from alder.diagnosis.proposals import correction
from alder.records.grammar import Grammar
from alder.records.outcome import Refusal
from alder.records.roles import Roles
from alder.records.variable import Variable

LINE = "a*x + b*v + c"
PLAIN_ALL = ("add", "sub", "mul", "sin", "exp", "tanh", "gate", "abs", "sqrt", "log")


def noise(n: int, size: float, seed: int = 9) -> FloatArray:
    return size * np.random.default_rng(seed).normal(size=n)


def line(table: dict[str, FloatArray], size: float = 0.05) -> FloatArray:
    return 2.0 * table["x"] - table["v"] + noise(len(table["x"]), size)


def step_of(refusal: Refusal) -> dict[str, object]:
    assert refusal.step is not None
    return dict(refusal.step.settings)


CURVES: dict[str, Callable[[FloatArray], FloatArray]] = {
    "sin": lambda x: np.sin(4.0 * x),
    "exp": lambda x: 4.0 * np.exp(-3.0 * x),
    "tanh": lambda x: np.tanh(9.0 * (x - 2.2)),
    "abs": lambda x: np.abs(x - 1.7),
}


@pytest.mark.parametrize("operator", CURVES)
def test_the_operator_that_is_missing_is_named_first(operator: str) -> None:
    table = columns()
    table["y"] = line(table, 0.02) + CURVES[operator](table["x"])
    refusal = diagnose(refused(LINE, table), (), "budget")
    assert refusal.cause == "missing-operator"
    assert refusal.step is not None
    families = {"tanh": ("tanh", "gate")}
    assert refusal.step.operators[0] in families.get(operator, (operator,))
    assert "x" in refusal.step.variables


def test_without_a_better_operator_more_nodes_are_asked_for() -> None:
    table = columns()
    table["y"] = line(table) + table["x"] * table["v"]
    refusal = diagnose(refused("a*x + c", table, operators=PLAIN_ALL), (), "budget")
    assert refusal.cause == "missing-operator"
    assert refusal.step is not None
    assert refusal.step.operators == ()
    assert step_of(refusal)["max_nodes"] == 31


def test_scatter_beyond_error_bars_that_no_input_foresees_is_a_missing_variable() -> None:
    table = columns()
    table["y"] = line(table) + noise(120, 1.0, seed=3)
    table["s"] = np.full(120, 0.05)
    refusal = diagnose(refused(LINE, table, roles=Roles(sigma="s")), (), "budget")
    assert refusal.cause == "missing-variable"
    assert refusal.step is not None
    assert refusal.step.action == "measure"


def test_what_is_alike_in_time_is_a_missing_variable() -> None:
    table = columns()
    table["t"] = np.arange(120.0)
    table["y"] = line(table) + np.sin(table["t"] / 9.0)
    known = refused(LINE, table, roles=Roles(time="t"))
    refusal = diagnose(known, (), "budget", accuracy=0.01)
    assert refusal.cause == "missing-variable"
    assert "soon after each other" in refusal.reason


def test_slopes_that_differ_between_batches_are_a_missing_variable() -> None:
    table = columns()
    table["g"] = np.repeat(np.arange(8.0), 15)
    slopes = np.random.default_rng(1).uniform(-1.0, 1.0, 8)
    table["y"] = line(table) + np.repeat(slopes, 15) * (table["x"] - 2.0)
    known = refused(LINE, table, roles=Roles(group="g"))
    refusal = diagnose(known, (), "budget", accuracy=0.01)
    assert refusal.cause == "missing-variable"
    assert "batches of g" in refusal.advice


def test_rows_that_scatter_in_one_region_alone_miss_a_variable_there() -> None:
    table = columns(160)
    mode = np.where(np.random.default_rng(5).random(160) < 0.5, -1.0, 1.0)
    table["y"] = line(table) + mode * (np.abs(table["x"] - 3.0) < 0.5)
    refusal = diagnose(refused(LINE, table), (), "budget", accuracy=0.01)
    assert refusal.cause == "missing-variable"
    assert refusal.step is not None
    low, high = refusal.step.ranges["x"]
    assert 2.2 < low < high < 3.8


def test_even_scatter_above_the_accuracy_asked_for_is_noise_with_a_number_of_repeats() -> None:
    table = columns()
    table["y"] = line(table, 0.6)
    refusal = diagnose(refused(LINE, table), (), "budget", accuracy=0.02)
    assert refusal.cause == "noise"
    share = 0.36 / float(np.var(table["y"]))
    assert step_of(refusal)["repeats"] == pytest.approx(2.0 * share / 0.02, rel=0.4)


def test_the_same_scatter_is_no_noise_where_no_accuracy_was_asked_for() -> None:
    table = columns()
    table["y"] = line(table, 0.6)
    assert diagnose(refused(LINE, table), (), "budget").cause == "budget"


NARROW = (1.0, 1.3)


@pytest.mark.parametrize(
    ("reach", "safe", "cause"),
    [
        (NARROW, True, "excitation"),
        ((0.0, 4.0), False, "no-safe-experiment"),
        ((0.0, 4.0), True, "budget"),
    ],
    ids=["nothing on offer", "nothing safe", "nothing paid for"],
)
def test_what_was_not_moved_is_blamed_on_what_kept_it(
    reach: tuple[float, float], safe: bool, cause: str
) -> None:
    table = columns(x=NARROW)
    table["y"] = line(table)
    pool = offered(columns(40, seed=4, x=reach), safe=safe)
    refusal = diagnose(refused(LINE, table), (), "budget", pool=pool)
    assert refusal.cause == cause
    assert refusal.step is not None
    if cause == "excitation":
        assert refusal.step.ranges["x"] == (0.0, 4.0)
    if cause == "no-safe-experiment":
        low, high = refusal.step.ranges["x"]
        assert low < 1.0
        assert high > 3.0
    if cause == "budget":
        assert "queries" in refusal.step.settings


def test_variables_that_only_moved_together_are_named_both() -> None:
    table = columns()
    table["v"] = 1.0 + table["x"] / 2.0
    table["y"] = line(table)
    refusal = diagnose(refused("a*x + c", table), (), "budget")
    assert refusal.cause == "excitation"
    assert refusal.step is not None
    assert set(refusal.step.variables) == {"x", "v"}


GRAMMAR = Grammar([Variable("x")], Variable("y"), ("add", "mul"), max_nodes=5)


@pytest.mark.parametrize(
    ("law", "wish"),
    [
        ("a*sin(x)", {"operators": ("sin",)}),
        ("a*x*x*x + b*x", {"settings": {"max_nodes": 11}}),
        ("a*x + b*z0", {"variables": ()}),
    ],
)
def test_the_problems_of_proposals_say_what_to_correct(law: str, wish: dict[str, object]) -> None:
    step = correction(check(law, GRAMMAR), GRAMMAR.max_nodes)
    assert step.action == "correct"
    for name, wanted in wish.items():
        assert getattr(step, name) == wanted


def test_answers_that_cannot_be_read_call_for_another_proposer() -> None:
    step = correction(check("not a law at all (", GRAMMAR), GRAMMAR.max_nodes)
    assert step.settings["proposer"] == "search"


def test_a_budget_that_ended_says_whether_public_rows_show_what_the_verifier_sees() -> None:
    table = columns()
    table["y"] = line(table)
    unseen = diagnose(refused(LINE, table), (), "budget")
    assert unseen.cause == "budget"
    assert (
        "leaves no structure in the public rows, and laws fail on protected rows" in unseen.reason
    )
