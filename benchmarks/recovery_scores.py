"""What a found formula is worth: as delivered, with its numbers refitted, and as a formula."""

import re
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from peers_regression import Found
from recovery_cases import Case

from alder.errors import AlderError
from alder.expr.evaluate import evaluate
from alder.expr.nodes import Apply, Const, Expr, Param, size
from alder.expr.symbolic import to_sympy
from alder.expr.text import parse
from alder.fitting import fit_many
from alder.records.effort import Effort
from alder.records.proposal import Bounds, Proposal

Array = NDArray[np.float64]

EXACT_RELATIVE, EXACT_NMSE = 1e-6, 1e-5
"""Exact: relative error of noiseless laws, NMSE of those found in noise, over a wider domain."""

_LARGEST = 1e30
# Numbers of a peer are polished where they stand; nothing is searched anew.
_POLISH = Effort(pool=1, starts=1, iterations=200, tolerance=1e-15)
_SYMPY_SECONDS = 10
_DIGITS = 6


def score(case: Case, found: Found) -> dict[str, Any]:
    """Return the figures of one formula.

    `exact` is what the peer itself predicts. `exact_refitted` is the same formula with its numbers
    refitted in double precision by our fitter, so that single precision and rough constants do
    not count against a right structure. `symbolic` is what SymPy makes of it in some seconds:
    true, false, or null where it did not decide.
    """
    with np.errstate(all="ignore"):
        wider = np.asarray(found.predict(case.inputs(case.wider)), dtype=np.float64)
        shift = np.asarray(found.predict(case.inputs(case.shift)), dtype=np.float64)
    exact = is_exact(case, wider)
    row: dict[str, Any] = {
        "law": found.text,
        "wider_nmse": nmse(wider, case.wider[case.target]),
        "shift_nmse": nmse(shift, case.shift[case.target]),
        "exact": exact,
        "exact_refitted": exact,
        "symbolic": None,
        "n_nodes": None,
    }
    try:
        law = parse(found.text, case.names)
    except AlderError:  # an exponent that is itself a formula, say
        return row
    row["n_nodes"] = size(law)
    try:
        refitted = refit(law, case)
    except AlderError:  # more parameters than a law may have
        return row
    right = is_exact(case, evaluate(refitted, case.wider, {}))
    return {
        **row,
        "exact_refitted": exact or right,
        "symbolic": _symbolic(law, refitted, case) if exact or right else False,
    }


def nmse(predicted: Array, y: Array) -> float:
    r"""Return $\sum (y - \hat y)^2 / \sum (y - \bar y)^2$; a large number where it has no value."""
    with np.errstate(all="ignore"):
        error = float(np.sum(np.square(y - predicted)) / np.sum(np.square(y - y.mean())))
    return min(error, _LARGEST) if np.isfinite(error) else _LARGEST


def is_exact(case: Case, predicted: Array) -> bool:
    r"""Say whether predictions are right up to rounding, or up to what noise leaves open.

    Relative error is $\sqrt{\sum (y - \hat y)^2 / \sum y^2}$.
    """
    y = case.wider[case.target]
    if case.formula is None:
        return nmse(predicted, y) <= EXACT_NMSE
    with np.errstate(all="ignore"):
        error = float(np.sqrt(np.sum(np.square(y - predicted)) / np.sum(np.square(y))))
    return error <= EXACT_RELATIVE


def refit(law: Expr, case: Case) -> Expr:
    """Refit the numbers of a formula, exponents apart, beginning where they stand."""
    values: dict[str, float] = {}
    structure = _freed(law, values)
    if not values:
        return law
    bounds = {name: Bounds(start=value) for name, value in values.items()}
    fits = fit_many(
        [Proposal(structure, bounds)], case.fit, target=case.target, effort=_POLISH, jobs=1
    )
    polished = fits.values(0)
    if not all(np.isfinite(value) for value in polished.values()):
        return law
    return _filled(structure, polished)


def _freed(expr: Expr, values: dict[str, float]) -> Expr:
    """Put parameters in place of numbers; a literal exponent stays."""
    match expr:
        case Const(value):
            name = f"_n{len(values)}"
            values[name] = value
            return Param(name)
        case Apply(operator, (base, exponent)) if operator.name == "pow":
            return Apply(operator, (_freed(base, values), exponent))
        case Apply(operator, arguments):
            return Apply(operator, tuple(_freed(argument, values) for argument in arguments))
        case _:
            return expr


def _filled(expr: Expr, values: Mapping[str, float]) -> Expr:
    match expr:
        case Param(name):
            return Const(values[name])
        case Apply(operator, arguments):
            return Apply(operator, tuple(_filled(argument, values) for argument in arguments))
        case _:
            return expr


def _symbolic(law: Expr, refitted: Expr, case: Case) -> bool | None:
    """Ask SymPy whether a formula is the truth; None where it takes too long or cannot say."""
    import sympy

    if case.formula is None:
        return None
    symbols = {name: sympy.Symbol(name, positive=True) for name in case.names}
    truth = sympy.sympify(case.formula, locals=symbols)
    try:
        with _at_most(_SYMPY_SECONDS):
            for each in (law, refitted):
                formula = to_sympy(each)
                plain = {s: symbols[s.name] for s in formula.free_symbols}
                rest = _tidy(formula.xreplace(plain)) - _tidy(truth)
                if sympy.simplify(rest) == 0 or sympy.simplify(sympy.expand(rest)) == 0:
                    return True
    except (TimeoutError, ArithmeticError, RecursionError, NotImplementedError):
        return None
    return False


def _tidy(formula: Any) -> Any:  # noqa: ANN401 - sympy has no types
    """Multiply numbers out and round each to six digits and six decimals, as exact fractions."""
    import sympy

    formula = sympy.sympify(formula).evalf(15)
    rounded = {
        number: sympy.Rational(_shortest(float(number))) for number in formula.atoms(sympy.Float)
    }
    return formula.xreplace(rounded)


def _shortest(number: float) -> str:
    text = f"{number:.{_DIGITS}g}" if abs(number) > 10.0**-_DIGITS else "0"
    return re.sub(r"\.0+$", "", text)


@contextmanager
def _at_most(seconds: int) -> Iterator[None]:
    """Raise `TimeoutError` after so many seconds; for the main thread of a process."""

    def stop(_signal: int, _frame: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
