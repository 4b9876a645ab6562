"""What a law may say: variables, target, operators, limits, floors and composition constraints."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, final

from alder.errors import BadGrammar
from alder.expr.operators import OPERATORS, Floors
from alder.records.variable import Variable

UnitCheck: TypeAlias = Literal["absorb", "strict"]


@final
@dataclass(frozen=True, slots=True)
class Nesting:
    """A composition constraint: how often `inner` may stand anywhere below `outer`.

    >>> Nesting("exp", "exp")  # no exponential of an exponential
    Nesting(outer='exp', inner='exp', at_most=0)
    """

    outer: str
    inner: str
    at_most: int = 0

    def __post_init__(self) -> None:
        """Refuse names that are no operators."""
        for name in (self.outer, self.inner):
            require_operator(name)


@final
@dataclass(frozen=True, slots=True)
class Grammar:
    """The language of one study.

    `units` says what unit checking does with parameters: "absorb" lets a parameter take whatever
    unit makes its place consistent, "strict" makes every parameter a pure number. Two composition
    constraints concern kinds of variables: with `angles_in_trig`, angles stand only under
    trigonometric functions (sums and multiples of angles included); with `indicators_as_factors`,
    indicators stand only as a factor of a product, under a gate or as the condition of a `where`.
    """

    variables: Sequence[Variable]
    target: Variable
    operators: Sequence[str] = tuple(OPERATORS)
    max_nodes: int = 31
    max_depth: int = 24
    floors: Floors = field(default_factory=Floors)
    units: UnitCheck = "absorb"
    angles_in_trig: bool = False
    indicators_as_factors: bool = False
    nesting: Sequence[Nesting] = ()

    def __post_init__(self) -> None:
        """Turn sequences into tuples and refuse a grammar that contradicts itself."""
        for name in ("variables", "operators", "nesting"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        names = [variable.name for variable in self.variables]
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise BadGrammar(f"Variables must have different names; {repeated[0]} occurs twice.")
        if self.target.name in names:
            raise BadGrammar(f"`{self.target.name}` is both the target and a variable; pick one.")
        for name in self.operators:
            require_operator(name)
        if self.units not in ("absorb", "strict"):
            raise BadGrammar(f'units is "absorb" or "strict"; got {self.units!r}.')
        for limit in ("max_nodes", "max_depth"):
            if getattr(self, limit) < 1:
                raise BadGrammar(f"{limit} must be at least 1; got {getattr(self, limit)}.")

    @property
    def variable_names(self) -> tuple[str, ...]:
        """The names of the variables, in declared order."""
        return tuple(variable.name for variable in self.variables)


def require_operator(name: str) -> None:
    """Raise `BadGrammar` where no operator has this name."""
    if name not in OPERATORS:
        raise BadGrammar(f"`{name}` is not an operator; {', '.join(OPERATORS)} are.")
