"""Rivals: edits of the best laws that the grammar permits and the rows do not refute.

Even a single proposal gets rivals this way, so that there is something for an experiment to decide.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import final

import numpy as np

from alder.checking import check
from alder.expr.canonical import digest, skeleton_digest
from alder.expr.edits import (
    Position,
    at,
    factor,
    fresh_parameter,
    positions,
    prune,
    replace,
    share,
)
from alder.expr.nodes import Apply, Const, Expr, Param, Var, parameters, size, variables
from alder.expr.operators import OPERATORS
from alder.expr.sample import EXPONENTS
from alder.records.effort import SCREENED, Tally
from alder.records.evidence import Evidence
from alder.records.grammar import Grammar
from alder.records.proposal import Proposal
from alder.selection.candidates import REFUTED, fit_all
from alder.selection.likelihood import bic

# Edits fitted for each call: a few tenths of a second on one core.
_MOST_EDITS = 512
# Two structures whose losses agree to this share fit the same curve to the rows.
_SAME_LOSS = 1e-6
# Operators of one shape on part of their domain, which only other experiments tell apart.
_ALIKE = (
    ("tanh", "softsign", "atan", "sin", "gate"),
    ("exp", "cos", "sqrt", "log", "abs"),
    ("mul", "div"),
    ("max", "min", "add"),
)


def rivals(
    proposals: Sequence[Proposal],
    evidence: Evidence,
    rng: np.random.Generator,
    *,
    most: int = 16,
    tally: Tally | None = None,
) -> tuple[Proposal, ...]:
    """Return up to `most` rivals of the proposals, the best fits first.

    Every edit of every proposal is considered, or a random share where there are too many. A
    rival passes `check`, is no rewriting of another, and is kept where its BIC is not above that
    of the law it came from by more than refutes a law. Proposals themselves are not among them.
    `tally` counts the fits.
    """
    edits = _distinct(proposals, evidence.grammar)
    if len(edits) > _MOST_EDITS:
        chosen = np.sort(rng.choice(len(edits), _MOST_EDITS, replace=False))
        edits = [edits[int(i)] for i in chosen]
    edits = [e for e in edits if not check(e.proposal.structure, evidence.grammar)]
    if not edits:
        return ()
    fitted = fit_all(proposals, evidence, SCREENED, tally)
    fits = fit_all([e.proposal for e in edits], evidence, SCREENED, tally)
    found = bic(fits, evidence)
    limits = bic(fitted, evidence)[[e.parent for e in edits]] + REFUTED
    order = [int(i) for i in np.argsort(found, kind="stable") if found[i] <= limits[i]]
    known = {skeleton_digest(proposal.structure) for proposal in proposals}
    losses = list(fitted.loss)
    kept: list[Proposal] = []
    for i in order:
        if len(kept) >= most:
            break
        if _is_among(fits.loss[i], losses):
            continue
        identity = skeleton_digest(edits[i].proposal.structure)
        if identity not in known:
            known.add(identity)
            losses.append(fits.loss[i])
            kept.append(edits[i].proposal)
    return tuple(kept)


def _is_among(loss: float, losses: Sequence[float]) -> bool:
    """Say whether a loss was met before: then the structure is another way to write a law."""
    return any(abs(loss - other) <= _SAME_LOSS * other for other in losses)


@final
@dataclass(frozen=True, slots=True)
class _Edit:
    """An edited proposal and the number of the one it came from."""

    proposal: Proposal
    parent: int


def _distinct(proposals: Sequence[Proposal], grammar: Grammar) -> list[_Edit]:
    """List the edits of all proposals that fit the node limit, equal ones once."""
    seen = {digest(proposal.structure) for proposal in proposals}
    found: list[_Edit] = []
    for number, parent in enumerate(proposals):
        for edited in edits_of(parent.structure, grammar):
            if size(edited) > grammar.max_nodes or not variables(edited):
                continue
            identity = digest(edited)
            if identity not in seen:
                seen.add(identity)
                found.append(_Edit(_like(parent, edited), number))
    return found


def _like(parent: Proposal, structure: Expr) -> Proposal:
    """Keep the bounds of the parameters that are left."""
    left = parameters(structure)
    bounds = {name: pair for name, pair in parent.bounds.items() if name in left}
    return Proposal(structure, bounds, rationale="a rival by one edit", scope=parent.scope)


def edits_of(expr: Expr, grammar: Grammar) -> Iterator[Expr]:
    """Yield every single edit of a law, whether or not the grammar permits it."""
    terms = _terms(expr)
    for position in positions(expr):
        made = _alternatives(expr, position, grammar, is_term=position in terms)
        edited = [replace(expr, position, new) for new in made]
        edited += [prune(expr, position), factor(expr, position)]
        yield from (tree for tree in edited if tree is not None)
    shared = (share(expr, new, old) for old, new in combinations(parameters(expr), 2))
    yield from (tree for tree in shared if tree is not None)


def _alternatives(
    expr: Expr, position: Position, grammar: Grammar, *, is_term: bool
) -> Iterator[Expr]:
    """Yield what may stand in the place of one node."""
    node = at(expr, position)
    if node is None:
        return
    yield from _swapped(node, expr, grammar)
    yield from _exponents(node, expr)
    if variables(node):
        yield from _saturated(node, expr)
    if is_term:
        yield from _enriched(node, expr, grammar)


def _swapped(node: Expr, whole: Expr, grammar: Grammar) -> Iterator[Expr]:
    """Another variable for a variable, a coefficient for a literal, a like operator."""
    match node:
        case Var(name):
            yield from (Var(v.name) for v in grammar.variables if v.name != name)
        case Apply(operator, arguments):
            for family in _ALIKE:
                if operator.name in family:
                    yield from (
                        Apply(OPERATORS[other], arguments)
                        for other in family
                        if other != operator.name and OPERATORS[other].arity == operator.arity
                    )
        case Const():
            yield fresh_parameter(whole, "p")
        case Param():
            return


def _exponents(node: Expr, whole: Expr) -> Iterator[Expr]:
    """A power of a variable, another exponent, a fitted exponent for a literal, and back."""
    match node:
        case Var():
            yield _op("powp", node, fresh_parameter(whole, "p"))
            yield from (_op("pow", node, Const(n)) for n in (-1.0, 0.5, 2.0, 3.0))
        case Apply(operator, (base, _)) if operator.name == "pow":
            yield _op("powp", base, fresh_parameter(whole, "p"))
            yield from (_op("pow", base, Const(n)) for n in EXPONENTS)
        case Apply(operator, (base, _)) if operator.name == "powp":
            yield from (_op("pow", base, Const(n)) for n in EXPONENTS)
        case _:
            return


def _saturated(node: Expr, whole: Expr) -> Iterator[Expr]:
    """The same near zero, but levelling off: s tanh(x/s), and without the outer scale."""
    s = fresh_parameter(whole, "s")
    for name in ("tanh", "softsign"):
        bent = _op(name, _op("div", node, s))
        yield bent
        yield _op("mul", s, bent)


def _enriched(term: Expr, whole: Expr, grammar: Grammar) -> Iterator[Expr]:
    """One more variable in a term: as a factor, a decay, a gate, or a term beside it."""
    p, c = fresh_parameter(whole, "p"), fresh_parameter(whole, "c")
    yield _op("add", term, c)
    for variable in grammar.variables:
        x = Var(variable.name)
        yield _op("mul", term, x)
        yield _op("div", term, x)
        yield _op("mul", term, _op("powp", x, p))
        yield _op("mul", term, _op("exp", _op("neg", _op("div", x, p))))
        yield _op("div", term, _op("add", Const(1.0), _op("div", x, p)))
        yield _op("mul", term, _op("gate", _op("mul", p, _op("sub", x, c))))
        yield _op("add", term, _op("mul", c, x))
        yield _op("add", term, _op("mul", c, _op("mul", x, x)))


def _terms(expr: Expr, here: Position = ()) -> tuple[Position, ...]:
    """List the whole law and the terms of its outermost sum."""
    match at(expr, here):
        case Apply(operator, (_, _)) if operator.name in ("add", "sub"):
            left, right = (_terms(expr, (*here, i)) for i in (0, 1))
            return ((), *left, *right) if here == () else (*left, *right)
        case _:
            return (here,)


def _op(name: str, *arguments: Expr) -> Expr:
    return Apply(OPERATORS[name], arguments)
