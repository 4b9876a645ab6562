"""Expression trees: frozen data in a closed union, walked with `match`."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias, assert_never, final

from alder.errors import MalformedLaw
from alder.expr.operators import Operator


@final
@dataclass(frozen=True, slots=True)
class Const:
    """A finite literal."""

    value: float

    def __post_init__(self) -> None:
        """Refuse what is not a finite number."""
        if not math.isfinite(self.value):
            raise MalformedLaw(f"A constant must be finite; got {self.value}.")


@final
@dataclass(frozen=True, slots=True)
class Param:
    """A coefficient to be fitted; the same name twice is the same coefficient."""

    name: str


@final
@dataclass(frozen=True, slots=True)
class Var:
    """A measured quantity. Variables and parameters have separate name spaces."""

    name: str


@final
@dataclass(frozen=True, slots=True)
class Apply:
    """An operator applied to exactly as many arguments as its arity."""

    operator: Operator
    arguments: tuple["Expr", ...]

    def __post_init__(self) -> None:
        """Refuse a wrong number of arguments, and a power whose exponent is of the wrong kind."""
        name, arity = self.operator.name, self.operator.arity
        if len(self.arguments) != arity:
            raise MalformedLaw(f"`{name}` takes {arity} argument(s); got {len(self.arguments)}.")
        if name == "pow" and not isinstance(self.arguments[1], Const):
            raise MalformedLaw(
                "`pow` takes a literal exponent; use `powp` for a parameter exponent, "
                "or exp(y*log(x)) for any other."
            )
        if name == "powp" and not isinstance(self.arguments[1], Param):
            raise MalformedLaw("`powp` takes a parameter exponent; use `pow` for a literal one.")


Expr: TypeAlias = Const | Param | Var | Apply


def size(expr: Expr) -> int:
    """Count the nodes: operators, variables, parameters and literals."""
    match expr:
        case Const() | Param() | Var():
            return 1
        case Apply(_, arguments):
            return 1 + sum(map(size, arguments))
        case _:
            assert_never(expr)


def depth(expr: Expr) -> int:
    """Count the nodes on the longest way from the root to a leaf."""
    match expr:
        case Const() | Param() | Var():
            return 1
        case Apply(_, arguments):
            return 1 + max(map(depth, arguments))
        case _:
            assert_never(expr)


def walk(expr: Expr) -> Iterator[Expr]:
    """Yield every node, parents before children, left before right."""
    yield expr
    if isinstance(expr, Apply):
        for argument in expr.arguments:
            yield from walk(argument)


def parameters(expr: Expr) -> tuple[str, ...]:
    """Name the parameters in order of first appearance."""
    return tuple(dict.fromkeys(node.name for node in walk(expr) if isinstance(node, Param)))


def variables(expr: Expr) -> tuple[str, ...]:
    """Name the variables in order of first appearance."""
    return tuple(dict.fromkeys(node.name for node in walk(expr) if isinstance(node, Var)))
