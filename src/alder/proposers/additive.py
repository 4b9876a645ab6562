r"""Sums of declared terms, grown by a few terms a round: a proposer for a small, known vocabulary.

Every round it may add at most `step` terms to the law submitted last, and may drop any. Sets of
terms are screened by their description length (`fitting.intercepts`), the shortest few are fitted,
and the shortest of them is submitted; the others, and what else the rows do not refute, are rivals
between which the next experiment decides.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import final

import numpy as np

from alder.arrays import FloatArray
from alder.errors import BadStudy
from alder.expr.evaluate import evaluate
from alder.expr.nodes import Apply, Const, Expr, Param, parameters
from alder.expr.operators import OPERATORS
from alder.fitting.evidence import fit_all
from alder.fitting.intercepts import Lengths, Rows, lengths_of
from alder.ports import Submission
from alder.records.effort import FULL
from alder.records.evidence import Evidence
from alder.records.proposal import Proposal

# A set whose length exceeds the shortest by more is refuted: odds of e^10 against it.
_REFUTED = 20.0
_MOST_RIVALS = 12
# Lengths that differ by less, a factor of three in odds, do not decide between sets.
_TIE = 2.0
# No instrument is trusted further than this share of the spread of the target.
_FINEST = 1e-6
_PREFIX = "k_"


@final
@dataclass(frozen=True, slots=True)
class Term:
    """A term of a sum, times a coefficient of its own: a name, and an expression of variables.

    A constant is the expression `Const(1.0)`. Terms of one `kind` say the same thing in two ways,
    as a step and a smooth step do, and a law has at most one of a kind.
    """

    name: str
    expr: Expr
    kind: str = ""

    def __post_init__(self) -> None:
        """Let a term be a kind of its own."""
        object.__setattr__(self, "kind", self.kind or self.name)


@final
@dataclass(frozen=True, slots=True)
class Additive:
    """Propose sums of `terms`, from those named in `start`, at most `step` new ones a round.

    At most `compared` structures are fitted in a round. Rows with a weight count with it, and rows
    with a group share an offset that is no part of the law. `only` names the terms of a law that
    was found before: none but that is submitted, and all others are its rivals. `always` names
    terms that every submitted law has: where rows have groups, a constant takes up the mean of
    their offsets, which otherwise moves all coefficients.
    """

    terms: tuple[Term, ...]
    start: tuple[str, ...] = ()
    step: int = 2
    compared: int = 4
    only: tuple[str, ...] = ()
    always: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse names that occur twice, and a start that names no term."""
        names = [term.name for term in self.terms]
        if len(set(names)) < len(names):
            raise BadStudy("Two declared terms have the same name; give each a name of its own.")
        unknown = [name for name in (*self.start, *self.only, *self.always) if name not in names]
        if unknown:
            raise BadStudy(f"`{unknown[0]}` is no declared term; {', '.join(names)} are.")

    @property
    def name(self) -> str:
        """Under this name a configuration knows it: terms, start and step."""
        words = ",".join(term.name for term in self.terms)
        found = f"; only {','.join(self.only)}" if self.only else ""
        return f"additive: {words}; from {','.join(self.start)}; {self.step} a round{found}"

    def propose(self, evidence: Evidence, rng: np.random.Generator) -> Submission | None:
        """Return the shortest sum of terms that was not refused on these rows; without chance."""
        lengths = lengths_of(_rows(self.terms, evidence))
        refused = self._refused(evidence)
        reachable = self._reachable(self._last(evidence))
        start = set(self._numbers(self.start))
        always = set(self._numbers(self.always))
        measured = [
            (lengths.length(K), len(start & set(K)), K) for K in reachable if always <= set(K)
        ]
        shortest = min(measured)[0]
        tied = shortest + _TIE
        # Of sets that the rows cannot tell apart, that nearest to the start comes first.
        scored = sorted(measured, key=lambda one: (max(one[0], tied), -one[1], one[2]))
        open_ = [(length, K) for length, _, K in scored if K not in refused]
        if self.only:
            own = self._numbers((*self.only, *self.always))
            open_ = [] if own in refused else [(lengths.length(own), own)]
        if not open_:
            return None
        shown = open_[: self.compared]
        fits = fit_all([self._proposal(K, lengths) for _, K in shown], evidence, FULL)
        found = [K for (_, K), loss in zip(shown, fits.loss, strict=True) if np.isfinite(loss)]
        if not found:
            return None
        best = found[0]
        standing = [K for length, _, K in scored if length <= shortest + _REFUTED and best != K]
        return Submission(
            self._proposal(best, lengths),
            rivals=tuple(self._proposal(K, lengths) for K in standing[:_MOST_RIVALS]),
            fits=len(shown),
        )

    def structure(self, names: Sequence[str]) -> Expr:
        """Return the sum of the named terms, each with a coefficient of its own.

        >>> from alder.expr.nodes import Var
        >>> from alder.expr.text import to_text
        >>> terms = (Term("bias", Const(1.0)), Term("speed", Var("v")))
        >>> to_text(Additive(terms).structure(("bias", "speed")), ("v",))
        'k_bias + k_speed*v'
        """
        chosen = [term for term in self.terms if term.name in names]
        parts = [_part(term) for term in chosen]
        total: Expr = parts[0] if parts else Const(0.0)
        for part in parts[1:]:
            total = Apply(OPERATORS["add"], (total, part))
        return total

    def term_of(self, parameter: str) -> str:
        """Return the name of the term whose coefficient has this name."""
        return parameter.removeprefix(_PREFIX)

    def terms_of(self, structure: Expr) -> tuple[str, ...] | None:
        """Return the names of the terms of a sum; None where it is no sum of declared terms."""
        every = self.structure([term.name for term in self.terms])
        if structure == every:
            return tuple(term.name for term in self.terms)
        names = tuple(map(self.term_of, parameters(structure)))
        return names if names and self.structure(names) == structure else None

    def shortest(self, names: Sequence[str], evidence: Evidence) -> tuple[tuple[str, ...], float]:
        """Return the shortest set of terms near the named one, and how much longer others are.

        Sets near it are those that one round reaches from it. Sets of the same kinds of terms say
        the same, and are not others.
        """
        lengths = lengths_of(_rows(self.terms, evidence))
        scored = sorted((lengths.length(K), K) for K in self._reachable(self._numbers(names)))
        kinds = {self.terms[j].kind for j in scored[0][1]}
        others = (one for one, K in scored if {self.terms[j].kind for j in K} != kinds)
        found = tuple(self.terms[j].name for j in scored[0][1])
        return found, next(others, np.inf) - scored[0][0]

    def excess(self, names: Sequence[str], evidence: Evidence) -> float:
        """Return how much longer the named set is than the shortest near it, in twice nats."""
        lengths = lengths_of(_rows(self.terms, evidence))
        own = self._numbers(names)
        return lengths.length(own) - min(map(lengths.length, self._reachable(own)))

    def _proposal(self, K: tuple[int, ...], lengths: Lengths) -> Proposal:
        names = [self.terms[j].name for j in K]
        why = f"{' + '.join(names)}: {lengths.length(K):.1f} twice nats on public rows"
        return Proposal(self.structure(names), rationale=why)

    def _last(self, evidence: Evidence) -> tuple[int, ...]:
        """Return the terms of the law submitted last, or those to start from."""
        names: tuple[str, ...] | None = None
        for attempt in reversed(evidence.attempts):
            if attempt.proposal is not None:
                names = self.terms_of(attempt.proposal.structure)
            if names is not None:
                break
        return self._numbers(self.start if names is None else names)

    def _numbers(self, names: Sequence[str]) -> tuple[int, ...]:
        return tuple(j for j, term in enumerate(self.terms) if term.name in names)

    def _refused(self, evidence: Evidence) -> set[tuple[int, ...]]:
        """Return the sets refused on just these rows; more rows give other coefficients."""
        n_rows = evidence.initial.n_rows + sum(t.n_rows for t in evidence.trajectories)
        found: set[tuple[int, ...]] = set()
        for attempt in evidence.attempts:
            if attempt.proposal is None or (attempt.fit and attempt.fit.n_rows < n_rows):
                continue
            names = self.terms_of(attempt.proposal.structure)
            if names is not None:
                found.add(self._numbers(names))
        return found

    def _reachable(self, last: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        """Yield every set that keeps some of the last terms and adds at most `step` others."""
        others = [j for j in range(len(self.terms)) if j not in last]
        for n_kept in range(len(last) + 1):
            for kept in combinations(last, n_kept):
                for n_new in range(self.step + 1):
                    for new in combinations(others, n_new):
                        K = tuple(sorted((*kept, *new)))
                        kinds = [self.terms[j].kind for j in K]
                        if K and len(set(kinds)) == len(kinds):
                            yield K


def _part(term: Term) -> Expr:
    coefficient = Param(_PREFIX + term.name)
    if isinstance(term.expr, Const) and term.expr.value == 1.0:
        return coefficient
    return Apply(OPERATORS["mul"], (coefficient, term.expr))


def columns_of(terms: Sequence[Term], rows: Mapping[str, FloatArray], n: int) -> FloatArray:
    """Return the value of each term in each row, (rows, terms)."""
    return np.column_stack([np.broadcast_to(evaluate(t.expr, rows, {}), n) for t in terms])


def _rows(terms: Sequence[Term], evidence: Evidence) -> Rows:
    table, roles = evidence.rows(), evidence.roles
    y = table[evidence.grammar.target.name]
    X = columns_of(terms, table, len(y))
    weights = np.ones(len(y)) if roles.weight is None else table[roles.weight]
    group, n_groups = np.zeros(len(y), dtype=np.int64), 0
    if roles.group is not None:
        names, index = np.unique(table[roles.group], return_inverse=True)
        group, n_groups = index.reshape(-1).astype(np.int64), len(names)
    spread = float(y.std()) or float(np.abs(y).max()) or 1.0
    return Rows(X, y, weights, group, n_groups, _FINEST * spread)
