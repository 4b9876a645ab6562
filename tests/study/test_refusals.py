"""Whole studies that end without a law, and the cause they give."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from study.problems import GRAMMAR, inputs, rows

from alder.arrays import FloatArray
from alder.records.budget import Budget
from alder.records.experiment import Setting
from alder.records.outcome import CAUSES, Refusal
from alder.records.protected import Protected
from alder.study.discover import discover
from alder.worlds.function import FunctionWorld

Truth = Callable[[FloatArray, FloatArray], FloatArray]
BUDGET = Budget(proposals=2, queries=4, batch=4)
GUESSES = ("a*x + b*v + c", "a*x^2 + b*v")


def refusal(
    truth: Truth, *, noise: float = 0.05, v: tuple[float, float] = (0.5, 3.0), **changes: Any
) -> Refusal:
    def table(n: int, seed: int, v: tuple[float, float]) -> dict[str, FloatArray]:
        columns = inputs(n, seed=seed, v=v)
        scatter = noise * np.random.default_rng(seed).standard_normal(n)
        return {**columns, "y": truth(columns["x"], columns["v"]) + scatter}

    def run(settings: dict[str, Setting]) -> float:
        x, v = (np.array([float(settings[name])]) for name in ("x", "v"))
        rng = np.random.default_rng([round(1e6 * float(x[0]))])
        return float(truth(x, v)[0]) + noise * float(rng.standard_normal())

    experiments = inputs(30, seed=3, v=v)
    world = FunctionWorld(run, experiments=experiments, is_safe=changes.pop("is_safe", None))
    hidden = Protected(table(40, 2, (0.5, 3.0)))
    settings: dict[str, Any] = {"budget": BUDGET, "guesses": GUESSES, **changes}
    settings.setdefault("proposer", "guesses" if settings["guesses"] else "search")
    outcome = discover(world, GRAMMAR, initial=table(40, 1, v), protected=hidden, **settings)
    assert outcome.law is None
    assert outcome.refusal is not None
    assert outcome.refusal.cause in CAUSES
    return outcome.refusal


def still(x: FloatArray, v: FloatArray) -> FloatArray:
    return 0.0 * x * v


def rippled(x: FloatArray, v: FloatArray) -> FloatArray:
    return 3.0 * np.sin(3.0 * x) + v


def square(x: FloatArray, v: FloatArray) -> FloatArray:
    return 2.0 * x + v**2


@pytest.mark.parametrize("guesses", [GUESSES, ()], ids=["guesses", "search"])
def test_a_world_of_noise_is_refused_as_noise(guesses: tuple[str, ...]) -> None:
    assert refusal(still, noise=1.0, guesses=guesses).cause == "noise"


def test_a_world_the_grammar_cannot_say_misses_an_operator() -> None:
    assert refusal(rippled).cause == "missing-operator"


def test_a_variable_nobody_moved_is_named() -> None:
    found = refusal(square, v=(1.0, 1.0 + 1e-300), budget=Budget(proposals=1, queries=0))
    assert found.cause == "excitation"
    assert "v" in found.reason


def test_a_world_without_a_safe_experiment_says_so() -> None:
    laws = ("a*x + b*v + c", "a*x + b*v^3 + c")
    found = refusal(square, v=(1.0, 1.2), guesses=laws, is_safe=[False] * 30)
    assert found.cause == "no-safe-experiment"


def test_a_refused_study_keeps_its_last_candidate_apart_from_a_law() -> None:
    found = refusal(rippled)
    assert found.candidate is not None
    assert np.isfinite(found.candidate.predict(rows(5, seed=1))).all()
