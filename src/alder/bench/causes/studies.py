"""From a planted world to a study of it, as a user would write it."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np

from alder.bench.causes.recipe import Recipe
from alder.bench.causes.rows import BATCH, ERRORS, TIME, WorldRows, draw_rows
from alder.expr.json import to_json
from alder.fitting.fit import fit
from alder.ports import Proposer, Submission
from alder.records.evidence import Evidence
from alder.records.grammar import Grammar
from alder.records.outcome import Outcome
from alder.records.protected import Protected
from alder.records.variable import Variable
from alder.study.discover import discover
from alder.study.stages import verify
from alder.verification.criteria import Criteria, Thresholds
from alder.verification.spending import AlphaSpending, Naive
from alder.worlds.pool import PoolWorld

_STRANGE = ("m", "s", "kg", "K", "A", "mol", "cd")
_PROSE = (
    "The target grows with the first variable and saturates.",
    "y = something like a power law; see the residuals",
    '{"law": "unknown"}',
)


@final
@dataclass(frozen=True, slots=True)
class Scripted:
    """A proposer that writes the same texts in turn, whatever the grammar allows."""

    texts: tuple[str, ...]

    def propose(self, evidence: Evidence, rng: np.random.Generator) -> Submission | None:
        """Return the next text."""
        return Submission(self.texts[len(evidence.attempts) % len(self.texts)])


def run_study(recipe: Recipe, ledger: Path) -> Outcome:
    """Run the study of a planted world as it stands."""
    rows = draw_rows(recipe)
    grammar = grammar_of(recipe)
    known = _roles(recipe)
    settings = (*grammar.variable_names, *known.values())
    outcomes = rows.pool[recipe.truth.target]
    limits = None
    if recipe.ceiling is not None:
        limits = {recipe.truth.target: (-np.inf, recipe.ceiling)}
    asked: dict[str, Any] = {"limits": limits, **known}
    return discover(
        PoolWorld(
            {name: rows.pool[name] for name in settings},
            query=outcomes.__getitem__,
            safe=rows.safe,
        ),
        grammar,
        initial=rows.initial,
        validation=rows.validation,
        protected=Protected(rows.admission, rows.shift),
        budget=recipe.budget,
        proposer=_proposer(recipe),
        ledger=ledger,
        seed=recipe.words[-1] % 2**31,
        criteria=_criteria(recipe),
        spending=AlphaSpending() if recipe.accuracy is None else Naive(),
        **asked,
    )


def grammar_of(recipe: Recipe) -> Grammar:
    """Return the grammar: measured variables that are declared, and what may be said of them."""
    said, truth = recipe.saying, recipe.truth
    unseen = "" if recipe.hidden is None or recipe.hidden.measured else recipe.hidden.name
    names = [n for n in truth.variables if n != unseen and n not in said.undeclared]
    units = dict(zip(truth.variables, _STRANGE, strict=False)) if said.strange_units else {}
    variables = [
        Variable(n, unit=units.get(n), range=truth.domain[n] if said.declares_ranges else None)
        for n in names
    ]
    target = Variable(truth.target, unit="N" if said.strange_units else None)
    return Grammar(
        variables, target, said.operators, said.max_nodes, said.max_depth, units=said.units
    )


def is_sound(recipe: Recipe) -> bool:
    """Say whether the true law, fitted with everything run that is safe, is admitted."""
    rows = draw_rows(recipe)
    truth, known = recipe.truth, _roles(recipe)
    public = _joined(rows)
    group, sigma = known.get("group"), known.get("sigma")
    found = fit(
        truth.structure, public, target=truth.target, variables=[*map(Variable, truth.variables)],
        sigma=sigma, group=group,
    )  # fmt: skip
    protected = Protected(rows.admission, rows.shift)
    asked = _criteria(recipe)
    verdict = verify(
        found.law, protected, public=rows.initial, criteria=asked, sigma=sigma, group=group
    )
    return verdict.accepted


@final
@dataclass(frozen=True, slots=True)
class Wrongness:
    """How far an admitted law is from the noise-free truth over the whole domain.

    `beyond` says whether its root mean square error exceeds the bound that its admission stated.
    """

    nmse: float
    beyond: bool


def wrongness(recipe: Recipe, outcome: Outcome) -> Wrongness | None:
    """Hold an admitted law against the truth; None without a law."""
    if outcome.law is None:
        return None
    assert outcome.verdict is not None
    rows = draw_rows(recipe)
    columns = rows.admission if rows.shift is None else rows.shift
    stated = outcome.verdict.bound if rows.shift is None else outcome.verdict.shift_bound
    assert stated is not None
    clean = recipe.truth.outcome(columns)
    squares = np.square(clean - outcome.law.predict(columns))
    return Wrongness(
        nmse=float(np.sum(squares) / np.sum(np.square(clean - clean.mean()))),
        beyond=float(np.sqrt(np.mean(squares))) > stated,
    )


def _joined(rows: WorldRows) -> dict[str, Any]:
    return {
        name: np.concatenate([rows.initial[name], rows.pool[name][rows.safe]])
        for name in rows.initial
    }


def _roles(recipe: Recipe) -> dict[str, str]:
    """Return which columns say something about a row rather than about the world."""
    roles: dict[str, str] = {}
    if recipe.known == "error bars":
        roles["sigma"] = ERRORS
    if recipe.hidden is not None and recipe.hidden.manner in ("drift", "lag"):
        roles["time_column"] = TIME
    if recipe.hidden is not None and recipe.hidden.manner == "batch":
        roles["group"] = BATCH
    return roles


def _criteria(recipe: Recipe) -> Criteria:
    if recipe.accuracy is None:
        return Criteria()
    return Criteria(thresholds=Thresholds(recipe.accuracy, recipe.accuracy))


def _proposer(recipe: Recipe) -> str | Proposer:
    match recipe.saying.proposer:
        case "search":
            return "search"
        case "prose":
            return Scripted(_PROSE)
        case "law":
            tree = to_json(recipe.truth.structure)
            return Scripted((json.dumps({"structure": tree}),))
