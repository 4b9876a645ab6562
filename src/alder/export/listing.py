"""A law as straight-line code: one line for each operator, the same for every language.

Lines instead of one nested expression, because compilers and parsers limit nesting, and because
a subtree that occurs twice is computed once.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import assert_never, final

from alder.export.heading import heading
from alder.export.naming import Names, leaf_names
from alder.expr.nodes import Apply, Const, Expr, Param, Var
from alder.expr.operators import is_integer
from alder.records.law import Law

# The results of these lie within 4 of zero and need no saturation unless it is below that.
_BOUNDED = frozenset(
    ("tanh", "sin", "cos", "asin", "acos", "atan", "sign", "softsign", "gate")
)  # fmt: skip
_BOUND = 4.0


@final
@dataclass(frozen=True, slots=True)
class Listing:
    """What a language needs to write a law: names, numbers and lines, all ready to print.

    `limits` holds an argument with the ends of its range; `lines` a name with its right-hand side.
    """

    heading: tuple[str, ...]
    arguments: tuple[str, ...]
    coefficients: tuple[tuple[str, str], ...]
    limits: tuple[tuple[str, str, str], ...]
    lines: tuple[tuple[str, str], ...]
    result: str


def literal(value: float) -> str:
    """Write a number so that Python and C read back the same float64.

    >>> literal(-2.0), literal(1e-150)
    ('(-2.0)', '1e-150')
    """
    text = repr(float(value))
    return f"({text})" if text.startswith("-") else text


def listing(law: Law, templates: Mapping[str, str], reserved: Iterable[str] = ()) -> Listing:
    """Lay a law out in the words of a language.

    `templates` maps an operator to a text with `{0}`, `{1}`, ... for its operands. A power is one
    of three: `pow_integer` (exponent not negative), `pow_inverse` (the exponent's magnitude is
    given) and `pow_real`. Right-hand sides that can leave the range are wrapped in `sat(...)`.
    """
    names = Names(reserved)
    leaves = leaf_names(law, names)
    writer = _Writer(leaves, names, templates, law.floors.saturation < _BOUND)
    result = writer.write(law.structure)
    return Listing(
        heading=tuple(heading(law, leaves)),
        arguments=tuple(leaves[Var(variable.name)] for variable in law.variables),
        coefficients=tuple((leaves[Param(c.name)], repr(float(c.value))) for c in law.coefficients),
        limits=tuple(
            (leaves[Var(name)], literal(low), literal(high))
            for name, (low, high) in law.scope.limits.items()
        ),
        lines=tuple(writer.lines),
        result=result,
    )


@final
@dataclass(slots=True)
class _Writer:
    """Collects the lines of one law; a subtree met again is not written again."""

    leaves: Mapping[Var | Param, str]
    names: Names
    templates: Mapping[str, str]
    saturate_all: bool
    lines: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    known: dict[Expr, str] = field(default_factory=dict[Expr, str])

    def write(self, expr: Expr) -> str:
        """Return the name or number that stands for a tree, after writing the lines it needs."""
        match expr:
            case Const(value):
                return literal(value)
            case Param() | Var():
                return self.leaves[expr]
            case Apply():
                if expr not in self.known:
                    self.known[expr] = self._line(expr)
                return self.known[expr]
            case _:
                assert_never(expr)

    def _line(self, expr: Apply) -> str:
        kind, operands = self._operation(expr)
        right = self.templates[kind].format(*operands)
        if self.saturate_all or kind not in _BOUNDED:
            right = f"sat({right})"
        name = self.names.take(f"t{len(self.lines) + 1}")
        self.lines.append((name, right))
        return name

    def _operation(self, expr: Apply) -> tuple[str, tuple[str, ...]]:
        match expr:
            case Apply(operator, (base, Const(exponent))) if operator.name == "pow":
                if not is_integer(exponent):
                    return "pow_real", (self.write(base), literal(exponent))
                kind = "pow_inverse" if exponent < 0 else "pow_integer"
                return kind, (self.write(base), literal(abs(exponent)))
            case Apply(operator, arguments):
                kind = "pow_real" if operator.name == "powp" else operator.name
                return kind, tuple(map(self.write, arguments))
