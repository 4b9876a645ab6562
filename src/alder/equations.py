"""Laws of a table by size and error, as an estimator shows them."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, final

import numpy as np

from alder.checking import check
from alder.expr.edits import positions, prune
from alder.expr.nodes import Const, Expr, Param, size
from alder.fitting import fit_many
from alder.proposers.search.proposer import Scored, search
from alder.records.evidence import Evidence
from alder.records.law import Law
from alder.records.noise import Noise
from alder.records.proposal import Proposal
from alder.records.scope import Scope

# Residuals below this share of the target are rounding; laws that differ in them fit equally well.
_ROUNDING = 1e-24


@final
class Equation(NamedTuple):
    """One law of the front: its size in nodes, mean square error, score, text, and the law itself.

    `score` is what each node added to the next smaller law brings, in nats of error: minus the
    difference of ln loss over that of complexity.
    """

    complexity: int
    loss: float
    score: float
    text: str
    law: Law


@final
class Front(tuple[Equation, ...]):
    """The laws that no other one beats in both size and error, the smallest first.

    A tuple of records, so that `pandas.DataFrame(model.equations_)` is a table; printed, it is one.
    """

    __slots__ = ()

    def __str__(self) -> str:
        """Write one line for each law."""
        lines = [f"{'':>3} {'complexity':>10} {'loss':>12} {'score':>8}  law"]
        for i, one in enumerate(self):
            lines.append(
                f"{i:>3} {one.complexity:>10} {one.loss:>12.4g} {one.score:>8.3g}  {one.text}"
            )
        return "\n".join(lines)

    def __repr__(self) -> str:
        """Write the table, as notebooks and prompts show it."""
        return str(self)


def candidates(table: Evidence) -> tuple[Scored, ...]:
    """Ask the built-in search for laws, the best first; the one place that names it."""
    rows = table.rows()
    y = rows[table.grammar.target.name]
    if y.min() == y.max():
        return ()
    found = search(table)
    front = [one for one in found.front if not check(one.proposal, table.grammar, rows)]
    if not found.laws:
        return ()
    return (*found.laws, *front, *_smaller(found.laws[0].structure, table))


def _smaller(law: Expr, table: Evidence) -> Iterator[Scored]:
    """Yield what is left of a law, part by part, when the part that is missed least goes first.

    A search passes through few laws much worse than its best; a front shows what each part brings.
    """
    rows, grammar = table.rows(), table.grammar
    while size(law) > 1:
        pruned = dict.fromkeys(prune(law, position) for position in positions(law))
        left = [
            each
            for each in pruned
            if each is not None
            and size(each) < size(law)
            and not check(Proposal(each), grammar, rows)
        ]
        if not left:
            return
        fits = fit_many(
            left,
            rows,
            target=grammar.target,
            variables=grammar.variables,
            weight=table.roles.weight,
            floors=grammar.floors,
        )
        law = left[int(fits.order[0])]
        yield Scored(Proposal(law), {}, np.inf, float(np.min(fits.loss)))


def undominated(found: Sequence[Scored]) -> list[Proposal]:
    """Keep the best one first, then those that no other beats in size and error; a constant too."""
    constant = Proposal(Param("c1"))
    if not found:
        return [constant]
    kept = [found[0].proposal, constant]
    least = np.inf
    for one in sorted(found, key=lambda one: (size(one.structure), one.loss)):
        if one.loss < least:
            least = one.loss
            if one is not found[0]:
                kept.append(one.proposal)
    return kept


def front_of(laws: Sequence[Law], table: Evidence) -> Front:
    """Order laws by size, leave out what a smaller one explains as well, and score the steps.

    The first of the laws, which is the chosen one, stays whatever the others say.
    """
    rows = table.rows()
    y = rows[table.grammar.target.name]
    weights = np.ones(len(y)) if table.roles.weight is None else rows[table.roles.weight]
    least = max(_ROUNDING * float(np.max(np.square(y))), 1e-300)
    measured = [
        (
            size(law.structure),
            float(np.average(np.square(y - law.predict(rows)), weights=weights)),
            law,
        )
        for law in laws
    ]
    front: list[Equation] = []
    lowest = np.inf
    for complexity, loss, law in sorted(measured, key=lambda one: one[:2]):
        floored = max(loss, least)
        if law is not laws[0] and floored >= lowest:
            continue
        score = 0.0
        if front and complexity > front[-1].complexity:
            gain = np.log(max(front[-1].loss, least) / floored)
            score = float(gain) / (complexity - front[-1].complexity)
        front.append(Equation(complexity, loss, score, str(law), law))
        lowest = min(lowest, floored)
    return Front(front)


def constant_law(table: Evidence) -> Law:
    """Return the law of a target that is the same in every row."""
    rows, target = table.rows(), table.grammar.target
    y = rows[target.name]
    return Law(
        structure=Const(float(y[0])),
        target=target,
        variables=(),
        coefficients=(),
        covariance=np.empty((0, 0)),
        residual_df=max(len(y) - 1, 0),
        noise=Noise(0.0),
        scope=Scope.of({}),
        n_rows=len(y),
    )
