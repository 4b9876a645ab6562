"""Where rows are drawn: a narrow public domain, wider ones for the rest, another one for shift.

The ranges are ours; the paper says only which of them are narrow, wider and shifted.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.expr.operators import Floors
from alder.records.grammar import Grammar
from alder.records.variable import Variable

Columns: TypeAlias = dict[str, FloatArray]
Span: TypeAlias = tuple[float, float]
Box: TypeAlias = Mapping[str, tuple[Span, ...]]

TARGET = Variable("a", unit="m/s^2", description="radial acceleration")
VARIABLES = (
    Variable("r", unit="m", role="geometry", description="distance"),
    Variable("v", unit="m/s", role="state", description="radial speed"),
    Variable("m1", unit="kg", role="property", description="mass of the first body"),
    Variable("m2", unit="kg", role="property", description="mass of the second body"),
    Variable("s1", unit="m", role="geometry", description="radius of the first body"),
    Variable("s2", unit="m", role="geometry", description="radius of the second body"),
    Variable("u", unit="N", role="action", description="radial action"),
)
OPERATORS = ("add", "sub", "mul", "div", "pow", "exp", "tanh")
MAX_NODES = 31

PAPER_FLOORS = Floors(denominator=1e-6, base=1e-6, exponent=50.0, saturation=1e12)
"""The paper's: denominators at 1e-6; where it gives no number (powers, exponentials), ours."""


@final
@dataclass(frozen=True, slots=True)
class Role:
    """Rows of one role: how many, in which box, and whether their target carries noise."""

    n_rows: int
    box: Box
    noisy: bool = True


def _box(r: tuple[Span, ...], *, mass: Span, radius: Span, signed: Span) -> Box:
    return {
        "r": r,
        "v": (signed,),
        "m1": (mass,),
        "m2": (mass,),
        "s1": (radius,),
        "s2": (radius,),
        "u": (signed,),
    }


# Sizes of speed and action are drawn from these ranges; their signs are random.
_SIGNED = ("v", "u")
_PUBLIC = _box(((0.9, 2.1),), mass=(0.8, 1.6), radius=(0.4, 0.9), signed=(0.0, 1.0))
_WIDER = _box(((0.8, 2.4),), mass=(0.7, 1.8), radius=(0.35, 1.0), signed=(0.0, 1.25))
_POOL = _box(((0.6, 3.0),), mass=(0.5, 2.4), radius=(0.25, 1.3), signed=(0.0, 1.7))
_TEST = _box(((0.65, 2.7),), mass=(0.6, 2.1), radius=(0.3, 1.15), signed=(0.0, 1.6))
# Nearer and further than the public rows, heavier, larger, faster and pushed harder.
_SHIFT = _box(((0.65, 0.85), (2.15, 2.8)), mass=(1.6, 2.3), radius=(0.9, 1.25), signed=(1.0, 1.6))

ROLES: dict[str, Role] = {
    "fit": Role(192, _PUBLIC),
    "validation": Role(96, _PUBLIC),
    "pool": Role(256, _POOL),
    "admission": Role(384, _WIDER),
    "shift": Role(384, _SHIFT),
    "shift-score": Role(384, _SHIFT, noisy=False),
    "functional": Role(4096, _TEST, noisy=False),
}
"""Every role of a case. Only fit and validation are public; pool outcomes are hidden."""


def draw_inputs(box: Box, n_rows: int, rng: np.random.Generator) -> Columns:
    """Draw rows uniformly from a box, the signed variables with a random sign."""
    drawn: Columns = {}
    for name, spans in box.items():
        ends = np.array(spans, dtype=np.float64)[rng.integers(len(spans), size=n_rows)]
        column = ends[:, 0] + (ends[:, 1] - ends[:, 0]) * rng.random(n_rows)
        drawn[name] = (
            column * rng.choice(np.array([-1.0, 1.0]), n_rows) if name in _SIGNED else column
        )
    return drawn


def cost_of(inputs: Columns) -> FloatArray:
    """Return what each query costs: 1 in the public domain, more the further outside it lies."""
    outside = np.zeros(len(inputs["r"]))
    for name, ((low, high),) in _PUBLIC.items():
        column = np.abs(inputs[name])
        beyond = np.maximum(np.maximum(low - column, column - high), 0.0)
        outside += beyond / (high - low)
    return 1.0 + 0.25 * outside


def is_safe(inputs: Columns) -> NDArray[np.bool_]:
    """Say which queries are safe: not fast while near, not at the largest actions."""
    near = (inputs["r"] < 0.8) & (np.abs(inputs["v"]) > 1.2)
    return ~near & (np.abs(inputs["u"]) <= 1.6)


def make_grammar(variables: tuple[Variable, ...], floors: Floors) -> Grammar:
    """Return the grammar of the benchmark; without units of the variables the target has none."""
    target = TARGET if variables[0].unit else Variable(TARGET.name)
    return Grammar(variables, target, OPERATORS, max_nodes=MAX_NODES, floors=floors)
