r"""What a law asks one to believe beyond the rows, in nats.

Over narrow ranges several laws describe the rows equally well, and some of them only there: a root
that turns imaginary just outside, a pole there, a power no one has met, terms that are large only
to cancel one another. Each is possible, and the rows decide where they can; where they cannot, the
law without them comes first.
"""

import math
from collections.abc import Iterator, Mapping

import numpy as np

from alder.arrays import FloatArray
from alder.expr.evaluate import evaluate
from alder.expr.nodes import Apply, Const, Expr, Param, parameters, variables, walk
from alder.proposers.search.table import Table

# A law that ends within half a width of the rows.
_ENDS = 3.0
_BEYOND = 0.5
# Exponents and terms so large are nothing unusual.
_USUAL_EXPONENT = 2.0
_USUAL_TERM = 2.0


def doubts(law: Expr, values: Mapping[str, float], table: Table) -> float:
    """Return the price of what a law says where no row is, and of what is unusual in it."""
    wider = {name: _widened(column) for name, column in table.columns.items()}
    ends = {
        node
        for node in _critical(law)
        if variables(node)
        and _keeps_sign(node, values, table, table.columns)
        and not _keeps_sign(node, values, table, wider)
    }
    return _ENDS * len(ends) + _exponents(law, values) + _cancelling(law, values, table)


def _widened(column: FloatArray) -> FloatArray:
    """Stretch a column about its middle; what is positive stays so."""
    low, high = float(column.min()), float(column.max())
    middle = 0.5 * (low + high)
    stretched = middle + (1.0 + 2.0 * _BEYOND) * (column - middle)
    return np.maximum(stretched, 0.5 * low) if low > 0.0 else stretched


def _critical(law: Expr) -> Iterator[Expr]:
    """Yield what must not change sign: bases of broken powers, denominators, what has a log."""
    for node in walk(law):
        match node:
            case Apply(operator, (base, exponent)) if operator.name in ("pow", "powp"):
                whole = isinstance(exponent, Const) and float(exponent.value).is_integer()
                if not whole or (isinstance(exponent, Const) and exponent.value < 0.0):
                    yield base
            case Apply(operator, (_, below)) if operator.name == "div":
                yield below
            case Apply(operator, (inner,)) if operator.name in ("sqrt", "log"):
                yield inner
            case _:
                pass


def _keeps_sign(
    node: Expr, values: Mapping[str, float], table: Table, rows: Mapping[str, FloatArray]
) -> bool:
    own = {name: values[name] for name in parameters(node)}
    with np.errstate(all="ignore"):
        found = evaluate(node, rows, own, table.floors)
    return bool((found > 0.0).all() or (found < 0.0).all())


def _exponents(law: Expr, values: Mapping[str, float]) -> float:
    total = 0.0
    for node in walk(law):
        if isinstance(node, Apply) and node.operator.name in ("pow", "powp"):
            match node.arguments[1]:
                case Const(value):
                    exponent = value
                case Param(name):
                    exponent = values[name]
                case _:
                    continue
            total += math.log1p((exponent / _USUAL_EXPONENT) ** 2)
    return total


def _cancelling(law: Expr, values: Mapping[str, float], table: Table) -> float:
    """Return the price of terms much larger than the target."""
    usual = _USUAL_TERM * float(np.sqrt(np.mean(np.square(table.target))))
    terms = list(_terms(law))
    if usual <= 0.0 or len(terms) == 1:
        return 0.0
    total = 0.0
    for term in terms:
        own = {name: values[name] for name in parameters(term)}
        column = np.broadcast_to(evaluate(term, table.columns, own, table.floors), table.n_rows)
        size = float(np.sqrt(np.mean(np.square(table.observed(column[None, :])))))
        total += math.log1p(min(size / usual, 1e100) ** 2)
    return total


def _terms(law: Expr) -> Iterator[Expr]:
    match law:
        case Apply(operator, (left, right)) if operator.name in ("add", "sub"):
            yield from _terms(left)
            yield from _terms(right)
        case _:
            yield law
