import numpy as np
import pytest

from alder import Bounds, Proposal, fit_many, parse
from alder.arrays import FloatArray
from alder.expr.nodes import Expr
from alder.expr.sample import random_tree
from alder.records.effort import Effort

NAMES = ("x", "y", "r")
N_ROWS = 50


def rows(seed: int = 0) -> dict[str, FloatArray]:
    rng = np.random.default_rng(seed)
    x, y, r = rng.uniform(-2.0, 2.0, N_ROWS), rng.uniform(0.2, 3.0, N_ROWS), rng.normal(size=N_ROWS)
    return {"x": x, "y": y, "r": r, "t": x * y - r + rng.normal(0.0, 0.1, N_ROWS)}


def structures(count: int, seed: int = 0) -> list[Expr]:
    rng = np.random.default_rng(seed)
    return [random_tree(rng, int(rng.integers(3, 24)), NAMES) for _ in range(count)]


@pytest.mark.parametrize("jobs", [2, 3])
def test_the_result_does_not_depend_on_the_number_of_threads(jobs: int) -> None:
    laws = structures(200)
    alone = fit_many(laws, rows(), target="t", jobs=1)
    together = fit_many(laws, rows(), target="t", jobs=jobs)
    np.testing.assert_array_equal(alone.solutions.values, together.solutions.values)
    np.testing.assert_array_equal(alone.loss, together.loss)


def test_structures_are_fitted_together_as_one_by_one() -> None:
    laws = structures(80)
    together = fit_many(laws, rows(), target="t")
    for index, law in enumerate(laws):
        alone = fit_many([law], rows(), target="t")
        assert alone.values(0) == together.values(index)
        assert alone.loss[0] == together.loss[index]


def test_the_order_of_structures_is_irrelevant() -> None:
    laws = structures(90)
    order = [int(i) for i in np.random.default_rng(1).permutation(len(laws))]
    first = fit_many(laws, rows(), target="t")
    second = fit_many([laws[i] for i in order], rows(), target="t")
    np.testing.assert_array_equal(first.loss[order], second.loss)


def test_a_run_repeats_to_the_last_bit() -> None:
    first, second = (fit_many(structures(60), rows(), target="t") for _ in range(2))
    np.testing.assert_array_equal(first.solutions.values, second.solutions.values)


def test_the_order_of_columns_is_irrelevant_to_the_best_fit() -> None:
    table = rows()
    laws = ["k*x*y - c*r", "k*x + c*y^p"]
    first = fit_many(laws, table, target="t")
    second = fit_many(laws, dict(reversed(table.items())), target="t")
    np.testing.assert_allclose(first.loss, second.loss, rtol=1e-9)


def test_whole_fits_are_made_when_they_are_asked_for() -> None:
    found = fit_many(["k*x*y - c*r", "k*x", "a + b*r"], rows(), target="t")
    assert len(found) == 3
    assert found.order[0] == 0
    assert found[0].values == found.values(0)
    assert found[-1].values == found.values(2)
    np.testing.assert_allclose([whole.loss for whole in found], found.loss, rtol=1e-9)
    np.testing.assert_allclose([whole.nmse for whole in found[:2]], found.nmse[:2], rtol=1e-9)
    assert all(c.standard_error > 0.0 for c in found[0].coefficients)
    with pytest.raises(IndexError):
        found[3]


def test_bounds_and_fixed_values_apply_where_a_structure_has_that_parameter() -> None:
    own = Proposal(parse("k*x*y", NAMES), {"k": Bounds(3.0, 4.0)})
    found = fit_many(
        ["k*x*y - c*r", "b*x", own], rows(), target="t", bounds={"k": (0.0, 0.5)}, fixed={"c": 2.0}
    )
    assert found.values(0) == {"k": 0.5, "c": 2.0}
    assert found.values(2) == {"k": 3.0}
    assert found[0].active_bounds == ("k",)
    assert found[2].active_bounds == ("k",)


def test_no_structures_give_no_fits() -> None:
    assert len(fit_many([], rows(), target="t")) == 0


def test_a_fit_looks_first_where_it_is_told_to() -> None:
    x = np.random.default_rng(0).uniform(0.0, 10.0, 300)
    table = {"x": x, "y": np.sin(7.3 * x)}
    once = Effort(pool=1, starts=1, iterations=30, tolerance=1e-9)
    law = "a*sin(p*x)"
    assert fit_many([law], table, target="y", effort=once).nmse[0] > 0.5
    bounds = {"p": Bounds(start=7.25)}
    assert fit_many([law], table, target="y", bounds=bounds, effort=once).nmse[0] < 1e-20
