"""Models of a joint as dynamics of the nominal simulator: laws and networks.

MuJoCo treats damping implicitly and dry friction as a constraint. So a law's terms in velocity and
in its sign go to MuJoCo's own fields, where they act exactly, and the rest of it as an applied
force.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from alder.arrays import FloatArray
from alder.bench.articulated.compiled import NO_FORCE, Force
from alder.bench.articulated.execution import Dynamics
from alder.bench.articulated.rig import Joint
from alder.bench.articulated.rollout import Rollout
from alder.bench.extras import load_rival
from alder.expr.nodes import Apply, Const, Expr, Param, Var
from alder.expr.operators import operator
from alder.expr.sums import summands
from alder.kernel.encode import encode
from alder.records.law import Law

COLUMNS = ("q", "v", "u")
WIDTH = 32
_DECAY = 1e-4
_MOST_ITERATIONS = 400
_RIDGE = 1e-10

_VELOCITY = Var("v")
_SIGN = Apply(operator("sign"), (_VELOCITY,))


def law_dynamics(law: Law) -> Dynamics:
    """Put a law of force over q, v and u into the nominal simulator."""
    return structure_dynamics(law.structure, law.values)


def structure_dynamics(structure: Expr, values: Mapping[str, float]) -> Dynamics:
    """Put a sum of terms with these coefficients into the nominal simulator."""
    slope = drag = 0.0
    rest: list[tuple[float, Expr]] = []
    for sign, term in summands(structure):
        along, against = (_coefficient(term, part, values) for part in (_VELOCITY, _SIGN))
        # Only resistance can be MuJoCo's; what drives the joint is applied.
        if along is not None and sign * along <= 0.0:
            slope += sign * along
        elif against is not None and sign * against <= 0.0:
            drag += sign * against
        else:
            rest.append((sign, term))
    return Dynamics(Joint(-slope, -drag), _applied(rest, values))


def initial_dynamics(passive: Sequence[Rollout]) -> Dynamics:
    """Fit the initial law, a bias and velocity, to passive rows, and put it into the simulator."""
    v, force = (np.concatenate([getattr(r, name) for r in passive]) for name in ("v", "force"))
    A = np.column_stack([np.ones_like(v), v])
    bias, slope = np.linalg.solve(A.T @ A + _RIDGE * np.eye(2), A.T @ force)
    structure = Apply(
        operator("add"),
        (Const(float(bias)), Apply(operator("mul"), (Const(float(slope)), _VELOCITY))),
    )
    return structure_dynamics(structure, {})


def network_dynamics(rollouts: Sequence[Rollout], seed: int) -> Dynamics:
    """Fit a network of two layers of 32 tanh units to the rows; all of it is applied."""
    x = np.column_stack([np.concatenate([getattr(r, name) for r in rollouts]) for name in COLUMNS])
    y = np.concatenate([r.force for r in rollouts])
    centre, spread = x.mean(axis=0), np.maximum(x.std(axis=0), 1e-9)
    offset, size = float(y.mean()), max(float(y.std()), 1e-9)
    network = load_rival("sklearn.neural_network").MLPRegressor(
        hidden_layer_sizes=(WIDTH, WIDTH), activation="tanh", solver="lbfgs", alpha=_DECAY,
        max_iter=_MOST_ITERATIONS, max_fun=2 * _MOST_ITERATIONS, random_state=seed,
    )  # fmt: skip
    _fit_quietly(network, (x - centre) / spread, (y - offset) / size)
    layers = [np.vstack([W, b]) for W, b in zip(network.coefs_, network.intercepts_, strict=True)]
    force = NO_FORCE._replace(
        first=layers[0],
        second=layers[1],
        last=np.ascontiguousarray(layers[2][:, 0]),
        scales=np.array([centre, spread, [offset, size, 0.0]]),
    )
    return Dynamics(Joint(0.0), force)


def _fit_quietly(network: object, x: FloatArray, y: FloatArray) -> None:
    """Fit; that the iterations are spent is how the fit is meant to end."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        getattr(network, "fit")(x, y)  # noqa: B009 (scikit-learn says no types)


def _coefficient(term: Expr, factor: Expr, values: Mapping[str, float]) -> float | None:
    """Return c where the term is c times the factor, and None where it is something else."""
    match term:
        case _ if term == factor:
            return 1.0
        case Apply(row, (Param() | Const() as number, other)) if row.name == "mul":
            return _value(number, values) if other == factor else None
        case Apply(row, (other, Param() | Const() as number)) if row.name == "mul":
            return _value(number, values) if other == factor else None
        case _:
            return None


def _value(number: Param | Const, values: Mapping[str, float]) -> float:
    return values[number.name] if isinstance(number, Param) else number.value


def _applied(rest: Sequence[tuple[float, Expr]], values: Mapping[str, float]) -> Force | None:
    """Return the bytecode of what is left of a law; None where nothing is."""
    if not rest:
        return None
    total: Expr = Const(0.0)
    for sign, term in rest:
        total = Apply(operator("add" if sign > 0.0 else "sub"), (total, term))
    batch = encode([total], COLUMNS, fixed=values)
    return NO_FORCE._replace(
        opcodes=batch.opcodes, arguments=batch.arguments, literals=batch.literals
    )
