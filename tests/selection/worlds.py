"""A small real pool whose outcomes are hidden, and laws to choose between."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.expr.text import parse
from alder.prediction import predict_rows
from alder.records.budget import Budget
from alder.records.evidence import Candidate, Evidence
from alder.records.experiment import Pool, Trajectory
from alder.records.grammar import Grammar
from alder.records.law import Law
from alder.records.proposal import Proposal
from alder.records.roles import Roles
from alder.records.variable import Variable
from alder.selection.candidates import refit

NAMES = ("x", "y")
GRAMMAR = Grammar([Variable("x"), Variable("y")], target=Variable("a"), max_nodes=21)
TEXTS = ("k*x + c*y", "k*tanh(x/s) + c*y", "k*x^2 + c*y", "k*x*y + c", "k*sin(x) + c*y")


@dataclass(frozen=True)
class HiddenPool:
    """A pool of rows with outcomes that no forecast shows."""

    offered: Pool
    outcomes: FloatArray

    def pool(self) -> Pool:
        return self.offered

    def predict(self, law: Law, experiments: NDArray[np.intp]) -> FloatArray:
        assert self.offered.safe[experiments].all(), "an unsafe experiment was scored"
        columns = {name: column[experiments] for name, column in self.offered.columns.items()}
        return predict_rows(law, columns)[:, None]

    def permuted(self, order: NDArray[np.intp]) -> "HiddenPool":
        pool = self.offered
        return HiddenPool(
            Pool(
                [pool.ids[int(i)] for i in order],
                {name: column[order] for name, column in pool.columns.items()},
                pool.cost[order],
                pool.safe[order],
            ),
            self.outcomes[order],
        )


def draw_pool(
    seed: int, n: int = 60, *, unsafe: float = 0.3, costs: tuple[float, ...] = (1.0, 2.0, 5.0)
) -> HiddenPool:
    rng = np.random.default_rng(seed)
    columns = {"x": rng.uniform(-3.0, 3.0, n), "y": rng.uniform(-2.0, 2.0, n)}
    ids = [f"e{i}" for i in rng.permutation(n)]
    safe = rng.random(n) >= unsafe
    safe[0] = True
    pool = Pool(ids, columns, rng.choice(costs, n), safe)
    return HiddenPool(pool, rng.normal(size=n))


def truth(columns: Mapping[str, FloatArray]) -> FloatArray:
    return 2.0 * np.tanh(columns["x"] / 1.5) + 0.5 * columns["y"]


def make_evidence(
    seed: int = 0, n: int = 30, *, budget: Budget | None = None, width: float = 0.6
) -> Evidence:
    """Rows near zero, where saturation does not show yet."""
    rng = np.random.default_rng(seed)
    columns = {"x": rng.uniform(-width, width, n), "y": rng.uniform(-1.0, 1.0, n)}
    columns["a"] = truth(columns) + 0.02 * rng.normal(size=n)
    return Evidence(GRAMMAR, Roles(), budget or Budget(), Trajectory(columns))


def proposals(texts: tuple[str, ...] = TEXTS) -> tuple[Proposal, ...]:
    return tuple(Proposal(parse(text, NAMES)) for text in texts)


@lru_cache(maxsize=1)
def some_candidates() -> tuple[Candidate, ...]:
    """Three laws that rows near zero do not tell apart."""
    return refit(proposals(("k*x + c*y", "k*tanh(x/s) + c*y", "k*sin(x) + c*y")), make_evidence())
