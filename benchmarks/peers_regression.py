"""Alder and its peers as regressors: rows in, a formula out, within so many seconds of one core.

Every peer gets the rows, the operators and the largest size that Alder gets, as far as it knows
them. Those that run until they are stopped are stopped by CPU time, not by the clock on the wall.
"""

import shutil
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from alder.expr.nodes import Apply, Const, Expr, Var
from alder.expr.operators import OPERATORS
from alder.expr.text import to_text
from alder.expr.valued import with_values
from alder.kernel.ready import ensure

Array = NDArray[np.float64]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """Rows (n, variables) with their target, what a law may say, and the seconds to find it."""

    names: tuple[str, ...]
    X: Array
    y: Array
    operators: tuple[str, ...]
    max_nodes: int
    seconds: float
    seed: int


@final
@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """A formula in the human syntax of Alder, and what the peer itself predicts with it."""

    text: str
    predict: Callable[[Array], Array]


class NotRun(Exception):
    """A peer cannot run here; the message says why."""


def prepare(method: str) -> None:
    """Import and compile what a method needs, which is nobody's time."""
    if method == "alder":
        from alder.regressor import LawRegressor

        ensure()
        X = np.random.default_rng(0).uniform(1.0, 2.0, (20, 2))
        LawRegressor(("add", "mul"), max_nodes=5).fit(X, X[:, 0] + X[:, 1])
    elif method == "operon":
        import pyoperon.sklearn  # noqa: F401
    elif method == "sindy":
        import pysindy  # noqa: F401
    elif method == "gplearn":
        import gplearn.genetic  # noqa: F401


def alder(task: Task) -> Found:
    """Search with the built-in proposer; it ends by itself."""
    from alder.regressor import LawRegressor

    model = LawRegressor(task.operators, task.max_nodes, n_jobs=1)
    model.fit(task.X, task.y)
    law = with_values(model.law_.structure, model.law_.values)
    names = {f"x{i}": name for i, name in enumerate(task.names)}
    return Found(to_text(_renamed(law, names)), model.predict)


_OPERON = {"pow": "pow,square"}
_OPERON_GENERATIONS = 10**6


def operon(task: Task) -> Found:
    """Evolve with pyoperon: error against length, coefficients by Levenberg-Marquardt.

    It counts seconds on the wall, so that it is asked again, with its last population, until its
    CPU time is used up. The best by the Bayesian criterion on its front is its answer.
    """
    from pyoperon.sklearn import SymbolicRegressor

    symbols = [_OPERON.get(name, name) for name in task.operators]
    model = SymbolicRegressor(
        allowed_symbols=",".join([*symbols, "constant", "variable"]),
        objectives=["r2", "length"],
        max_length=task.max_nodes,
        optimizer_iterations=5,
        epsilon=1e-12,
        generations=_OPERON_GENERATIONS,
        max_evaluations=10**9,
        model_selection_criterion="bayesian_information_criterion",
        warm_start=True,
        random_state=task.seed + 1,
    )
    begin = time.process_time()
    left = task.seconds
    while left >= 1.0:
        model.max_time = int(left)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns of the noise nobody told it
            model.fit(task.X, task.y)
        left = task.seconds - (time.process_time() - begin)
        if model.stats_["generations"] == 0:
            break
    text = model.get_model_string(model.model_, precision=17, names=list(task.names))
    return Found(text, model.predict)


_DEGREE = 3
_THRESHOLDS = np.geomspace(1e-4, 0.3, 15)
_RIDGES = (1e-8, 1e-4, 1e-2)
# Selections whose error on held rows exceeds the least by less are about as good.
_ABOUT = 1.1
_ROUNDING = 1e-20
_FUNCTIONS: Mapping[str, tuple[Callable[[Array], Array], str]] = {
    "exp": (np.exp, "exp({0})"),
    "tanh": (np.tanh, "tanh({0})"),
    "sin": (np.sin, "sin({0})"),
    "cos": (np.cos, "cos({0})"),
    "sqrt": (lambda x: np.sqrt(np.abs(x)), "sqrt(abs({0}))"),
    "log": (lambda x: np.log(np.abs(x)), "log(abs({0}))"),
    "div": (lambda x: 1.0 / x, "(1/{0})"),
}


def sindy(task: Task) -> Found:
    """Select terms with PySINDy: polynomials of degree three, alone or with functions of variables.

    Sequentially thresholded least squares on columns of unit spread. Every third row judges the
    libraries, ridges and thresholds; among those about as good the fewest terms win, which are
    then fitted to all rows.
    """
    import pysindy

    polynomials = pysindy.PolynomialLibrary(degree=_DEGREE, include_bias=True)
    usable = [_FUNCTIONS[name] for name in task.operators if name in _FUNCTIONS]
    library = polynomials + pysindy.CustomLibrary(
        library_functions=[_unary(function) for function, _ in usable],
        function_names=[_unary(form.format) for _, form in usable],
    )
    F = np.asarray(library.fit_transform(task.X))
    names = [n.replace(" ", "*") for n in library.get_feature_names(list(task.names))]
    n_polynomials = np.asarray(polynomials.fit_transform(task.X)).shape[1]
    chosen = _select(pysindy, F, task.y, (n_polynomials, F.shape[1]))
    weights = np.linalg.lstsq(F[:, chosen], task.y)[0]
    terms = [f"{w:.17g}*{names[k]}" for k, w in zip(chosen, weights, strict=True)]

    def predict(X: Array) -> Array:
        with np.errstate(all="ignore"):
            return np.asarray(library.transform(X))[:, chosen] @ weights

    return Found(" + ".join(terms) or "0", predict)


