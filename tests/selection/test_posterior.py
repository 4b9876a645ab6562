import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alder.arrays import FloatArray
from alder.expr.text import parse
from alder.records.budget import Budget
from alder.records.effort import FULL
from alder.records.evidence import Evidence
from alder.records.experiment import Trajectory
from alder.records.grammar import Grammar
from alder.records.proposal import Bounds, Proposal
from alder.records.roles import Roles
from alder.records.variable import Variable
from alder.selection.candidates import fit_all
from alder.selection.posterior import Posterior, posterior, to_probabilities

GRAMMAR = Grammar([Variable("x")], Variable("a"))
SEEDS = st.integers(0, 2**32 - 1)
LINE = Proposal(parse("k*x", ["x"]), {"k": Bounds(-4.0, 8.0)})
SQUARE = Proposal(parse("k*x^2", ["x"]), {"k": Bounds(-4.0, 8.0)})


def rows(seed: int, n: int = 12, sigma: float = 0.3) -> dict[str, FloatArray]:
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.5, 1.5, n)
    return {"x": x, "a": 2.0 * x + sigma * rng.standard_normal(n)}


def weigh(
    proposals: list[Proposal], columns: dict[str, FloatArray], sigma: float | None = None
) -> Posterior:
    roles = Roles() if sigma is None else Roles(sigma="bar")
    known = {} if sigma is None else {"bar": np.full(len(columns["x"]), sigma)}
    evidence = Evidence(GRAMMAR, roles, Budget(), Trajectory({**columns, **known}))
    return posterior(fit_all(proposals, evidence, FULL), evidence)


def by_quadrature(powers: list[int], columns: dict[str, FloatArray], sigmas: FloatArray) -> float:
    """Average the likelihood of two laws over k, and over the noise; return the first's share."""
    k = np.linspace(-4.0, 8.0, 20_001)
    found: list[float] = []
    for power in powers:
        residuals = columns["a"][:, None] - columns["x"][:, None] ** power * k
        chi2 = np.square(residuals).sum(axis=0)
        logs = -len(columns["x"]) * np.log(sigmas)[:, None] - 0.5 * chi2 / sigmas[:, None] ** 2
        found.append(float(np.logaddexp.reduce(logs, axis=None)))
    return float(to_probabilities(np.array(found))[0])


@settings(max_examples=20)
@given(SEEDS)
def test_with_error_bars_the_probability_is_that_of_the_whole_integral(seed: int) -> None:
    columns = rows(seed)
    found = weigh([LINE, SQUARE], columns, sigma=0.3).probabilities
    assert found[0] == pytest.approx(by_quadrature([1, 2], columns, np.array([0.3])), abs=0.01)


@settings(max_examples=20)
@given(SEEDS)
def test_without_error_bars_the_noise_is_averaged_over_too(seed: int) -> None:
    columns = rows(seed)
    found = weigh([LINE, SQUARE], columns).probabilities
    expected = by_quadrature([1, 2], columns, np.geomspace(0.03, 9.0, 200))
    assert found[0] == pytest.approx(expected, abs=0.01)


@settings(max_examples=20)
@given(SEEDS, st.floats(1e-3, 1e6))
def test_other_units_of_the_target_change_nothing_where_nothing_is_bounded(
    seed: int, factor: float
) -> None:
    free = [Proposal(LINE.structure), Proposal(SQUARE.structure)]
    columns = rows(seed)
    scaled = {**columns, "a": factor * columns["a"]}
    first, second = (weigh(free, one).probabilities for one in (columns, scaled))
    np.testing.assert_allclose(first, second, atol=1e-6)


def test_a_coefficient_the_rows_do_not_see_costs_nothing() -> None:
    # Below x = 1.5 the gate at 40 is shut to the last digit.
    blind = Proposal(
        parse("k*x + gate(50*(x - d))", ["x"]),
        {"k": Bounds(-4.0, 8.0), "d": Bounds(39.0, 41.0, start=40.0)},
    )
    found = weigh([LINE, blind], rows(1)).probabilities
    np.testing.assert_allclose(found, 0.5, atol=1e-9)


def test_a_coefficient_the_rows_determine_costs_its_room() -> None:
    wider = Proposal(LINE.structure, {"k": Bounds(-40.0, 80.0)})
    found = weigh([LINE, wider], rows(1), sigma=0.3).log_evidence
    assert found[0] - found[1] == pytest.approx(np.log(10.0), rel=1e-2)


def test_more_rows_of_the_truth_make_it_more_probable() -> None:
    few, many = (weigh([LINE, SQUARE], rows(3, n)).probabilities[0] for n in (5, 200))
    assert few < many
    assert many > 0.999


def test_laws_without_any_evidence_are_all_alike() -> None:
    np.testing.assert_array_equal(to_probabilities(np.full(4, -np.inf)), 0.25)
