"""The peer comparison is fair to a law that is right, and to none that is not."""

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
NAMES = [
    "I.6.2a",
    "I.6.2",
    "I.6.2b",
    "I.8.14",
    "I.9.18",
    "I.10.7",
    "I.11.19",
    "I.12.1",
    "I.12.2",
    "I.12.4",
    "I.12.5",
    "I.12.11",
    "I.13.4",
    "I.13.12",
    "I.14.3",
    "I.14.4",
    "I.15.3x",
    "I.15.3t",
    "I.15.10",
    "I.16.6",
    "I.18.4",
    "I.18.12",
    "I.18.14",
    "I.24.6",
    "I.25.13",
    "I.26.2",
    "I.27.6",
    "I.29.4",
    "I.29.16",
    "I.30.3",
]


@pytest.fixture
def comparison(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    modules = ("feynman", "peers_regression", "recovery_cases", "recovery_scores")
    return {name: import_module(name) for name in modules}


def score(comparison: dict[str, Any], name: str, error: float = 0.0) -> dict[str, Any]:
    """Score the published formula, times one plus an error."""
    equation = next(e for e in comparison["feynman"].EQUATIONS if e.name == name)
    case = comparison["recovery_cases"].make(f"feynman-{name}", 0)

    def predict(X: NDArray[np.float64]) -> NDArray[np.float64]:
        said = equation.value(dict(zip(case.names, X.T, strict=True)))
        return said * (1.0 + error * X[:, 0])

    text = equation.formula.replace("pi", "3.141592653589793")
    if error:
        text = f"({text})*(1 + {error}*{case.names[0]})"
    found = comparison["peers_regression"].Found(text, predict)
    return comparison["recovery_scores"].score(case, found)


def test_the_thirty_equations_come_in_the_order_of_the_set(comparison: dict[str, Any]) -> None:
    assert [equation.name for equation in comparison["feynman"].EQUATIONS] == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_the_published_formula_is_exact_in_numbers_and_as_a_formula(
    comparison: dict[str, Any], name: str
) -> None:
    row = score(comparison, name)
    assert (row["exact"], row["exact_refitted"], row["symbolic"]) == (True, True, True)


@pytest.mark.parametrize("name", NAMES[:8])
def test_a_formula_that_is_a_little_wrong_is_not_exact(
    comparison: dict[str, Any], name: str
) -> None:
    assert not score(comparison, name, error=1e-4)["exact"]


def test_rough_numbers_in_the_right_formula_count_only_when_refitted(
    comparison: dict[str, Any],
) -> None:
    case = comparison["recovery_cases"].make("feynman-I.14.4", 0)

    def predict(X: NDArray[np.float64]) -> NDArray[np.float64]:
        return 0.5001 * X[:, 0] * X[:, 1] ** 2

    rough = comparison["peers_regression"].Found("0.5001*k_spring*x^2", predict)
    row = comparison["recovery_scores"].score(case, rough)
    assert (row["exact"], row["exact_refitted"], row["symbolic"]) == (False, True, True)


def test_there_are_twenty_laws_of_novellaw_half_of_each_form_set(
    comparison: dict[str, Any],
) -> None:
    cases = comparison["recovery_cases"].NOVELLAW
    assert [sum(f"-{form}-" in name for name in cases) for form in "ab"] == [10, 10]


def test_rows_are_drawn_the_same_from_the_same_seed(comparison: dict[str, Any]) -> None:
    first, again, other = (
        comparison["recovery_cases"].make("feynman-I.26.2", seed) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first.fit["theta1"], again.fit["theta1"])
    assert not np.array_equal(first.fit["theta1"], other.fit["theta1"])
