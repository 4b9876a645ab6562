import json

import numpy as np
import pytest

from alder.bench.benchmark import Row
from alder.bench.null.adversary import Adversary
from alder.bench.null.run import figures, table, upper_bound
from alder.bench.null.worlds import NULL, TARGET, TRUE, null_world, true_world
from alder.cli.main import main
from alder.records.verdict import Category
from alder.verification.spending import AlphaSpending, Naive, level
from alder.verification.structure import signed_rank_p

METHOD = "alpha-spending"


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    """Twenty worlds, as the command measures them: in a process without the checks of tests."""
    out = tmp_path_factory.mktemp("null")
    asked = ["--cases", "20", "--seed", "11", "--method", METHOD, "--out", str(out)]
    assert main(["bench", "null", *asked]) == 0
    return [json.loads(line) for line in (out / "rows.jsonl").read_text("utf-8").splitlines()]


def test_a_hundred_laws_get_no_false_one_admitted(rows: list[Row]) -> None:
    # At the promised rate of 5 % twenty worlds show more than four false ones once in 400 runs.
    assert figures(rows)["false_admitted"] <= 4 / 20


def test_true_laws_are_admitted_at_the_same_settings(rows: list[Row]) -> None:
    # At the promised rate of 95 % twenty worlds show fewer than 16 once in 400 runs.
    assert figures(rows)["true_admitted"] >= 16 / 20


def test_naive_reuse_admits_what_spending_refuses() -> None:
    """Chance alone makes one law in forty look better than the mean; a hundred laws find one."""
    world = null_world(0, np.random.default_rng(2))
    y = world.protected["admission"][TARGET]
    draws = np.random.default_rng(3)
    p_values: list[float] = []
    for _ in range(100):
        guess = 0.01 * draws.normal(size=len(y))
        p_values.append(signed_rank_p(np.square(y) - np.square(y - guess)))
    nothing_learnt: tuple[Category, ...] = ("no-better-than-reference",) * 50
    assert min(p_values) < level(Naive(), nothing_learnt) / 2.0
    assert min(p_values) > level(AlphaSpending(), nothing_learnt) / 2.0


def test_the_table_has_a_line_for_each_method(rows: list[Row]) -> None:
    assert len(table(rows, {METHOD: figures(rows)})) == 2


def test_every_row_says_what_became_of_its_world(rows: list[Row]) -> None:
    assert len(rows) == 20
    assert {row["world"] for row in rows} == set(NULL)
    assert {row["true_world"] for row in rows} == set(TRUE)


def test_every_answer_is_counted_and_poles_between_rows_are_unstable(rows: list[Row]) -> None:
    assert all(sum(row["answers"].values()) == row["submissions"] for row in rows)
    # Every fifth law has a pole; hardly any other law is unstable.
    poles = sum(row["submissions"] // 5 for row in rows)
    unstable = sum(row["answers"].get("unstable", 0) for row in rows)
    assert 0.9 * poles <= unstable <= 1.1 * poles


def test_a_world_that_could_not_be_measured_counts_as_a_false_admission() -> None:
    failed: Row = {"case": "world-0000", "method": METHOD, "error": "it crashed"}
    assert figures([failed])["false_admitted"] == 1.0
    assert figures([failed])["true_admitted"] == 0.0


def test_worlds_are_the_same_for_the_same_seed() -> None:
    one, two = (null_world(3, np.random.default_rng(5)) for _ in range(2))
    np.testing.assert_array_equal(one.public[TARGET], two.public[TARGET])
    kinds = [true_world(i, np.random.default_rng(0))[0].kind for i in range(len(TRUE))]
    assert kinds == list(TRUE)


def test_an_adversary_stops_when_it_has_won() -> None:
    world = null_world(0, np.random.default_rng(0))
    answers: list[Category] = ["inaccurate", "no-better-than-reference", "accept"]
    said = iter(answers)
    law, heard = Adversary(world.public, np.random.default_rng(0)).attack(lambda _: next(said), 50)
    assert law is not None
    assert heard == answers


@pytest.mark.parametrize(("n_events", "expected"), [(0, 0.0149), (4, 0.0452), (200, 1.0)])
def test_upper_bounds_of_rates_are_those_of_clopper_and_pearson(
    n_events: int, expected: float
) -> None:
    assert upper_bound(n_events, 200) == pytest.approx(expected, abs=2e-4)
