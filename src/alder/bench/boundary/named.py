"""A study of the six-term law in each regime: what does its refusal name?"""

from collections.abc import Mapping

import numpy as np

from alder.arrays import FloatArray
from alder.bench.boundary.regimes import INPUTS, LIBRARY, NOISE, TARGET, Rows
from alder.records.budget import Budget
from alder.records.grammar import Grammar
from alder.records.protected import Protected
from alder.records.variable import Variable
from alder.study.discover import discover
from alder.worlds.log import LogWorld

_ERRORS = "error_bar"
# The library may be said and nothing else: the law it spells out is the only guess.
_OPERATORS = ("add", "sub", "mul", "div", "gate")
_MAX_NODES = 41


def named_cause(rows: Mapping[str, Rows], seed: int) -> str:
    """Return the cause of the refusal, or "admitted".

    The six-term law is the only one proposed, no experiment is on offer, and the noise is known.
    """
    train, validation = _table(rows["train"]), _table(rows["validation"])
    outcome = discover(
        LogWorld(),
        Grammar([*map(Variable, INPUTS)], Variable(TARGET), _OPERATORS, _MAX_NODES),
        initial=train,
        protected=Protected(validation),
        budget=Budget(proposals=2, queries=0),
        proposer="guesses",
        guesses=[LIBRARY],
        sigma=_ERRORS,
        seed=seed,
    )
    return "admitted" if outcome.refusal is None else outcome.refusal.cause


def _table(rows: Rows) -> dict[str, FloatArray]:
    columns = dict(zip(INPUTS, rows.inputs.T, strict=True))
    return {**columns, TARGET: rows.noisy, _ERRORS: np.full(len(rows.noisy), NOISE)}
