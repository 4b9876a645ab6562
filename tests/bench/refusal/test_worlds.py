from collections import Counter
from importlib import import_module
from itertools import pairwise

import numpy as np
import pytest

from alder.arrays import FloatArray
from alder.bench.refusal import broken, large, smooth
from alder.bench.refusal.domains import GRAMMAR, N_ROWS, NAMES, ROLES, TARGET, Setting
from alder.bench.refusal.expressible import FORMS, law
from alder.bench.refusal.family import Family, Truth
from alder.bench.refusal.worlds import CONTROL, FAMILIES, case_names, draw_world
from alder.expr.canonical import canonical
from alder.expr.nodes import Apply, size, walk

SEEDS = range(4)
ANALYTIC = {"add", "sub", "mul", "div", "neg", "pow", "powp", "exp", "log", "sqrt", "tanh"}


def setting(seed: int = 0) -> Setting:
    return Setting("fit", np.random.default_rng(seed))


def along(truth: Truth, n: int, v: float = 0.3) -> FloatArray:
    """A truth along a slanted line through the wide and the shifted domain."""
    t = np.linspace(0.0, 1.0, n)
    rows = {"x": 0.4 + 3.0 * t, "v": v - 1.9 + 3.7 * t, "u": -0.2 + 0.5 * t}
    return truth(rows, setting())


def roughness(truth: Truth, order: int, n: int) -> float:
    """The largest difference of order k + 1 over h^k: it shrinks with h where k derivatives hold.

    Halving the step halves it for an analytic function; at a break of the k-th derivative it stays.
    """
    h = 1.0 / (n - 1)
    return float(np.abs(np.diff(along(truth, n), order + 1)).max() / h**order)


def of_reason(reason: str) -> list[Family]:
    return [family for family in FAMILIES.values() if family.reason == reason]


def test_there_are_a_hundred_worlds_of_at_least_ten_families_and_a_control_arm() -> None:
    counts = Counter(case.rpartition("-")[0] for case in case_names())
    assert counts.pop(CONTROL) == 20
    assert sum(counts.values()) == 100
    assert len(counts) >= 10
    assert set(counts.values()) == {5}


@pytest.mark.parametrize("case", [*case_names()[:20], "control-03"])
def test_a_world_is_the_same_for_the_same_seed_and_another_for_another(case: str) -> None:
    one, two, other = (draw_world(case, seed) for seed in (7, 7, 8))
    for role in ROLES:
        np.testing.assert_array_equal(one.rows[role][TARGET], two.rows[role][TARGET])
        assert np.isfinite(one.rows[role][TARGET]).all()
        assert len(one.rows[role][TARGET]) == N_ROWS[role]
    assert not np.array_equal(one.rows["fit"][TARGET], other.rows["fit"][TARGET])


@pytest.mark.parametrize("case", case_names()[:20])
def test_public_rows_of_every_world_show_more_than_noise(case: str) -> None:
    world = draw_world(case, 9)
    assert np.std(world.rows["fit"][TARGET]) > 5.0 * world.noise["fit"]


def test_laws_of_the_grammar_are_analytic_and_see_three_columns() -> None:
    assert set(GRAMMAR.operators) <= ANALYTIC
    assert GRAMMAR.variable_names == NAMES


@pytest.mark.parametrize("family", of_reason("not-a-column"), ids=lambda family: family.name)
def test_equal_inputs_have_unequal_outcomes_where_something_is_hidden(family: Family) -> None:
    truth = family.draw(np.random.default_rng(0))
    inputs = {name: np.full(64, value) for name, value in zip(NAMES, (1.2, 0.7, 0.1), strict=True)}
    rng = np.random.default_rng(1)
    outcomes = np.concatenate(
        [truth(inputs, Setting(role, rng)) for role in ("fit", "fit", "admission")]
    )
    assert np.ptp(outcomes) > 0.05


@pytest.mark.parametrize("family", of_reason("not-elementary"), ids=lambda family: family.name)
def test_what_is_no_column_has_no_part_in_other_families(family: Family) -> None:
    truth = family.draw(np.random.default_rng(0))
    rows = draw_world("sine-1", 0).rows["shift"]
    np.testing.assert_array_equal(truth(rows, setting(1)), truth(rows, setting(2)))


BROKEN = {
    broken.absolute: 1,
    broken.floor: 0,
    broken.step: 0,
    broken.regime_change: 1,
    broken.lookup_table: 1,
    broken.spline: 3,
}


