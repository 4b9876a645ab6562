"""Which probe next, with the candidate laws fixed: five ways to choose, on the same worlds.

A candidate is the initial law with some of the optional terms. After every query all candidates are
fitted again; the one with the least description length is put to the held-out rows, and the first
that passes ends the trial.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np

from alder.arrays import FloatArray
from alder.bench.articulated.case import Case
from alder.bench.articulated.discovery import Columns, steady
from alder.bench.articulated.probes import N_QUERIES
from alder.bench.articulated.rollout import Probe, Rollout
from alder.bench.articulated.scoring import nmse
from alder.bench.benchmark import Row

SELECTORS = ("passive", "random", "coverage", "uncertainty", "disagreement")
UNRESOLVED = N_QUERIES + 1
"""The cost of a world that six queries do not identify."""

CANDIDATES: tuple[tuple[str, ...], ...] = (
    ("bias", "velocity"),
    ("bias", "velocity", "friction"),
    ("bias", "velocity", "position"),
    ("bias", "velocity", "friction", "position"),
)
_TERMS: Mapping[str, Callable[[Columns], FloatArray]] = {
    "bias": lambda rows: np.ones_like(rows["v"]),
    "velocity": lambda rows: rows["v"],
    "friction": lambda rows: np.sign(rows["v"]),
    "position": lambda rows: rows["q"],
}
ADMITTED = 1e-3
"""The held-out normalised error that identifies a world."""
# Forces are told exactly; errors below this share of their size are rounding, not a worse law.
_FINEST = 1e-5
_RIDGE = 1e-9
# A term that moves the force by less than this share of its spread is no part of the law.
_THRESHOLD = 1e-3
# Candidates whose description is so much longer than the best are out.
_STANDING = 10.0


@final
@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """A candidate with coefficients, and its description length in nats up to a constant."""

    terms: tuple[str, ...]
    coefficients: FloatArray
    length: float

    def predict(self, rows: Columns) -> FloatArray:
        """Return the force in each row."""
        return design(self.terms, rows) @ self.coefficients


@final
@dataclass(frozen=True, slots=True, eq=False)
class Bench:
    """What a selector may see: rows so far, fitted candidates, and the pool's nominal paths."""

    rows: Columns
    fitted: tuple[Fitted, ...]
    paths: tuple[Columns, ...]
    knobs: FloatArray
    asked: tuple[int, ...]
    open: tuple[int, ...]
    rng: np.random.Generator


Choose: TypeAlias = Callable[[Bench], int]


def measure_selector(case: Case, selector: str) -> Row:
    """Choose probes until the law is identified or the budget is spent."""
    stiction = case.settings.stiction
    held_out = joined([steady(rollout, stiction) for rollout in case.admission])
    seen: list[Rollout] = list(case.passive)
    asked: list[int] = []
    rng = np.random.default_rng([case.study_seed, SELECTORS.index(selector)])
    paths = tuple(steady(rollout, stiction) for rollout in case.pool_nominal)
    knobs = _knobs((*case.probes.passive, *case.probes.pool))
    while True:
        rows = joined([steady(rollout, stiction) for rollout in seen])
        fitted = fit_all(rows)
        best = min(fitted, key=lambda one: one.length)
        error = nmse(best.predict(held_out), held_out["force"])
        is_found = error <= ADMITTED
        if is_found or selector == "passive" or len(asked) == N_QUERIES:
            break
        left = tuple(i for i in range(len(paths)) if i not in asked and case.pool_nominal[i].safe)
        bench = Bench(rows, fitted, paths, knobs, tuple(asked), left, rng)
        chosen = _CHOOSE[selector](bench)
        asked.append(chosen)
        seen += case.observe([case.probes.pool[chosen]])
    terms = significant(best, rows) - {"bias", "velocity"}
    return {
        "family": case.world.family,
        "identified": is_found,
        "support": is_found and terms == case.world.terms,
        "queries": len(asked) if is_found else UNRESOLVED,
        "executed": len(asked),
        "queried": asked,
        "held_out_nmse": error,
        "terms": sorted(terms),
        "unsafe": sum(not rollout.safe for rollout in seen),
    }


def design(terms: Sequence[str], rows: Columns) -> FloatArray:
    """Return a column for each term."""
    return np.column_stack([_TERMS[term](rows) for term in terms])


def fit_all(rows: Columns) -> tuple[Fitted, ...]:
    r"""Fit every candidate by ridge regression.

    The length is $\tfrac12 (n \ln \sigma^2 + k \ln n)$ with $\sigma^2$ the mean squared residual,
    no smaller than rounding makes it.
    """
    force = rows["force"]
    n = len(force)
    floor = (_FINEST * float(np.sqrt(np.mean(np.square(force))))) ** 2 + 1e-300
    found: list[Fitted] = []
    for terms in CANDIDATES:
        X = design(terms, rows)
        size = _sizes(X)
        A = X / size
        scaled = np.linalg.solve(A.T @ A + _RIDGE * n * np.eye(len(terms)), A.T @ force)
        c = np.asarray(scaled, dtype=np.float64) / size
        variance = max(float(np.mean(np.square(force - X @ c))), floor)
        length = 0.5 * (n * np.log(variance) + len(terms) * np.log(n))
        found.append(Fitted(terms, c, float(length)))
    return tuple(found)


