"""pysindy on noisy states: every way it has to differentiate, and its weak form.

Each setting chooses its library and its threshold by following validation trajectories, the same
that Alder holds for its own choice, and is then fitted to all public samples.
"""

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from alder.arrays import FloatArray
from alder.bench.extras import load_rival
from alder.expr.nodes import Expr
from alder.expr.text import parse
from alder.fitting.flows import Flow
from alder.fitting.samples import Samples

SETTINGS = (
    "finite-difference", "smoothed-fd", "savitzky-golay", "spline", "weak", "weak-sr3",
    "weak-ensemble",
)  # fmt: skip
"""How rates are had, and with which optimizer where it is not STLSQ."""
_THRESHOLDS = tuple(float(t) for t in np.geomspace(1e-3, 0.5, 5))
_DEGREES = (1, 2, 3)
_RIDGE = 1e-6
_N_DOMAINS = 60


@final
@dataclass(frozen=True, slots=True, eq=False)
class SparseField:
    """A fitted field: terms, and coefficients (states, terms)."""

    terms: tuple[Expr, ...]
    coefficients: FloatArray
    columns: tuple[str, ...]

    def flow(self) -> Flow:
        """Return the field as something that moves."""
        return Flow.library(self.terms, self.columns, len(self.coefficients)).mixed(
            self.coefficients
        )


def fit_setting(setting: str, public: Samples, columns: tuple[str, ...]) -> SparseField:
    """Return the best of a setting: library and threshold by validation, then all samples.

    Ensembles, which take ten fits for one, are tried on the library that plain fits choose.
    """
    rows = _Regression(setting, public, columns)
    held = list(range(3, public.n_segments, 4))
    train = [s for s in range(public.n_segments) if s not in held]
    validation = public.take(held)
    optimizer = _optimizer_name(setting)

    def best(name: str, libraries: Sequence[tuple[int, bool]]) -> tuple[int, bool, float]:
        found = [
            (
                validation_error(rows.fit(library, threshold, name, train), validation),
                library,
                threshold,
            )
            for library in libraries
            for threshold in _THRESHOLDS
        ]
        _, (degree, trig), threshold = min(found)
        return degree, trig, threshold

    every = [(degree, trig) for trig in (False, True) for degree in _DEGREES]
    degree, trig, threshold = best("stlsq" if optimizer == "ensemble" else optimizer, every)
    if optimizer == "ensemble":
        degree, trig, threshold = best(optimizer, [(degree, trig)])
    return rows.fit((degree, trig), threshold, optimizer, [*train, *held])


def validation_error(field: SparseField, held: Samples) -> float:
    """Return the relative square error of solutions from the first validation samples."""
    solution = field.flow().solve(held, held.start_rows(), np.zeros(0), tolerance=1e-6)
    if (solution.reached < np.diff(held.firsts)).any():
        return 1e30
    above = np.square(held.states - solution.states) / np.maximum(held.states.var(axis=0), 1e-300)
    return float(above.sum() / above.size)


class _Regression:
    """Rows of one setting over the largest library; smaller ones are columns of it."""

    def __init__(self, setting: str, samples: Samples, columns: tuple[str, ...]) -> None:
        pysindy = self.pysindy = load_rival("pysindy")
        self.columns = columns
        library = pysindy.ConcatLibrary(
            [
                pysindy.PolynomialLibrary(degree=max(_DEGREES)),
                pysindy.FourierLibrary(n_frequencies=1),
            ]
        )
        parts = [samples.rows_of(s) for s in range(samples.n_segments)]
        make = _Weak() if setting.startswith("weak") else _differentiated(setting)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            self.rows = [
                make(pysindy, library, samples.times[part], samples.states[part]) for part in parts
            ]
        names = library.get_feature_names([f"x{i}" for i in range(len(columns))])
        self.terms = tuple(_term(name, columns) for name in names)
        self.degrees = np.array([_degree(name) for name in names])

    def fit(
        self, library: tuple[int, bool], threshold: float, name: str, segments: Sequence[int]
    ) -> SparseField:
        """Fit with one library and threshold, on columns and rates of unit size."""
        degree, trig = library
        kept = (self.degrees <= degree) & ((self.degrees >= 0) | trig)
        X = np.concatenate([self.rows[s][0] for s in segments])[:, kept]
        y = np.concatenate([self.rows[s][1] for s in segments])
        spread = np.maximum(np.sqrt(np.mean(np.square(X), axis=0)), 1e-300)
        size = np.maximum(np.sqrt(np.mean(np.square(y), axis=0)), 1e-300)
        optimizer = self._make(threshold, name)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # it warns where a threshold removes every term
            optimizer.fit(X / spread, y / size)
        found = np.zeros((y.shape[1], len(self.terms)))
        found[:, kept] = np.asarray(optimizer.coef_, dtype=np.float64) * size[:, None] / spread
        return SparseField(self.terms, np.nan_to_num(found), self.columns)

    def _make(self, threshold: float, name: str) -> Any:  # noqa: ANN401 (pysindy has no types)
        least_squares = self.pysindy.STLSQ(threshold=threshold, alpha=_RIDGE, max_iter=50)
        if name == "sr3":
            return self.pysindy.SR3(
                reg_weight_lam=threshold**2 / 2.0, regularizer="L0", max_iter=200
            )
        if name == "ensemble":
            np.random.seed(0)  # noqa: NPY002 (its bags are drawn from the global state)
            return self.pysindy.EnsembleOptimizer(least_squares, bagging=True, n_models=10)
        return least_squares


