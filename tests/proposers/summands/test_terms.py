"""Terms of rates: which there are, what they are worth, and their numbers along a solution."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alder.arrays import FloatArray
from alder.expr.evaluate import evaluate
from alder.expr.nodes import Apply, Const, Expr, Var
from alder.expr.text import parse, to_text
from alder.fitting.samples import Samples
from alder.fitting.shooting import shoot
from alder.proposers.states.model import Model, Pick, Problem, make_flow
from alder.proposers.states.paths import along_samples, along_solution
from alder.proposers.summands.along import Along
from alder.proposers.summands.alternatives import Offer, alternatives
from alder.proposers.summands.modulated import modulated
from alder.proposers.summands.shapes import make_library
from alder.proposers.summands.terms import MOST_ROWS, Library, Term, moved

COLUMNS: tuple[str, ...] = ("x", "y")
ALL = ("add", "sub", "mul", "div", "pow", "powp", "exp", "log", "sin", "cos", "tanh", "sqrt", "abs")


def _rows(low: float = 0.1, unit: float = 1.0, n: int = 60) -> dict[str, FloatArray]:
    rng = np.random.default_rng(3)
    return {name: unit * rng.uniform(low, 3.0, n) for name in COLUMNS}


def _every(operators: tuple[str, ...] = ALL, low: float = 0.1, unit: float = 1.0) -> Library:
    library = make_library(COLUMNS, operators, _rows(low, unit))
    return library.finer(library.top)


def _operators(expr: Expr) -> set[str]:
    if not isinstance(expr, Apply):
        return set()
    return {expr.operator.name}.union(*map(_operators, expr.arguments))


@settings(max_examples=20, deadline=None)
@given(allowed=st.sets(st.sampled_from(["div", "exp", "log", "sin", "cos", "tanh", "sqrt", "abs"])))
def test_no_term_uses_a_function_that_is_not_allowed(allowed: set[str]) -> None:
    named = {"div", "exp", "log", "sin", "cos", "tanh", "sqrt", "abs", "powp"}
    for term in _every(tuple({"add", "sub", "mul", "pow"} | allowed)).terms:
        assert _operators(term.expr) & named <= allowed, to_text(term.expr)


def test_terms_that_say_the_same_on_the_rows_are_there_once() -> None:
    """Where x is positive, x|x| is its square."""
    texts = {to_text(term.expr) for term in _every().terms}
    assert "x^2" in texts
    assert "x*abs(x)" not in texts
    assert "x*abs(x)" in {to_text(term.expr) for term in _every(low=-3.0).terms}


def test_scales_follow_the_unit_of_a_column() -> None:
    """A saturation begins at the same share of its column in any unit."""

    def scales(unit: float) -> FloatArray:
        terms = _every(unit=unit).terms
        return np.array([t.values[0] for t in terms if to_text(t.expr) == "x/(k + x)"]) / unit

    assert len(scales(1.0)) >= 10
    assert scales(1e-6) == pytest.approx(scales(1.0))


def test_values_and_derivatives_are_those_of_the_trees() -> None:
    library = _every()
    table = np.column_stack(list(_rows().values()))
    rows = dict(zip(COLUMNS, table.T, strict=True))
    blocks = library.blocks(table)
    assert library.values(table) == pytest.approx(blocks[:, 0])
    step = 1e-5
    for place in range(0, len(library.terms), 7):
        term = library.terms[place]
        assert blocks[:, 0, place] == pytest.approx(evaluate(term.literal(), rows, {}))
        for number in range(blocks.shape[1] - 1):
            if number >= len(term.values):
                assert not blocks[:, 1 + number, place].any()
                continue
            steps = [float(k == number) for k in range(len(term.values))]
            sides = [
                Term(term.expr, 0, moved(term.values, [sign * step * one for one in steps]))
                for sign in (1.0, -1.0)
            ]
            up, down = (evaluate(side.literal(), rows, {}) for side in sides)
            size = np.abs(blocks[:, 0, place]).max() + np.abs(blocks[:, 1 + number, place]).max()
            expected = (up - down) / (2.0 * step)
            assert blocks[:, 1 + number, place] == pytest.approx(expected, abs=1e-6 * size)


def _followed() -> tuple[Along, Samples]:
    """Follow a saturating decay, whose samples have no noise."""
    t = np.linspace(0.0, 2.0, 41)
    blank = Samples.of([(t, np.zeros((41, 1))), (t[::2], np.zeros((21, 1)))])
    picks = (Pick(0, Term(parse("x/(k + x)", ("x",)), 5, (0.4,)), -1.2),)
    problem = Problem(blank, ("x",), np.array([1e-3]), np.zeros((62, 1)))
    flow, values = make_flow(picks, problem)
    samples = blank.with_states(flow.solve(blank, np.array([[2.0], [0.7]]), values).states)
    shot = shoot(flow, samples, values, samples.start_rows(), problem.sigma)
    return along_solution(Model(picks, shot), shot, problem), samples


def test_integrals_of_a_rate_along_its_solution_are_the_samples() -> None:
    along, samples = _followed()
    column = -1.2 * along.block(Term(parse("x/(k + x)", ("x",)), 5, (0.4,)))[:, 0]
    assert column == pytest.approx(along.sides[:, 0], abs=1e-5)
    for segment in range(samples.n_segments):
        assert along.sides[samples.rows_of(segment)].mean() == pytest.approx(0.0, abs=1e-12)


def test_integrals_along_the_samples_themselves_need_no_model() -> None:
    """Between samples they are read off a spline, which is rougher than a solution."""
    _, samples = _followed()
    problem = Problem(samples, ("x",), np.array([1e-3]), samples.states)
    beside = along_samples(problem)
    column = -1.2 * beside.block(Term(parse("x/(k + x)", ("x",)), 5, (0.4,)))[:, 0]
    assert column == pytest.approx(beside.sides[:, 0], abs=1e-4)


@settings(max_examples=20, deadline=None)
@given(first=st.floats(0.1, 1.5))
def test_numbers_inside_settle_from_far(first: float) -> None:
    along, _ = _followed()
    found = along.settle([Term(parse("x/(k + x)", ("x",)), 5, (first,))], along.sides[:, 0], 1e-3)
    assert found.terms[0].values[0] == pytest.approx(0.4, rel=1e-3)
    assert found.coefficients[0] == pytest.approx(-1.2, rel=1e-3)


def test_a_term_that_is_no_number_somewhere_is_no_description() -> None:
    along, _ = _followed()
    wild = Term(parse("exp(x/k)", ("x",)), 7, (1e-3,))
    huge = Term(parse("exp(exp(exp(x/k)))", ("x",)), 7, (1e-3,))
    for term in (wild, huge):
        found = along.settle([term], along.sides[:, 0], 1e-3)
        assert not np.isnan(found.rest)


def test_of_many_samples_neighbours_are_taken_together_and_say_the_same() -> None:
    t = np.linspace(0.0, 2.0, 7001)
    blank = Samples.of([(t, np.zeros((7001, 1)))])
    term = Term(parse("x/(k + x)", ("x",)), 5, (0.4,))
    problem = Problem(blank, ("x",), np.array([0.01]), np.zeros((7001, 1)))
    flow, values = make_flow((Pick(0, term, -1.2),), problem)
    clean = flow.solve(blank, np.array([[2.0]]), values).states
    noise = 0.01 * np.random.default_rng(0).normal(size=clean.shape)
    samples = blank.with_states(clean + noise)
    beside = along_samples(replace(problem, samples=samples, near=clean))
    assert len(beside.sides) <= MOST_ROWS
    found = beside.settle([replace(term, values=(0.9,))], beside.sides[:, 0], 0.01)
    assert found.rest / len(beside.sides) == pytest.approx(1.0, abs=0.2)  # noise is as it was
    assert found.terms[0].values[0] == pytest.approx(0.4, rel=0.02)
    assert found.coefficients[0] == pytest.approx(-1.2, rel=0.01)


def test_products_with_columns_are_what_the_trees_of_the_products_say() -> None:
    rows = np.random.default_rng(0).uniform(0.2, 2.0, (40, 2))
    along, shape = Along.rows(("x", "y"), rows, rows), parse("exp(-(k*x))", ("x", "y"))
    trees = [shape, *(parse(f"{name}*exp(-(k*x))", ("x", "y")) for name in ("x", "y"))]
    found = along.products(Term(shape, 4, (0.7,)), (Const(1.0), Var("x"), Var("y")))
    assert found == pytest.approx(along.blocks([Term(tree, 4, (0.7,)) for tree in trees]))


def test_a_term_that_is_no_number_somewhere_bars_itself_alone() -> None:
    x = np.linspace(0.0, 2.0, 60)
    along = Along.rows(("x",), x[:, None], (0.5 * x)[:, None])
    terms = tuple(Term(parse(text, ("x",)), 1, ()) for text in ("x", "x^2", "1/x^40"))
    offer = Offer(terms, along.blocks(terms), np.full(3, 4.0)).tamed()
    assert offer.costs.tolist() == [4.0, 4.0, np.inf]
    best = alternatives(along, 0, (0.01, 0.01), offer)[0]
    assert [to_text(term.literal()) for term in best.terms] == ["x"]


@pytest.mark.parametrize(
    "law",
    [
        "0.07/(0.122 + exp(-3.9*x))",
        "0.6/(8.2 + exp(3.9*x))",
        "0.9*x^2/(0.8 + x^2)",
        "-0.05*x*sqrt(x^2 + y^2)",
        "-1.7*y/((x^2 + y^2)*sqrt(x^2 + y^2))",
    ],
)
def test_what_is_one_term_is_found_as_one(law: str) -> None:
    """A constant that a shape needs beside it only because it falls is one number too many."""
    rows = _rows(n=200)
    table = np.column_stack([rows[name] for name in COLUMNS])
    clean = evaluate(parse(law, COLUMNS), rows, {})
    sigma = 0.01 * float(clean.std())
    y = clean + sigma * np.random.default_rng(1).normal(size=len(clean))
    along, library = Along.rows(COLUMNS, table, y[:, None]), _every()
    offer = Offer(library.terms, along.blocks(library.terms), library.costs(len(y))).tamed()
    found = alternatives(along, 0, (sigma, sigma), offer)
    (term,) = found[0].terms
    said = found[0].coefficients[0] * evaluate(term.literal(), rows, {})
    assert said == pytest.approx(clean, abs=2.0 * sigma)


def test_sums_that_are_compared_differ_in_more_than_their_numbers() -> None:
    rows = _rows()
    table = np.column_stack([rows[name] for name in COLUMNS])
    y = rows["x"] - 0.4 * rows["y"] + 0.01 * np.random.default_rng(1).normal(size=60)
    along, library = Along.rows(COLUMNS, table, y[:, None]), _every()
    offer = Offer(library.terms, along.blocks(library.terms), library.costs(60)).tamed()
    found = alternatives(along, 0, (0.01, 0.01), offer)
    shapes = [tuple(sorted(to_text(term.expr) for term in one.terms)) for one in found]
    assert len(found) > 1
    assert len(set(shapes)) == len(shapes)


@pytest.mark.parametrize("seed", [0, 2, 4])
def test_a_shape_is_multiplied_only_where_its_own_numbers_cannot_make_up_for_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = np.concatenate([rng.uniform(0.0, 1.2, 150), rng.uniform(0.0, 9.0, 50)])
    y = 1.0 / (1.0 + 0.2466 * np.exp(4.89 * x)) + 0.002 * rng.normal(size=200)
    library = make_library(("x",), ("add", "sub", "mul", "div", "exp"), {"x": x})
    along = Along.rows(("x",), x[:, None], y[:, None])
    usable = library.finer(library.top)
    best = modulated(along, y, 2e-3, usable, lambda terms: np.ones(len(terms), dtype=np.bool_))[0]
    assert len(best.terms) <= 2
    assert max(len(term.values) for term in best.terms) == 2


def test_a_shape_may_multiply_a_sum_of_many_columns() -> None:
    names = tuple("abcdefgh")
    rng = np.random.default_rng(2)
    table = rng.uniform(0.2, 2.0, (300, 8))
    y = (1.0 + table @ np.arange(1.0, 9.0)) * np.exp(-0.8 * table[:, 0])
    rows = {name: table[:, i] for i, name in enumerate(names)}
    library = make_library(names, ("add", "sub", "mul", "div", "exp"), rows)
    along = Along.rows(names, table, y[:, None])
    found = modulated(along, y, 1e-3, library, lambda terms: np.ones(len(terms), dtype=np.bool_))
    assert found
    for one in found:
        for term in one.terms:
            assert np.isfinite(evaluate(term.literal(), rows, {})).all()
