"""The fitters we compare with, each given what it does best.

scipy gets values and derivatives from our compiled kernel, so that what is measured is the
optimizer and not NumPy's evaluation of a tree. pyoperon gets its tree parsed beforehand and only
its own optimizer is timed; only the parameters of the law are free.
"""

import time
from collections.abc import Mapping, Sequence

import numpy as np
import pyoperon
from numpy.typing import NDArray
from scipy.optimize import least_squares
from structures import NONLINEAR_BOUNDS, VARIABLES, bounds_of

from alder.expr.nodes import Apply, Const, Expr, Param, Var, walk
from alder.expr.operators import Floors
from alder.fitting.observations import observe
from alder.fitting.separable import kernel_rows
from alder.kernel.encode import encode
from alder.kernel.engine import evaluate_with_jacobian
from alder.kernel.starts import golden_steps
from alder.records.roles import Roles

RESTARTS = 8
SCIPY_EVALUATIONS = 30
OPERON_ITERATIONS = 30
_INFIX = {
    "add": " + ", "sub": " - ", "neg": " - ", "mul": " * ", "div": " / ", "pow": " ^ ",
    "powp": " ^ ",
}  # fmt: skip

Rows = Mapping[str, NDArray[np.float64]]


def starts(names: Sequence[str]) -> NDArray[np.float64]:
    """Return the same low-discrepancy starts for every fitter; linear parameters start at one."""
    points = np.ones((RESTARTS, len(names)))
    low, high = NONLINEAR_BOUNDS
    lines = [k for k, name in enumerate(names) if name.startswith("p")]
    steps = golden_steps()[len(lines)]
    for n in range(RESTARTS):
        for j, k in enumerate(lines):
            points[n, k] = low + (high - low) * ((0.5 + n * steps[j]) % 1.0)
    return points


def time_scipy(structures: Sequence[Expr], rows: Rows) -> tuple[float, NDArray[np.float64]]:
    """Return CPU seconds and the best sum of squares of each structure."""
    observations = observe(rows, "a", VARIABLES, Roles())
    n = observations.n_rows
    laid_out = kernel_rows(observations, np.ones(n), Floors(), np.arange(n))
    best = np.full(len(structures), np.inf)
    begin = time.process_time()
    for s, structure in enumerate(structures):
        batch = encode([structure], VARIABLES)
        names = batch.parameters[0]
        bounds = bounds_of(structure)
        lower = [bounds.get(name, (-np.inf, np.inf))[0] for name in names]
        upper = [bounds.get(name, (-np.inf, np.inf))[1] for name in names]
        cache: dict[str, NDArray[np.float64]] = {}

        def residuals(point: NDArray[np.float64], batch=batch, cache=cache):
            values, jacobian = evaluate_with_jacobian(batch, point, laid_out)
            cache["J"] = jacobian.T
            return values - observations.target

        def slopes(point: NDArray[np.float64], cache=cache):
            return cache["J"]  # scipy asks for it at the point it evaluated last

        for start in starts(names):
            found = least_squares(
                residuals, start, jac=slopes, bounds=(lower, upper), max_nfev=SCIPY_EVALUATIONS
            )
            best[s] = min(best[s], 2.0 * found.cost)
    return time.process_time() - begin, best


def time_operon(structures: Sequence[Expr], rows: Rows) -> tuple[float, NDArray[np.float64]]:
    """Return CPU seconds inside pyoperon's optimizer and the best sum of squares."""
    table = np.column_stack([*(rows[name] for name in VARIABLES), rows["a"]])
    data = pyoperon.Dataset(table)
    hashes = data.VariableHashes
    symbols = {name: hashes[k] for k, name in enumerate(VARIABLES)}
    problem = pyoperon.Problem(data)
    problem.TrainingRange = pyoperon.Range(0, len(table))
    problem.Target = next(v for v in data.Variables if v.Hash == hashes[-1])
    problem.InputHashes = list(symbols.values())
    table_of_operators = pyoperon.DispatchTable()  # the optimizer does not keep it alive
    optimizer = pyoperon.LMOptimizer(table_of_operators, problem, max_iter=OPERON_ITERATIONS)
    fit = pyoperon.CoefficientOptimizer(optimizer)
    rng = pyoperon.RandomGenerator(1)
    best = np.full(len(structures), np.inf)
    spent = 0.0
    for s, structure in enumerate(structures):
        names = [n.name for n in dict.fromkeys(walk(structure)) if isinstance(n, Param)]
        literals = {np.float32(n.value) for n in walk(structure) if isinstance(n, Const)}
        for start in starts(names):
            values = dict(zip(names, start + 1e-3, strict=True))
            tree = _operon_tree(_infix(structure, values), symbols, literals)
            begin = time.process_time()
            _, summary = fit(rng, tree)
            spent += time.process_time() - begin
            best[s] = min(best[s], summary.FinalCost)
    return spent, best


def _operon_tree(text: str, symbols: Mapping[str, int], literals: set[np.float32]):
    nodes = list(pyoperon.InfixParser.Parse(text, symbols).Nodes)
    for node in nodes:
        free = node.Name == "constant" and np.float32(node.Value) not in literals
        node.Optimize = free and node.Value != 0.0
    return pyoperon.Tree(nodes).UpdateNodes()


def _infix(expr: Expr, values: Mapping[str, float]) -> str:
    match expr:
        case Const(value):
            return f"{value:.6f}"
        case Param(name):
            return f"{values[name]:.6f}"
        case Var(name):
            return name
        case Apply(operator, arguments):
            parts = [_infix(argument, values) for argument in arguments]
            if operator.name == "neg":
                parts.insert(0, "0.000000")
            symbol = _INFIX.get(operator.name)
            return f"({symbol.join(parts)})" if symbol else f"{operator.name}({parts[0]})"
