"""How often the normal form and the fingerprint are wrong, and what they cost.

A miss is a pair of equal laws with different digests: one is the other after random rewrites that
preserve its meaning. A false merge is a pair of different laws with one digest or fingerprint;
whether two laws differ is decided by `evaluate` at points of its own. Run it as

    python benchmarks/canonical.py --trees 2000
"""

import argparse
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import final

import numpy as np
from rich.console import Console
from rich.table import Table

from alder.arrays import FloatArray
from alder.expr.canonical import canonical, digest, skeleton_digest
from alder.expr.edits import at, positions, replace
from alder.expr.evaluate import evaluate, rounding_bound
from alder.expr.fingerprint import fingerprint
from alder.expr.nodes import Apply, Const, Expr, parameters
from alder.expr.operators import OPERATORS
from alder.expr.sample import random_tree

VARIABLES = ("x", "y", "r")
# Two laws are the same at a point if they agree within this multiple of their rounding bounds.
_SLACK = 1e-7
_N_POINTS = 32
# Laws made of these have no switches, so that a few points tell any two of them apart.
SMOOTH = ("add", "sub", "mul", "div", "neg", "pow", "powp", "exp", "log", "sqrt", "tanh", "sin",
          "cos", "atan", "softsign", "gate")  # fmt: skip


@final
@dataclass(frozen=True, slots=True)
class Counts:
    """What one measurement found."""

    n_pairs: int
    digest_misses: int
    fingerprint_misses: int
    n_shared_digests: int
    digest_false_merges: int
    n_shared_fingerprints: int
    fingerprint_false_merges: int


def _apply(name: str, *arguments: Expr) -> Expr:
    return Apply(OPERATORS[name], arguments)


def rewrites(expr: Expr) -> list[Expr]:
    """List trees equal to this one by a single rule at the root."""
    found: list[Expr] = [
        _apply("neg", _apply("neg", expr)),
        _apply("add", expr, Const(0.0)),
        _apply("mul", Const(1.0), expr),
        _apply("pow", expr, Const(1.0)),
        _apply("div", expr, Const(1.0)),
        _apply("max", expr, expr),
    ]
    match expr:
        case Const(value):
            found += [_apply("sub", Const(value), Const(0.0)), _apply("neg", Const(-value))]
        case Apply(operator, (left, right)):
            found += _binary_rewrites(operator.name, left, right)
        case _:
            pass
    return found


def _binary_rewrites(name: str, left: Expr, right: Expr) -> list[Expr]:
    found: list[Expr] = []
    if name in ("add", "mul", "max", "min"):
        found.append(_apply(name, right, left))
        match left, right:
            case Apply(operator, (a, b)), _ if operator.name == name:
                found.append(_apply(name, a, _apply(name, b, right)))
            case _, Apply(operator, (b, c)) if operator.name == name:
                found.append(_apply(name, _apply(name, left, b), c))
            case _:
                pass
    match name, right:
        case "sub", _:
            found.append(_apply("add", left, _apply("mul", Const(-1.0), right)))
            found.append(_apply("neg", _apply("sub", right, left)))
        case "div", _:
            found.append(_apply("mul", left, _apply("pow", right, Const(-1.0))))
        case "pow", Const(2.0):
            found.append(_apply("mul", left, left))
        case "pow", Const(4.0):
            found.append(_apply("pow", _apply("pow", left, Const(2.0)), Const(2.0)))
        case _:
            pass
    return found


def rewritten(rng: np.random.Generator, expr: Expr, n_steps: int) -> Expr:
    """Rewrite a tree at random places, keeping its meaning."""
    for _ in range(n_steps):
        places = positions(expr)
        place = places[int(rng.integers(len(places)))]
        node = at(expr, place)
        if node is None:
            continue
        choices = rewrites(node)
        changed = replace(expr, place, choices[int(rng.integers(len(choices)))])
        # An exponent that was rewritten is no exponent any more, so nothing comes back.
        expr = expr if changed is None else changed
    return expr


