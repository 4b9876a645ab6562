"""A small study: its first guess is refused, experiments follow, and its second is admitted."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

from alder.arrays import FloatArray
from alder.ports import Proposer, Selector
from alder.records.budget import Budget
from alder.records.experiment import Setting
from alder.records.grammar import Grammar
from alder.records.outcome import Outcome
from alder.records.protected import Protected
from alder.records.variable import Variable
from alder.study.discover import discover
from alder.study.journal import Watch
from alder.study.parts import Safe
from alder.worlds.function import FunctionWorld

NOISE = 0.05
GUESSES = ("a*x + b*v + c", "a*x + b*v^2")
TRUTH = GUESSES[1]
GRAMMAR = Grammar(
    variables=[Variable("x"), Variable("v")],
    target=Variable("y"),
    operators=("add", "mul", "pow"),
    max_nodes=15,
)
BUDGET = Budget(proposals=3, queries=2, batch=2)


class Request(TypedDict, total=False):
    """What `discover` and `Study` take besides world and grammar."""

    initial: object
    validation: object
    protected: Protected | None
    budget: Budget
    proposer: str | Proposer
    guesses: Sequence[str]
    selector: str | Selector
    ledger: Path | None
    seed: int
    sigma: str | None
    weight: str | None
    group: str | None
    time_column: str | None
    limits: Safe | None


def outcome_of(settings: Mapping[str, Setting]) -> float:
    """Return the target: the same for the same settings, noise included."""
    x, v = float(settings["x"]), float(settings["v"])
    rng = np.random.default_rng([round(1e6 * x), round(1e6 * v)])
    return 2.0 * x + 0.5 * v**2 + NOISE * float(rng.standard_normal())


def inputs(n: int, *, seed: int, v: tuple[float, float] = (0.5, 3.0)) -> dict[str, FloatArray]:
    """Draw inputs without outcomes."""
    rng = np.random.default_rng(seed)
    return {"x": rng.uniform(0.5, 3.0, n).round(6), "v": rng.uniform(*v, n).round(6)}


def rows(n: int, *, seed: int, v: tuple[float, float] = (0.5, 3.0)) -> dict[str, FloatArray]:
    """Draw inputs and ask for their outcomes."""
    columns = inputs(n, seed=seed, v=v)
    pairs = zip(columns["x"], columns["v"], strict=True)
    return {**columns, "y": np.array([outcome_of({"x": x, "v": v}) for x, v in pairs])}


def request(**changes: Any) -> Request:
    """Return the whole study; the first rows say little about v."""
    asked: Request = {
        "initial": rows(8, seed=1, v=(1.0, 1.5)),
        "protected": Protected(rows(40, seed=2)),
        "budget": BUDGET,
        "proposer": "guesses",
        "guesses": GUESSES,
    }
    asked.update(changes)  # pyright: ignore[reportCallIssue, reportArgumentType]
    return asked


def world() -> FunctionWorld:
    """Return a world of forty experiments."""
    return FunctionWorld(outcome_of, experiments=inputs(40, seed=3))


def run(given: object = None, watch: Watch | None = None, **changes: Any) -> Outcome:
    """Run the study, with changes."""
    return discover(world() if given is None else given, GRAMMAR, watch=watch, **request(**changes))
