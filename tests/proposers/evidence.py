"""Evidence for proposers, made by hand."""

from collections.abc import Mapping, Sequence

import numpy as np
from study.problems import GRAMMAR, rows

from alder.arrays import FloatArray
from alder.expr.nodes import Expr
from alder.fitting.fit import fit
from alder.records.budget import Budget
from alder.records.evidence import Attempt, Evidence
from alder.records.experiment import Trajectory
from alder.records.grammar import Grammar
from alder.records.proposal import Proposal
from alder.records.roles import Roles


def evidence(
    refused: Sequence[Expr] = (),
    *,
    table: Mapping[str, FloatArray] | None = None,
    later: Sequence[Mapping[str, FloatArray]] = (),
    grammar: Grammar = GRAMMAR,
) -> Evidence:
    """Return what is public after some structures were fitted to the first rows and refused."""
    first = rows(30, seed=1) if table is None else table
    attempts = tuple(
        Attempt(
            Proposal(structure),
            fit=fit(structure, first, target=grammar.target, variables=grammar.variables),
            category="inaccurate",
        )
        for structure in refused
    )
    told = tuple(Trajectory(more, f"e{i}") for i, more in enumerate(later))
    return Evidence(grammar, Roles(), Budget(), Trajectory(first), None, told, attempts)


def rng() -> np.random.Generator:
    """Return a generator that no two calls share."""
    return np.random.default_rng()
