"""One that wants a law admitted at any price: it overfits, inflates noise, climbs on answers.

It sees public rows and categories, as any proposer does, and writes its laws itself: coefficients,
covariance and noise are whatever it likes.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from typing import TypeAlias, final

import numpy as np

from alder.arrays import FloatArray, freeze
from alder.bench.null.worlds import TARGET, VARIABLES, Rows
from alder.expr.evaluate import evaluate
from alder.expr.nodes import Apply, Expr, Param
from alder.expr.operators import OPERATORS
from alder.expr.text import parse
from alder.records.coefficient import Coefficient
from alder.records.law import Law
from alder.records.noise import Noise
from alder.records.scope import Scope
from alder.records.variable import Variable
from alder.records.verdict import Category

Submit: TypeAlias = Callable[[Law], Category]

# How near an answer is to what the adversary wants.
_RANK: dict[Category, int] = {
    "no-better-than-reference": 1,
    "inaccurate": 2,
    "fails-under-shift": 3,
    "accept": 4,
}


def _features() -> tuple[Expr, ...]:
    """Monomials up to degree four, and waves, steps and saturations of random look."""
    products = [
        "*".join(names)
        for degree in (1, 2, 3, 4)
        for names in combinations_with_replacement(VARIABLES, degree)
    ]
    waves = [f"{wave}({rate}*{name})" for wave in ("sin", "cos", "tanh") for rate in (2, 5, 9)
             for name in VARIABLES]  # fmt: skip
    steps = [f"sign({name} - {place})" for name in VARIABLES for place in (0.4, 0.9, 1.3)]
    return tuple(parse(text, VARIABLES) for text in [*products, *waves, *steps])


def _poles() -> tuple[Expr, ...]:
    """Narrow poles inside the domain: they bend a law at the rows beside them and nowhere else."""
    places = (-0.913, 0.537, 0.911, 1.313)
    texts = [f"0.003/({name} - {place})" for name in VARIABLES for place in places]
    return tuple(parse(text, VARIABLES) for text in texts)


def tally(answers: Sequence[Category]) -> dict[str, int]:
    """Count the answers by category, so that a refusal shows for what it was.

    >>> tally(["unstable", "inaccurate", "unstable"])
    {'inaccurate': 1, 'unstable': 2}
    """
    return dict(sorted(Counter(answers).items()))


@final
@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """A weighted sum of features; `doubt` multiplies the noise it will claim."""

    terms: tuple[int, ...]
    weights: FloatArray
    doubt: float = 1.0


@final
class Adversary:
    """Holds public rows and what was answered so far."""

    def __init__(self, public: Rows, rng: np.random.Generator) -> None:
        """Evaluate every feature once."""
        self.rng = rng
        self.public = public
        plain = _features()
        self.n_plain = len(plain)
        self.features = (*plain, *_poles())
        self.values = np.stack([evaluate(f, public, {}) for f in self.features], axis=1)

    def attack(self, submit: Submit, n_laws: int) -> tuple[Law | None, list[Category]]:
        """Submit up to n_laws laws; return the first that was admitted, and all answers."""
        answers: list[Category] = []
        ranks: list[int] = []
        drafts: list[Draft] = []
        plan = self._plan(drafts, ranks)
        for _ in range(n_laws):
            draft = next(plan)
            law = self.law(draft)
            category = submit(law)
            answers.append(category)
            drafts.append(draft)
            ranks.append(_RANK.get(category, 0))
            if category == "accept":
                return law, answers
        return None, answers

    def _plan(self, drafts: Sequence[Draft], ranks: Sequence[int]) -> Iterator[Draft]:
        """Take turns: an overfit, a nudge to the best so far, the sum of what did well, a pole."""
        while True:
            yield self._overfit()
            yield self._nudge(_best(drafts, ranks))
            yield self._whisper()
            yield self._together(drafts, ranks)
            yield self._spike()

    def _overfit(self) -> Draft:
        """Fit many features to public rows by least squares."""
        n_terms = int(self.rng.integers(1, 20))
        terms = tuple(map(int, self.rng.choice(self.n_plain, n_terms, replace=False)))
        weights = self._least_squares(terms)
        weights[1:] *= self.rng.uniform(0.2, 1.0)
        return Draft(terms, weights, float(self.rng.choice([1.0, 1.5, 3.0])))

    def _spike(self) -> Draft:
        """Fit a few features and poles between rows: unstable, if nobody looks between rows."""
        n_poles = int(self.rng.integers(1, 4))
        chosen = self.rng.choice(len(self.features) - self.n_plain, n_poles, replace=False)
        plain = self.rng.choice(self.n_plain, int(self.rng.integers(0, 6)), replace=False)
        terms = tuple(map(int, (*plain, *(self.n_plain + chosen))))
        return Draft(terms, self._least_squares(terms))

    def _nudge(self, best: Draft) -> Draft:
        """Move the best law a little in a random direction."""
        step = 0.2 * self.rng.normal(size=len(best.weights)) * np.abs(best.weights)
        return replace(best, weights=best.weights + step)

    def _whisper(self) -> Draft:
        """Add little to the mean: an answer then tells the sign of one correlation."""
        term = int(self.rng.integers(self.n_plain))
        y, column = self.public[TARGET], self.values[:, term]
        size = self.rng.choice([-0.3, -0.15, 0.15, 0.3]) * y.std() / (column.std() + 1e-12)
        return Draft((term,), np.array([y.mean() - size * column.mean(), size]))

    def _together(self, drafts: Sequence[Draft], ranks: Sequence[int]) -> Draft:
        """Add up the laws that came furthest."""
        top = max(ranks)
        chosen = [d for d, rank in zip(drafts, ranks, strict=True) if rank == top][-6:]
        terms = tuple(term for draft in chosen for term in draft.terms)[:24]
        slopes = np.concatenate([draft.weights[1:] for draft in chosen])[:24]
        weights = np.concatenate([[0.0], slopes / np.sqrt(len(chosen))])
        weights[0] = float(np.mean(self.public[TARGET] - self._design(terms) @ weights))
        return Draft(terms, weights, 1.5)

    def law(self, draft: Draft) -> Law:
        """Write the law as a fit would, with the covariance of its least squares."""
        J = self._design(draft.terms)
        residuals = self.public[TARGET] - J @ draft.weights
        df = max(len(J) - J.shape[1], 1)
        variance = draft.doubt**2 * float(residuals @ residuals) / df
        names = [f"w{i}" for i in range(J.shape[1])]
        structure: Expr = Param(names[0])
        for name, term in zip(names[1:], draft.terms, strict=True):
            product = Apply(OPERATORS["mul"], (Param(name), self.features[term]))
            structure = Apply(OPERATORS["add"], (structure, product))
        return Law(
            structure=structure,
            target=Variable(TARGET),
            variables=tuple(map(Variable, VARIABLES)),
            coefficients=tuple(
                Coefficient(name, float(w), 0.0, float(w), float(w), "free")
                for name, w in zip(names, draft.weights, strict=True)
            ),
            covariance=freeze(variance * np.linalg.pinv(J.T @ J)),
            residual_df=df,
            noise=Noise(float(np.sqrt(variance))),
            scope=Scope.of({name: self.public[name] for name in VARIABLES}),
            n_rows=len(J),
        )

    def _least_squares(self, terms: Sequence[int]) -> FloatArray:
        solved, *_ = np.linalg.lstsq(self._design(terms), self.public[TARGET], rcond=None)
        return np.array(solved, dtype=np.float64)

    def _design(self, terms: Sequence[int]) -> FloatArray:
        return np.concatenate([np.ones((len(self.values), 1)), self.values[:, list(terms)]], axis=1)


def _best(drafts: Sequence[Draft], ranks: Sequence[int]) -> Draft:
    """Return the latest of the laws that came furthest."""
    return drafts[max(range(len(drafts)), key=lambda i: (ranks[i], i))]