def _degree(name: str) -> int:
    """Return the degree of a monomial by its name; -1 for sines and cosines."""
    if "(" in name:
        return -1
    if name == "1":
        return 0
    return sum(int(f.partition("^")[2] or 1) for f in name.split(" "))


def _optimizer_name(setting: str) -> str:
    last = setting.rpartition("-")[2]
    return last if last in ("sr3", "ensemble") else "stlsq"


Rows = Callable[[Any, Any, FloatArray, FloatArray], tuple[FloatArray, FloatArray]]


def _differentiated(setting: str) -> Rows:
    def rows(
        pysindy: Any,  # noqa: ANN401
        library: Any,  # noqa: ANN401
        t: FloatArray,
        x: FloatArray,
    ) -> tuple[FloatArray, FloatArray]:
        span = float(t[-1] - t[0])
        methods: Mapping[str, Callable[[], Any]] = {
            "finite-difference": pysindy.FiniteDifference,
            "savitzky-golay": lambda: pysindy.SINDyDerivative(
                kind="savitzky_golay", left=0.15 * span, right=0.15 * span, order=3
            ),
            "spline": lambda: pysindy.SINDyDerivative(kind="spline", s=_spline_slack(x)),
        }
        method = methods.get(setting, pysindy.SmoothedFiniteDifference)()
        slopes = np.asarray(method(x, t), dtype=np.float64)
        smoothed = getattr(method, "smoothed_x_", None)
        states = np.asarray(x if smoothed is None else smoothed, dtype=np.float64)
        return np.asarray(library.fit_transform(states), dtype=np.float64), slopes

    return rows


class _Weak:
    """The weak form; domains and their weights are made once for each grid of times."""

    def __init__(self) -> None:
        self.made: dict[bytes, Any] = {}

    def __call__(
        self,
        pysindy: Any,  # noqa: ANN401
        library: Any,  # noqa: ANN401
        t: FloatArray,
        x: FloatArray,
    ) -> tuple[FloatArray, FloatArray]:
        library.fit(x)
        if t.tobytes() not in self.made:
            np.random.seed(0)  # noqa: NPY002 (its domains are drawn from the global state)
            weak = pysindy.WeakPDELibrary(
                function_library=library, spatiotemporal_grid=t, K=_N_DOMAINS, p=4,
                H_xt=[0.15 * float(t[-1] - t[0])],
            )  # fmt: skip
            self.made[t.tobytes()] = weak.fit(x)
        weak = self.made[t.tobytes()]
        return (
            np.asarray(weak.transform(x), dtype=np.float64),
            np.asarray(weak.convert_u_dot_integral(x), dtype=np.float64),
        )


def _spline_slack(x: FloatArray) -> float:
    """Return the smoothing of a spline: its own rule, n times the variance of the noise.

    The variance is that of third differences, which a smooth state hardly has.
    """
    third = np.diff(x, n=3, axis=0)
    return float(len(x) * np.mean(np.square(third)) / 20.0)


def _term(name: str, columns: tuple[str, ...]) -> Expr:
    """Read a feature's name, such as `x0^2 x1` or `sin(1 x0)`."""
    text = re.sub(r"\b(sin|cos)\(1 ", r"\1(", name).replace(" ", "*")
    text = re.sub(r"\bx(\d+)\b", lambda found: columns[int(found.group(1))], text)
    return parse(text, columns)