def _select(pysindy: Any, F: Array, y: Array, widths: Sequence[int]) -> NDArray[np.intp]:  # noqa: ANN401
    """Return the columns of the best selection among libraries that are the first so many."""
    good = np.isfinite(F).all(axis=0)
    spread = np.where(good, F, 0.0).std(axis=0)
    usable = np.flatnonzero(good & ((spread > 0.0) | (np.arange(F.shape[1]) == 0)))
    held = np.arange(len(y)) % 3 == 2
    found: list[tuple[float, NDArray[np.intp]]] = []
    for width in widths:
        columns = usable[usable < width]
        scaled = F[:, columns] / np.where(spread[columns] > 0.0, spread[columns], 1.0)
        for ridge in _RIDGES:
            for threshold in _THRESHOLDS:
                kept = _thresholded(pysindy, scaled[~held], y[~held], (float(threshold), ridge))
                weights = np.linalg.lstsq(scaled[~held][:, kept], y[~held])[0]
                error = float(np.mean(np.square(y[held] - scaled[held][:, kept] @ weights)))
                found.append((error, columns[kept]))
    least = min(error for error, _ in found)
    about = max(_ABOUT * least, _ROUNDING * float(np.var(y)))
    return min((kept for error, kept in found if error <= about), key=len)


def _unary(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Wrap what is called: PySINDy counts the arguments in the code of a function."""
    return lambda x: function(x)


def _thresholded(
    pysindy: Any,  # noqa: ANN401 - it has no types
    F: Array,
    y: Array,
    knobs: tuple[float, float],
) -> NDArray[np.intp]:
    threshold, ridge = knobs
    optimizer = pysindy.STLSQ(threshold=threshold, alpha=ridge, max_iter=50)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns where a threshold removes every term
        optimizer.fit(F, (y / y.std())[:, None])
    return np.flatnonzero(np.asarray(optimizer.coef_)[0])


_POPULATION = 1000
_GPLEARN = ("add", "sub", "mul", "div", "sqrt", "log", "sin", "cos")


def gplearn(task: Task) -> Found:
    """Evolve with gplearn, generation by generation, until the CPU time is used up."""
    from gplearn.functions import make_function
    from gplearn.genetic import SymbolicRegressor

    own = {
        "exp": make_function(function=_clipped_exp, name="exp", arity=1),
        "tanh": make_function(function=np.tanh, name="tanh", arity=1),
        "asin": make_function(function=_clipped_asin, name="asin", arity=1),
        "pow": make_function(function=np.square, name="square", arity=1),
    }
    known = [n if n in _GPLEARN else own[n] for n in task.operators if n in _GPLEARN or n in own]
    model = SymbolicRegressor(
        population_size=_POPULATION,
        generations=1,
        function_set=known,
        const_range=(-2.0, 2.0),
        metric="mse",
        init_depth=(2, 5),
        parsimony_coefficient=1e-4 * float(np.var(task.y)),
        warm_start=True,
        low_memory=True,
        random_state=task.seed,
    )
    begin = time.process_time()
    slowest = 0.0
    best: Any = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        while (before := time.process_time() - begin) + slowest < task.seconds:
            model.fit(task.X, task.y)
            if best is None or model._program.raw_fitness_ < best.raw_fitness_:
                best = model._program
            model.generations += 1
            slowest = max(slowest, time.process_time() - begin - before)
    return Found(to_text(_from_prefix(best.program, task.names)), best.execute)


def _clipped_exp(x: Array) -> Array:
    return np.exp(np.clip(x, -50.0, 50.0))


def _clipped_asin(x: Array) -> Array:
    return np.arcsin(np.clip(x, -1.0, 1.0))


def _from_prefix(program: Sequence[Any], names: Sequence[str]) -> Expr:
    """Read a program of gplearn: functions, numbers of variables, and constants, in prefix."""
    rest = iter(program)

    def read() -> Expr:
        node = next(rest)
        if isinstance(node, int | np.integer):
            return Var(names[int(node)])
        if isinstance(node, float | np.floating):
            return Const(float(node))
        arguments = tuple(read() for _ in range(node.arity))
        match node.name:
            case "square":
                return Apply(OPERATORS["pow"], (*arguments, Const(2.0)))
            case "sqrt" | "log":
                return Apply(OPERATORS[node.name], (Apply(OPERATORS["abs"], arguments),))
            case name:
                return Apply(OPERATORS[name], arguments)

    return read()


_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "pow": "^"}


def pysr(task: Task) -> Found:
    """Evolve with PySR where Julia is there; it is looked for, not fetched."""
    if shutil.which("julia") is None:
        raise NotRun("its runtime, Julia, is not installed")
    if find_spec("pysr") is None:
        raise NotRun("the package pysr is not installed")
    from pysr import PySRRegressor

    model = PySRRegressor(
        binary_operators=[_INFIX[name] for name in task.operators if name in _INFIX],
        unary_operators=[name for name in task.operators if name not in _INFIX],
        maxsize=task.max_nodes,
        niterations=10**9,
        timeout_in_seconds=task.seconds,
        precision=64,
        parallelism="serial",
        random_state=task.seed,
        temp_equation_file=True,
        progress=False,
        verbosity=0,
    )
    model.fit(task.X, task.y, variable_names=list(task.names))
    return Found(str(model.sympy()), model.predict)


METHODS: Mapping[str, Callable[[Task], Found]] = {
    "alder": alder,
    "operon": operon,
    "sindy": sindy,
    "gplearn": gplearn,
    "pysr": pysr,
}
"""All methods by name."""


def _renamed(expr: Expr, names: Mapping[str, str]) -> Expr:
    match expr:
        case Var(name):
            return Var(names[name])
        case Apply(operator, arguments):
            return Apply(operator, tuple(_renamed(argument, names) for argument in arguments))
        case _:
            return expr
