"""Evidence of a refused law, for tests that look at one cause each."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from alder.arrays import FloatArray
from alder.fitting.fit import fit
from alder.fitting.residuals import find_misfits
from alder.records.budget import Budget
from alder.records.evidence import Attempt, Evidence
from alder.records.experiment import Pool, Trajectory
from alder.records.grammar import Grammar
from alder.records.proposal import Proposal
from alder.records.roles import Roles
from alder.records.variable import Variable

PLAIN = ("add", "sub", "mul")
RANGES: dict[str, tuple[float, float]] = {"x": (0.0, 4.0), "v": (1.0, 3.0)}


def columns(n: int = 120, seed: int = 0, **narrow: tuple[float, float]) -> dict[str, FloatArray]:
    rng = np.random.default_rng(seed)
    return {name: rng.uniform(*narrow.get(name, ends), n) for name, ends in RANGES.items()}


def refused(
    law: str,
    table: Mapping[str, FloatArray],
    *,
    operators: Sequence[str] = PLAIN,
    roles: Roles | None = None,
    budget: Budget | None = None,
    **more: Any,
) -> Evidence:
    """Return what is public after one law was fitted to rows and refused."""
    variables = [Variable(name, range=ends) for name, ends in RANGES.items()]
    grammar = Grammar(variables, Variable("y"), (*operators, "pow", "div"), 15)
    roles = roles or Roles()
    found = fit(
        law, table, target=grammar.target, variables=variables, sigma=roles.sigma, group=roles.group
    )
    misfits = find_misfits(found, table, grammar.variable_names)
    attempt = Attempt(Proposal(found.structure), fit=found, misfits=misfits, category="inaccurate")
    return Evidence(
        grammar, roles, budget or Budget(), Trajectory(table), attempts=(attempt,), **more
    )


def offered(table: Mapping[str, FloatArray], *, safe: bool = True) -> Pool:
    n = len(table["x"])
    inputs = {name: table[name] for name in RANGES}
    return Pool([f"e{i}" for i in range(n)], inputs, np.ones(n), np.full(n, safe))
