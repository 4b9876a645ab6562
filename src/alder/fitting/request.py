"""What a user asks to be fitted, checked and in one shape."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, final

from alder.errors import BadParameter
from alder.expr.nodes import Expr, parameters, variables
from alder.expr.text import parse
from alder.records.proposal import Bounds, Proposal
from alder.records.variable import Variable
from alder.spelling import suggestion
from alder.tables import Rows, column_names

Structure: TypeAlias = str | Expr | Proposal
BoundsLike: TypeAlias = Mapping[str, Bounds | tuple[float, float]]


@final
@dataclass(frozen=True, slots=True)
class Request:
    """One structure with the bounds of its free parameters and the values of its fixed ones."""

    structure: Expr
    bounds: Mapping[str, Bounds]
    fixed: Mapping[str, float]
    exponents: tuple[float, ...] = ()


def known_names(
    rows: Rows, target: str, apart: Sequence[str], declared: Sequence[Variable] | None
) -> tuple[str, ...]:
    """Name the columns a law's text may use as variables."""
    if declared is not None:
        return tuple(variable.name for variable in declared)
    return tuple(n for n in column_names(rows) if n != target and n not in apart)


def as_structure(law: Structure, names: Sequence[str]) -> tuple[Expr, Mapping[str, Bounds]]:
    """Read a structure and the bounds it brings along."""
    if isinstance(law, str):
        return parse(law, names), {}
    if isinstance(law, Proposal):
        return law.structure, law.bounds
    return law, {}


def make_request(
    law: Structure,
    names: Sequence[str],
    bounds: BoundsLike | None,
    fixed: Mapping[str, float] | None,
) -> Request:
    """Join declared bounds and fixed values, and refuse names the law does not have."""
    structure, brought = as_structure(law, names)
    declared = dict(brought)
    known = parameters(structure)
    for name in [*(bounds or {}), *(fixed or {})]:
        require_parameter(name, known)
    for name, pair in (bounds or {}).items():
        declared[name] = pair if isinstance(pair, Bounds) else Bounds(*pair)
    held = {name: float(value) for name, value in (fixed or {}).items()}
    for name, value in held.items():
        if name in declared and declared[name].clip(value) != value:
            raise BadParameter(
                f"`{name}` is fixed at {value:g}, outside its bounds {declared[name].lower:g} to "
                f"{declared[name].upper:g}; widen the bounds or drop one of the two."
            )
    return Request(structure, declared, held, exponents_of(law))


def exponents_of(law: Structure) -> tuple[float, ...]:
    """Return the literal exponents that were read off the rows."""
    return law.exponents if isinstance(law, Proposal) else ()


def require_parameter(name: str, known: Sequence[str]) -> None:
    """Raise `BadParameter` unless the law has a parameter of that name."""
    if name not in known:
        there = f"it has {', '.join(known)}" if known else "it has none"
        raise BadParameter(
            f"`{name}` is not a parameter of the law; {there}.{suggestion(name, known)}"
        )


def used_variables(structure: Expr, declared: Sequence[Variable] | None) -> tuple[Variable, ...]:
    """Return the variables of a structure, with what was declared about them."""
    known = {variable.name: variable for variable in declared or ()}
    return tuple(known.get(name, Variable(name)) for name in variables(structure))