def measure(n_trees: int, seed: int, operators: Sequence[str] = tuple(OPERATORS)) -> Counts:
    """Count misses on rewritten pairs, and false merges among all trees drawn."""
    rng = np.random.default_rng(seed)
    sizes = rng.choice([3, 5, 7, 9, 15, 31], n_trees)
    trees = [random_tree(rng, int(size), VARIABLES, operators) for size in sizes]
    pairs = [(tree, rewritten(rng, tree, 6)) for tree in trees]
    shared_digests, wrong_digests = _merges(trees, digest)
    shared_fingerprints, wrong_fingerprints = _merges(trees, fingerprint)
    return Counts(
        n_pairs=len(pairs),
        digest_misses=sum(digest(a) != digest(b) for a, b in pairs),
        fingerprint_misses=sum(fingerprint(a) != fingerprint(b) for a, b in pairs),
        n_shared_digests=shared_digests,
        digest_false_merges=wrong_digests,
        n_shared_fingerprints=shared_fingerprints,
        fingerprint_false_merges=wrong_fingerprints,
    )


def _merges(trees: Iterable[Expr], key: Callable[[Expr], object]) -> tuple[int, int]:
    """Count distinct trees that share a key with an earlier one, and those that should not."""
    groups: dict[object, list[Expr]] = defaultdict(list)
    for tree in dict.fromkeys(trees):
        groups[key(tree)].append(tree)
    shared = [(group[0], other) for group in groups.values() for other in group[1:]]
    return len(shared), sum(differ(first, other) for first, other in shared)


def differ(one: Expr, other: Expr) -> bool:
    """Say whether two laws are different functions, by points no fingerprint uses."""
    rng = np.random.default_rng(987_654_321)
    names = sorted({*parameters(one), *parameters(other)})
    columns = {name: _numbers(rng) for name in VARIABLES}
    for _ in range(4):
        coefficients = {name: float(_numbers(rng)[0]) for name in names}
        gap = np.abs(evaluate(one, columns, coefficients) - evaluate(other, columns, coefficients))
        bound = rounding_bound(one, columns, coefficients)
        bound = bound + rounding_bound(other, columns, coefficients)
        if bool(np.any(gap > _SLACK * bound)):
            return True
    return False


def _numbers(rng: np.random.Generator) -> FloatArray:
    magnitudes = 10.0 ** rng.uniform(-1.0, 1.0, _N_POINTS)
    return magnitudes * rng.choice([-1.0, 1.0], _N_POINTS)


def microseconds(function: Callable[[Expr], object], trees: Sequence[Expr]) -> float:
    """Return the time of one call."""
    start = perf_counter()
    for tree in trees:
        function(tree)
    return (perf_counter() - start) / len(trees) * 1e6


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Misses, false merges and cost of deduplication.")
    parser.add_argument("--trees", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed + 1)
    large = [random_tree(rng, 31, VARIABLES) for _ in range(min(500, options.trees))]
    console = Console()
    for title, operators in (("all operators", tuple(OPERATORS)), ("smooth operators", SMOOTH)):
        counts = measure(options.trees, options.seed, operators)
        console.print(_accuracy(title, counts))
    costs = Table("for 31 nodes", "us")
    for function in (digest, fingerprint, canonical, skeleton_digest):
        costs.add_row(function.__name__, f"{microseconds(function, large):.0f}")
    console.print(costs)


def _accuracy(title: str, counts: Counts) -> Table:
    table = Table(title, "equal pairs", "missed", "merged", "of these false")
    table.add_row(
        "digest",
        str(counts.n_pairs),
        str(counts.digest_misses),
        str(counts.n_shared_digests),
        str(counts.digest_false_merges),
    )
    table.add_row(
        "fingerprint",
        str(counts.n_pairs),
        str(counts.fingerprint_misses),
        str(counts.n_shared_fingerprints),
        str(counts.fingerprint_false_merges),
    )
    return table


if __name__ == "__main__":
    main()
