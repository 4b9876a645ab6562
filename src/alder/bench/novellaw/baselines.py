"""Rivals that see public rows only: a fixed library, sparse regression, a network, an oracle."""

import copy
import warnings
from typing import Any

import numpy as np

from alder.arrays import FloatArray
from alder.bench.benchmark import Row
from alder.bench.extras import load_rival
from alder.bench.novellaw.cases import join_rows
from alder.bench.novellaw.domains import TARGET, Columns
from alder.bench.novellaw.library import error_of, fit_target, nmse, structures
from alder.bench.novellaw.scoring import Predict, passes, score
from alder.bench.novellaw.variation import Case

# Degree as in the paper; thresholds of sparse regression, on features of unit spread.
_DEGREE = 3
_THRESHOLDS = tuple(float(t) for t in np.geomspace(1e-4, 0.3, 15))
_RIDGE = 1e-6

# The network: as wide and patient as the paper's words allow.
_HIDDEN = (64, 64)
_MOST_EPOCHS, _PATIENCE = 1500, 100


def library(case: Case) -> Row:
    """Fit the six structures of the initial library; the best on validation rows stands."""
    laws = [fit_target(structure, case.rows["fit"], case.grammar) for structure in structures()]
    best = min(laws, key=lambda law: nmse(law, case.rows["validation"]))
    return {
        **score(case, best.predict, admitted=passes(case, best.predict)),
        "law": str(best),
        "fits": len(laws),
    }


def oracle(case: Case) -> Row:
    """Refit the true structure to all public rows: what nobody without it can beat."""
    public = join_rows(case.rows["fit"], case.rows["validation"])
    law = fit_target(case.draw.target.structure, public, case.grammar)
    return {**score(case, law.predict, admitted=passes(case, law.predict)), "fits": 1}


def sindy(case: Case) -> Row:
    """Fit polynomials of degree three by sequentially thresholded least squares.

    The threshold is the one that does best on validation rows. Features are divided by their
    spread, so that one threshold means the same for all.
    """
    pysindy = load_rival("pysindy")
    fit_rows, validation = case.rows["fit"], case.rows["validation"]
    names = case.grammar.variable_names
    polynomials = pysindy.PolynomialLibrary(degree=_DEGREE, include_bias=True)
    X = np.asarray(polynomials.fit_transform(_stack(fit_rows, names)))
    y = fit_rows[TARGET.name]
    spread = np.maximum(X.std(axis=0), 1e-300)
    spread[0] = 1.0
    size = float(y.std())

    def predict_with(weights: FloatArray) -> Predict:
        return lambda rows: (
            size * ((np.asarray(polynomials.transform(_stack(rows, names))) / spread) @ weights)
        )

    found: list[tuple[float, int, FloatArray]] = []
    for threshold in _THRESHOLDS:
        optimizer = pysindy.STLSQ(threshold=threshold, alpha=_RIDGE, max_iter=50)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns where a threshold removes every term
            optimizer.fit(X / spread, (y / size)[:, None])
        weights = np.asarray(optimizer.coef_, dtype=np.float64)[0]
        error = error_of(predict_with(weights)(validation), validation[TARGET.name])
        found.append((error, int(np.count_nonzero(weights)), weights))
    _, n_terms, weights = min(found, key=lambda each: each[:2])
    predict = predict_with(weights)
    return {
        **score(case, predict, admitted=passes(case, predict)),
        "n_terms": n_terms,
        "fits": len(_THRESHOLDS),
    }


def mlp(case: Case) -> Row:
    """Train a network of two hidden layers; it stops where validation rows get worse."""
    network_of = load_rival("sklearn.neural_network").MLPRegressor
    fit_rows, validation = case.rows["fit"], case.rows["validation"]
    names = case.grammar.variable_names
    X, y = _stack(fit_rows, names), fit_rows[TARGET.name]
    centre, spread = X.mean(axis=0), X.std(axis=0)
    mean, size = float(y.mean()), float(y.std())

    def predict_with(network: Any) -> Predict:  # noqa: ANN401 (scikit-learn has no types)
        return lambda rows: (
            mean
            + size
            * np.asarray(network.predict((_stack(rows, names) - centre) / spread), dtype=np.float64)
        )

    network = network_of(
        hidden_layer_sizes=_HIDDEN, activation="tanh", learning_rate_init=3e-3, batch_size=32,
        random_state=case.draw.place.number,
    )  # fmt: skip
    best, least, since = network, np.inf, 0
    for _ in range(_MOST_EPOCHS):
        network.partial_fit((X - centre) / spread, (y - mean) / size)
        error = error_of(predict_with(network)(validation), validation[TARGET.name])
        since += 1
        if error < least:
            best, least, since = copy.deepcopy(network), error, 0
        if since >= _PATIENCE:
            break
    predict = predict_with(best)
    return {**score(case, predict, admitted=passes(case, predict)), "fits": 1}


def _stack(rows: Columns, names: tuple[str, ...]) -> FloatArray:
    return np.stack([rows[name] for name in names], axis=1)