def _sizes(X: FloatArray) -> FloatArray:
    """Return the root mean square of each column, never zero."""
    mean = np.asarray(np.square(X).mean(axis=0), dtype=np.float64)
    return np.maximum(np.sqrt(mean), 1e-12)


def significant(fitted: Fitted, rows: Columns) -> frozenset[str]:
    """Return the terms that matter: each moves the force by more than a small share of its size."""
    size = float(np.sqrt(np.mean(np.square(rows["force"])))) or 1.0
    moved = np.abs(fitted.coefficients) * _sizes(design(fitted.terms, rows))
    return frozenset(t for t, m in zip(fitted.terms, moved, strict=True) if m > _THRESHOLD * size)


def joined(parts: Sequence[Columns]) -> Columns:
    """Put rows below each other."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _random(bench: Bench) -> int:
    return int(bench.rng.choice(bench.open))


def _coverage(bench: Bench) -> int:
    """Choose the probe farthest, in its settings, from all that were run."""
    n_passive = len(bench.knobs) - len(bench.paths)
    run = [*range(n_passive), *(n_passive + i for i in bench.asked)]
    gaps = [
        min(float(np.linalg.norm(bench.knobs[n_passive + i] - bench.knobs[j])) for j in run)
        for i in bench.open
    ]
    return bench.open[int(np.argmax(gaps))]


def _uncertainty(bench: Bench) -> int:
    """Choose the probe along whose path the fullest candidate is least determined."""
    terms = CANDIDATES[-1]
    X = design(terms, bench.rows)
    size = _sizes(X)
    A = X / size
    C = np.asarray(np.linalg.inv(A.T @ A + _RIDGE * len(A) * np.eye(len(terms))), dtype=np.float64)
    scores: list[float] = []
    for i in bench.open:
        P = design(terms, bench.paths[i]) / size
        scores.append(float(np.sum((P @ C) * P)) / len(P) if len(P) else -np.inf)
    return bench.open[int(np.argmax(scores))]


def _disagreement(bench: Bench) -> int:
    """Choose the probe along whose path the standing candidates differ most."""
    least = min(one.length for one in bench.fitted)
    standing = [one for one in bench.fitted if one.length <= least + _STANDING]
    scores: list[float] = []
    for i in bench.open:
        said = np.stack([one.predict(bench.paths[i]) for one in standing])
        apart = said - np.asarray(said.mean(axis=0), dtype=np.float64)
        scores.append(float(np.square(apart).mean()) if said.size else -np.inf)
    return bench.open[int(np.argmax(scores))]


_CHOOSE: Mapping[str, Choose] = {
    "random": _random,
    "coverage": _coverage,
    "uncertainty": _uncertainty,
    "disagreement": _disagreement,
}


def _knobs(probes: Sequence[Probe]) -> FloatArray:
    """Return the settings of probes, each scaled to about one."""
    return np.array([[p.state / 3.0, p.pull, p.horizon / 17.0, p.prelude or 0.0] for p in probes])


PAPER: Mapping[str, Mapping[str, tuple[str, str, str]]] = {
    "drawer": {
        "passive": ("50.0", "50.0", "3.5"),
        "random": ("100.0", "97.5", "0.5"),
        "coverage": ("100.0", "70.0", "0.5"),
        "uncertainty": ("100.0", "100.0", "0.5"),
        "disagreement": ("100.0", "97.5", "0.5"),
    },
    "door": {
        "passive": ("25.0", "25.0", "7.0"),
        "random": ("100.0", "100.0", "3.0"),
        "coverage": ("100.0", "100.0", "1.5"),
        "uncertainty": ("100.0", "100.0", "1.5"),
        "disagreement": ("100.0", "100.0", "1.5"),
    },
}
"""The paper's identified and support in per cent, and its median queries."""


def selector_figures(rows: Sequence[Row]) -> dict[str, float]:
    """Return the figures of one selector; a failed row is a world never identified."""
    costs = [float(row.get("queries", UNRESOLVED)) for row in rows]
    return {
        "worlds": len(rows),
        "identified": sum(bool(row.get("identified")) for row in rows) / len(rows),
        "support": sum(bool(row.get("support")) for row in rows) / len(rows),
        "queries_median": float(np.median(costs)),
        "queries_mean": float(np.mean(costs)),
        "unsafe": float(sum(row.get("unsafe", 0) for row in rows)),
        "failed": sum("error" in row for row in rows),
    }


def selector_table(kind: str, figures: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Set our figures beside the paper's."""
    lines = [
        f"{'':14} {'identified %':>12} {'support %':>9} {'median':>7} {'mean':>6} {'unsafe':>6}"
    ]
    for selector, paper in PAPER[kind].items():
        if selector not in figures:
            continue
        f = figures[selector]
        lines += [
            f"{selector:14} {100 * f['identified']:12.1f} {100 * f['support']:9.1f} "
            f"{f['queries_median']:7.1f} {f['queries_mean']:6.2f} {f['unsafe']:6.0f}",
            f"{'  paper':14} {paper[0]:>12} {paper[1]:>9} {paper[2]:>7}",
        ]
    return lines
