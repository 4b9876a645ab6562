"""Rivals: sparse regression as its own package tunes it, and the true structure refitted."""

import itertools
import math
import warnings
from types import ModuleType
from typing import Any

import numpy as np

from alder.arrays import FloatArray
from alder.bench.benchmark import Row
from alder.bench.extras import load_rival
from alder.bench.odes.cases import QUERY_ROWS, Case, recorded
from alder.bench.odes.scoring import Follow, score, score_dynamics
from alder.expr.nodes import Apply, Const, Expr, Param, Var
from alder.fitting.fit import fit
from alder.integration import SATURATION, solve
from alder.records.dynamics import Dynamics
from alder.records.law import Law
from alder.records.proposal import Proposal
from alder.records.variable import Variable

_QUERIES = 10
_THRESHOLDS = tuple(float(t) for t in np.geomspace(1e-6, 0.5, 14))
_DEGREES = (1, 2, 3, 4, 5)
_VALIDATION = 0.2


def public_rows(case: Case) -> dict[str, FloatArray]:
    """Return what a method without a choice of its own sees: ten starts in their drawn order."""
    queried = recorded(case.system, case.starts[:_QUERIES], np.linspace(0.0, 1.0, QUERY_ROWS))
    return {n: np.concatenate([case.initial[n], queried[n]]) for n in case.initial}


def oracle(case: Case) -> Row:
    """Refit the numbers of the true structure; what nobody without it can beat."""
    rows, names = public_rows(case), case.system.truth.states
    laws: dict[str, Law] = {}
    for name, law in case.system.truth.laws.items():
        structure = _freed(law.structure, itertools.count())
        found = fit(
            Proposal(structure), rows, target=law.target, variables=tuple(map(Variable, names))
        )
        laws[name] = found.law
    return {**score_dynamics(case.system, Dynamics(laws), admitted=True), "fits": len(names)}


def _freed(expr: Expr, numbers: "itertools.count[int]") -> Expr:
    """Put parameters in place of the numbers of a law; exponents and whole factors stay."""
    match expr:
        case Const(value) if not float(value).is_integer():
            return Param(f"c{next(numbers)}")
        case Const() | Param() | Var():
            return expr
        case Apply(row, (base, exponent)) if row.name == "pow":
            return Apply(row, (_freed(base, numbers), exponent))
        case Apply(row, arguments):
            return Apply(row, tuple(_freed(one, numbers) for one in arguments))


def sindy(case: Case) -> Row:
    """Fit libraries of monomials and sines by sequentially thresholded least squares.

    Library and threshold are those that do best on a fifth of the rows, as the package's own
    examples tune them.
    """
    pysindy = load_rival("pysindy")
    rows, names = public_rows(case), case.system.truth.states
    X = np.column_stack([rows[name] for name in names])
    Y = np.column_stack([rows[f"d{name}_dt"] for name in names])
    held = np.arange(len(X)) % round(1.0 / _VALIDATION) == 0
    best: tuple[float, Any, FloatArray] = (math.inf, None, np.zeros(0))
    for library in _libraries(pysindy):
        library.fit(X)
        Phi = np.asarray(library.transform(X), dtype=np.float64)
        if not np.isfinite(Phi).all() or Phi.shape[1] > 0.6 * len(X):
            continue
        for threshold in _THRESHOLDS:
            weights = _thresholded(pysindy, Phi[~held], Y[~held], threshold)
            rest = np.sum(np.square(Y[held] - Phi[held] @ weights.T))
            error = float(rest / max(np.sum(np.square(Y[held])), 1e-300))
            # Of libraries that fit alike, the sparser: the examples say so too.
            error = max(error, 1e-26) * (1.0 + 0.05 * np.count_nonzero(weights))
            if error < best[0]:
                best = (error, library, weights)
    row = score(case.system, _follow(best[1], best[2]), admitted=None)
    return {**row, "complexity": None, "exact": _sindy_exact(case, best[1], best[2])}


def _libraries(pysindy: ModuleType) -> list[Any]:
    plain = [pysindy.PolynomialLibrary(degree=degree) for degree in _DEGREES]
    return [*plain, pysindy.PolynomialLibrary(degree=2) + pysindy.FourierLibrary(n_frequencies=1)]


def _thresholded(
    pysindy: ModuleType, Phi: FloatArray, Y: FloatArray, threshold: float
) -> FloatArray:
    optimizer = pysindy.STLSQ(threshold=threshold, alpha=1e-12, max_iter=50, normalize_columns=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns where a threshold removes every term
        optimizer.fit(Phi, Y)
    return np.atleast_2d(np.asarray(optimizer.coef_, dtype=np.float64))


def _rates(library: Any, weights: FloatArray, X: FloatArray) -> FloatArray:  # noqa: ANN401
    return np.asarray(library.transform(X), dtype=np.float64) @ weights.T


def _follow(library: Any, weights: FloatArray) -> Follow:  # noqa: ANN401 (pysindy has no types)
    def follow(start: Any, times: FloatArray) -> FloatArray:  # noqa: ANN401
        def f(_t: float, x: FloatArray) -> FloatArray:
            return _rates(library, weights, np.clip(x, -1e60, 1e60)[None, :])[0]

        path = solve(f, np.array(start, dtype=np.float64), times)
        missing = np.full((len(times) - len(path), len(start)), SATURATION)
        return np.vstack([path, missing])

    return follow


def _sindy_exact(case: Case, library: Any, weights: FloatArray) -> list[bool]:  # noqa: ANN401
    from alder.bench.odes.scoring import EXACT, is_defined, random_states

    states = random_states(case.system)
    said = _rates(library, weights, np.column_stack([*states.values()]))
    exact: list[bool] = []
    for i, law in enumerate(case.system.truth.laws.values()):
        there = is_defined(law, states)
        y = law.predict(states)[there]
        close = np.abs(y - said[there, i]) <= EXACT * (np.abs(y) + np.median(np.abs(y)))
        exact.append(bool(close.all()))
    return exact
