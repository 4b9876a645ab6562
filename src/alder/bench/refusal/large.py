"""Truths the operators could say, with more nodes than the grammar allows."""

from itertools import product

import numpy as np

from alder.arrays import FloatArray
from alder.bench.refusal.domains import NAMES, Columns, Setting
from alder.bench.refusal.family import Truth
from alder.expr.evaluate import evaluate
from alder.expr.nodes import Expr
from alder.expr.text import parse

N_TERMS = 9


def many_terms(rng: np.random.Generator) -> Truth:
    """Draw a sum of nine different products of powers of the variables."""
    return _said(many_terms_law(rng))


def many_terms_law(rng: np.random.Generator) -> Expr:
    """Draw the law itself, to be counted."""
    powers = [p for p in product((0, 1, 2, 3), repeat=len(NAMES)) if 1 < sum(p) <= 4]
    chosen = rng.choice(len(powers), N_TERMS, replace=False)
    terms: list[str] = []
    for i in chosen:
        factors = [f"{n}^{p}" for n, p in zip(NAMES, powers[int(i)], strict=True) if p]
        # Every term counts for about as much over a range that reaches to two.
        size = rng.uniform(0.5, 1.0) * float(rng.choice([-1.0, 1.0])) / 1.3 ** sum(powers[int(i)])
        terms.append(f"({size:.4f})*{'*'.join(factors)}")
    return parse(" + ".join(terms), NAMES)


def chaotic_map(rng: np.random.Generator) -> Truth:
    r"""Draw a logistic map $z \mapsto r z (1 - z)$ of x, iterated a few times."""
    return _said(chaotic_map_law(rng))


def chaotic_map_law(rng: np.random.Generator) -> Expr:
    """Draw the law itself: each iteration has the one before it twice."""
    r, n_iterations = rng.uniform(3.6, 4.0), int(rng.integers(4, 8))
    law = "(0.05 + 0.25*x)"
    for _ in range(n_iterations):
        law = f"{r:.4f}*{law}*(1 - {law})"
    return parse(law, NAMES)


def _said(law: Expr) -> Truth:
    def truth(rows: Columns, setting: Setting) -> FloatArray:
        return evaluate(law, rows, {})

    return truth
