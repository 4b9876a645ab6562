"""The result of fitting one structure to rows, with what is and is not known about it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import final

from alder.arrays import FloatArray, freeze
from alder.expr.nodes import Expr
from alder.expr.operators import Floors
from alder.records.coefficient import Coefficient, Loss
from alder.records.law import Law
from alder.records.noise import Noise
from alder.records.scope import Scope
from alder.records.variable import Variable


@final
@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """A structure with its coefficients, how well they fit, and how well they are known.

    `loss` is the minimised mean over rows: squared residuals (divided by the variance where error
    bars or weights were given) or class-balanced logistic loss. `covariance` is ordered as
    `coefficients`, after them the literal `exponents` that were read off the rows. `undetermined`
    says in words what the rows do not determine. `residual_df` is rows minus free coefficients and
    offsets. `offsets` holds one number per group.
    """

    structure: Expr
    target: Variable
    variables: tuple[Variable, ...]
    coefficients: tuple[Coefficient, ...]
    covariance: FloatArray
    noise: Noise
    loss: float
    nmse: float
    n_rows: int
    residual_df: int
    converged: bool
    reason: str
    undetermined: tuple[str, ...]
    condition: float
    scope: Scope
    floors: Floors = field(default_factory=Floors)
    offsets: Mapping[str, float] = field(default_factory=dict[str, float])
    objective: Loss = "squared"
    exponents: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        """Freeze what is mutable."""
        object.__setattr__(self, "covariance", freeze(self.covariance))
        object.__setattr__(self, "offsets", MappingProxyType(dict(self.offsets)))

    @property
    def values(self) -> dict[str, float]:
        """The coefficients as a mapping."""
        return {coefficient.name: coefficient.value for coefficient in self.coefficients}

    @property
    def active_bounds(self) -> tuple[str, ...]:
        """Names of the coefficients that lie at a bound."""
        return tuple(c.name for c in self.coefficients if c.state.startswith("at "))

    @property
    def law(self) -> Law:
        """The law this fit found; group offsets are no part of it."""
        return Law(
            structure=self.structure,
            target=self.target,
            variables=self.variables,
            coefficients=self.coefficients,
            covariance=self.covariance,
            residual_df=self.residual_df,
            noise=self.noise,
            scope=self.scope,
            floors=self.floors,
            n_rows=self.n_rows,
            nmse=self.nmse,
            objective=self.objective,
            exponents=self.exponents,
        )
