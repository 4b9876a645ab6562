"""Is the fitter compiled? The first use on a computer takes a while; say so, and check it."""

import sys
import time
from collections.abc import Callable
from typing import Final

import numpy as np

from alder.expr.evaluate import evaluate
from alder.expr.nodes import Apply, Expr, Param, Var
from alder.expr.operators import OPERATORS, Floors
from alder.kernel.compiled import bind
from alder.kernel.compiled import is_cached as _is_cached
from alder.kernel.encode import encode
from alder.kernel.interpret import SIGNATURE, interpret
from alder.kernel.plan import Rows
from alder.kernel.search import evaluate_points, fit_batch
from alder.kernel.starts import golden_steps
from alder.records.effort import SCREENED

Report = Callable[[str], None]

TYPICAL_SECONDS: Final = 40
"""What compiling takes on an ordinary laptop core, for the message to the user."""

_ready = False


def is_cached() -> bool:
    """Say whether the fitter is compiled and kept on disk, so that it starts at once."""
    return _is_cached(fit_batch) and _is_cached(evaluate_points)


def say(message: str) -> None:
    """Write a line to standard error, where progress belongs."""
    sys.stderr.write(message + "\n")
    sys.stderr.flush()


def ensure(report: Report = say) -> None:
    """Compile the fitter, or load it from the cache; report only where it takes a while."""
    global _ready
    if _ready:
        return
    if is_cached():
        _warm_up()
    else:
        report(f"Compiling the fitter, once on this computer (about {TYPICAL_SECONDS} s) ...")
        start = time.perf_counter()
        _warm_up()
        report(f"Compiling the fitter ... done in {time.perf_counter() - start:.1f} s")
    _ready = True


def self_test() -> float:
    """Compare the compiled kernel with the reference on a small law; return the largest error."""
    ensure()
    return _disagreement()


def _disagreement() -> float:
    x = np.linspace(0.5, 2.0, 64)
    law = _sample_law()
    batch = encode([law], ["x"])
    point = np.array([0.7, -1.3])
    values, slopes = np.empty((1, 64)), np.empty((1, 2, 64))
    evaluate_points(
        batch.opcodes, batch.arguments, batch.literals, batch.offsets, np.array([0, 1]),
        point[None, :], _rows(x), values, slopes,
    )  # fmt: skip
    expected = evaluate(law, {"x": x}, dict(zip(batch.parameters[0], point, strict=True)))
    return float(np.max(np.abs(values[0] - expected) / np.abs(expected)))


def _warm_up() -> None:
    bind("alder_interpret", interpret, SIGNATURE)
    x = np.linspace(0.5, 2.0, 8)
    batch = encode([_sample_law()], ["x"])
    bound = np.full(2, 5.0)
    values, reports = np.zeros(2), np.zeros((1, 5))
    fit_batch(
        batch.opcodes, batch.arguments, batch.literals, batch.offsets, np.int64(0), -bound, bound,
        np.array([0, 2]), _rows(x), SCREENED, golden_steps(), values, reports,
    )  # fmt: skip
    _disagreement()


def _sample_law() -> Expr:
    power = Apply(OPERATORS["powp"], (Var("x"), Param("p")))
    return Apply(OPERATORS["mul"], (Param("k"), Apply(OPERATORS["tanh"], (power,))))


def _rows(x: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Rows:
    floors = Floors()
    return Rows(
        x[None, :].copy(),
        np.sin(x),
        np.empty(0),
        np.empty(0, dtype=np.int64),
        0,
        np.ones(2),
        np.array([floors.denominator, floors.base, floors.exponent, floors.saturation]),
        np.empty(0, dtype=np.int64),
    )
