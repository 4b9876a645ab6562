"""A found system as laws: one for each state, with what is known of its coefficients."""

import numpy as np

from alder.arrays import FloatArray
from alder.expr.canonical import rename
from alder.expr.nodes import Expr, parameters
from alder.fitting.shooting import Shot
from alder.proposers.states.finding import Found
from alder.proposers.states.model import structures
from alder.records.coefficient import Coefficient
from alder.records.law import Law
from alder.records.noise import Noise
from alder.records.scope import Scope
from alder.records.variable import Variable

_NORMAL = 1.959963984540054  # half of a 95 % interval, in standard errors


def laws_of(found: Found, targets: tuple[str, ...]) -> dict[str, Law]:
    """Return the law of every state whose rate was not known, by the state's name."""
    problem = found.problem
    rates, values = structures(found.model.picks, problem)
    table = np.concatenate([problem.near, problem.samples.inputs], axis=1)
    scope = Scope.of({name: table[:, i] for i, name in enumerate(problem.columns)})
    covariance = _covariance(found.shot, tuple(values))
    laws: dict[str, Law] = {}
    for i, state in enumerate(problem.states):
        if i in problem.known:
            continue
        names = parameters(rates[i])
        chosen = [list(values).index(name) for name in names]
        laws[state] = _law(
            rates[i],
            np.array([values[name] for name in names]),
            covariance[np.ix_(chosen, chosen)],
            Variable(targets[i]),
            scope,
            found,
        )
    return laws


def _law(
    rate: Expr,
    values: FloatArray,
    covariance: FloatArray,
    target: Variable,
    scope: Scope,
    found: Found,
) -> Law:
    """Number the coefficients from one; parameters inside terms keep their letter."""
    problem = found.problem
    fresh: dict[str, str] = {}
    for name in parameters(rate):
        letter = name.rstrip("0123456789")
        fresh[name] = f"{letter}{1 + sum(n.startswith(letter) for n in fresh.values())}"
    coefficients = tuple(
        _coefficient(fresh[name], float(value), float(covariance[k, k]))
        for k, (name, value) in enumerate(zip(parameters(rate), values, strict=True))
    )
    shot = found.shot
    return Law(
        structure=rename(rate, fresh),
        target=target,
        variables=tuple(Variable(name) for name in problem.columns),
        coefficients=coefficients,
        covariance=covariance,
        residual_df=0 if shot is None else max(shot.n_free, 0),
        noise=Noise(0.0, origin="none"),
        scope=scope,
        n_rows=len(problem.samples.times),
        provenance={"fitted by": found.route, "from": "sampled states, without derivatives"},
    )


def _coefficient(name: str, value: float, variance: float) -> Coefficient:
    if not np.isfinite(variance):
        return Coefficient(name, value, np.inf, -np.inf, np.inf, "undetermined")
    error = float(np.sqrt(max(variance, 0.0)))
    return Coefficient(name, value, error, value - _NORMAL * error, value + _NORMAL * error, "free")


def _covariance(shot: Shot | None, names: tuple[str, ...]) -> FloatArray:
    """Return the covariance in the order of the values, in units of the residuals as they are."""
    n = len(names)
    if shot is None or not shot.sound or len(shot.values) != n:
        return np.full((n, n), np.inf)
    return shot.covariance * max(shot.chi2 / max(shot.n_free, 1), 1.0)
