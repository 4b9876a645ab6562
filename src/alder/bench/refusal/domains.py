"""Which rows a world has, where they lie, and the grammar that every study is given."""

from dataclasses import dataclass
from typing import Literal, TypeAlias, final, get_args

import numpy as np

from alder.arrays import FloatArray
from alder.records.grammar import Grammar
from alder.records.variable import Variable

Columns: TypeAlias = dict[str, FloatArray]
Role: TypeAlias = Literal[
    "fit", "validation", "pool", "admission", "shift", "admission-test", "shift-test"
]
"""Public rows first, then the pool, then protected rows, then the two final tests."""

ROLES: tuple[Role, ...] = get_args(Role)
PROTECTED: tuple[Role, ...] = ("admission", "shift", "admission-test", "shift-test")
TESTS: dict[Role, Role] = {"admission": "admission-test", "shift": "shift-test"}
"""The noise-free rows like those of each protected role."""

NAMES = ("x", "v", "u")
TARGET = "y"
GRAMMAR = Grammar(
    variables=tuple(map(Variable, NAMES)),
    target=Variable(TARGET),
    operators=("add", "sub", "mul", "div", "pow", "exp", "tanh"),
    max_nodes=31,
)
"""Its laws are analytic away from poles, have no memory and see three columns."""

N_ROWS: dict[Role, int] = {
    "fit": 128,
    "validation": 48,
    "pool": 128,
    "admission": 192,
    "shift": 192,
    "admission-test": 2048,
    "shift-test": 2048,
}

_NARROW = {"x": (0.5, 2.0), "v": (-1.5, 1.5), "u": (-1.5, 1.5)}
_WIDE = {"x": (0.4, 2.6), "v": (-2.0, 2.0), "u": (-2.0, 2.0)}
_BEYOND = {"x": (2.2, 3.4), "v": (-2.5, 2.5), "u": (-2.5, 2.5)}
RANGES: dict[Role, dict[str, tuple[float, float]]] = {
    "fit": _NARROW,
    "validation": _NARROW,
    "pool": _WIDE,
    "admission": _WIDE,
    "shift": _BEYOND,
    "admission-test": _WIDE,
    "shift-test": _BEYOND,
}


@final
@dataclass(frozen=True, slots=True)
class Setting:
    """What surrounds rows and is no column of them: where they stand, and what chance adds.

    A truth that needs neither ignores it. Rows of one role are in the order they were measured in.
    """

    role: Role
    rng: np.random.Generator


def draw_inputs(role: Role, rng: np.random.Generator, n_rows: int | None = None) -> Columns:
    """Draw the inputs of a role, uniform over its ranges."""
    n = N_ROWS[role] if n_rows is None else n_rows
    return {name: rng.uniform(*ends, n) for name, ends in RANGES[role].items()}