@pytest.mark.parametrize("draw", BROKEN, ids=lambda draw: draw.__name__)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_derivative_breaks_where_laws_are_analytic(draw: object, seed: int) -> None:
    order = next(o for d, o in BROKEN.items() if d is draw)
    family = next(family for family in of_reason("not-analytic") if family.draw is draw)
    truth = family.draw(np.random.default_rng(seed))
    coarse, fine = (roughness(truth, order, n) for n in (401, 1601))
    assert fine > 0.6 * coarse


def test_the_same_measure_shrinks_for_laws_of_the_grammar() -> None:
    truth = smooth.sine(np.random.default_rng(0))  # as analytic as any law
    for order in (0, 1, 3):
        coarse, fine = (roughness(truth, order, n) for n in (401, 1601))
        assert fine < 0.3 * coarse


@pytest.mark.parametrize("seed", range(12))
def test_large_laws_exceed_the_limit_on_nodes_in_their_shortest_known_form(seed: int) -> None:
    for drawn in (large.many_terms_law, large.chaotic_map_law):
        written = drawn(np.random.default_rng(seed))
        assert min(size(written), size(canonical(written))) > 1.5 * GRAMMAR.max_nodes


@pytest.mark.parametrize("seed", range(3))
def test_no_term_of_a_large_sum_can_be_left_out(seed: int) -> None:
    truth = large.many_terms(np.random.default_rng(seed))
    rows = draw_world("sine-1", seed).rows["admission-test"]
    y = truth(rows, setting())
    exponents = [(a, b, c) for a in range(4) for b in range(4) for c in range(4)]
    terms = np.stack(
        [rows["x"] ** a * rows["v"] ** b * rows["u"] ** c
         for a, b, c in exponents if 1 < a + b + c <= 4], axis=1,
    )  # fmt: skip
    weights = np.linalg.lstsq(terms, y, rcond=None)[0]
    assert int(np.sum(np.abs(weights) > 1e-6)) == large.N_TERMS


def test_keplers_equation_is_solved() -> None:
    M = np.linspace(-3.0, 20.0, 200)
    E = smooth.eccentric_anomaly(M, 0.8)
    np.testing.assert_allclose(E - 0.8 * np.sin(E), M, atol=1e-12)


def test_a_flow_ends_where_an_integrator_says() -> None:
    rng = np.random.default_rng(5)
    truth = smooth.flow(rng)
    same = np.random.default_rng(5)
    c, omega, end = same.uniform(0.05, 0.3), same.uniform(0.8, 2.0), same.uniform(3.0, 8.0)
    said = truth({"x": np.array([1.1]), "v": np.array([-0.4]), "u": np.array([0.7])}, setting())

    def rate(t: float, z: FloatArray) -> list[float]:
        return [z[1], -np.sin(z[0]) - c * z[1] + 0.7 * np.cos(omega * t)]

    solve = import_module("scipy.integrate").solve_ivp  # has no types
    solved = solve(rate, (0.0, end), [1.1, -0.4], rtol=1e-10, atol=1e-12)
    assert said[0] == pytest.approx(solved.y[1, -1], abs=1e-5)


@pytest.mark.parametrize("family", ["sine", "uneven-noise", "special-function", "integral"])
@pytest.mark.parametrize("seed", SEEDS)
def test_smooth_truths_are_no_polynomials(family: str, seed: int) -> None:
    """Interpolation at more and more nodes goes on improving: no low degree is exact."""
    truth = FAMILIES[family].draw(np.random.default_rng(seed))
    x = np.linspace(0.4, 3.4, 400)
    y = truth({"x": x, "v": np.full_like(x, 0.8), "u": np.zeros_like(x)}, setting())
    left = [float(np.std(y - np.polynomial.Chebyshev.fit(x, y, degree)(x))) for degree in (2, 4, 6)]
    assert all(later < earlier for earlier, later in pairwise(left))
    assert left[-1] > 1e-9 * float(np.std(y))


@pytest.mark.parametrize("form", FORMS)
def test_laws_of_the_control_arm_are_of_the_grammar(form: str) -> None:
    written = law(form, np.random.default_rng(0))
    used = {node.operator.name for node in walk(written) if isinstance(node, Apply)}
    assert used - {"neg"} <= set(GRAMMAR.operators)  # a negative number needs none
    assert size(written) <= GRAMMAR.max_nodes
