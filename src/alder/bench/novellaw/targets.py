"""A target: the law of one case, drawn from a recipe and a form set."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import cast, final

import numpy as np

from alder.arrays import FloatArray
from alder.bench.novellaw.domains import PAPER_FLOORS, VARIABLES, Columns
from alder.bench.novellaw.pieces import FormSet, Piece
from alder.bench.novellaw.recipes import Recipe
from alder.expr.evaluate import evaluate
from alder.expr.nodes import Expr, size
from alder.expr.text import parse

FORM_SETS = ("a", "b", "c")
"""The form sets."""

HIDDEN = ("c",)
"""Form sets kept out of sight of whoever writes a proposer; no row shows a law of theirs."""

NAMES = tuple(variable.name for variable in VARIABLES)

# What remains of a component when its form is reduced to the plainest one; none for the plainest.
_PLAINER = {
    "velocity": {"range-modulated": "linear", "gated": "linear", "mass-weighted": "linear"},
    "action": {"range-modulated": "additive", "saturating": "additive"},
}


@final
@dataclass(frozen=True, slots=True)
class Target:
    """The law of a case: its structure and coefficients, and its parts as text.

    `parts` are range, context, velocity and action in this order, empty where absent. `plainer`
    are structures in which one component is left out or reduced to the plainest form: a target
    that one of them explains as well does not identify that component.
    """

    recipe: Recipe
    structure: Expr
    values: Mapping[str, float]
    parts: Mapping[str, str]
    plainer: Mapping[str, Expr]

    @property
    def n_nodes(self) -> int:
        """The size of the target."""
        return size(self.structure)

    @property
    def depth(self) -> str:
        """The tier of the paper's failure analysis; the limits in nodes are ours."""
        return "short" if self.n_nodes <= 21 else "medium" if self.n_nodes <= 25 else "deep"

    def value(self, inputs: Columns) -> FloatArray:
        """Return the target without noise."""
        return evaluate(self.structure, inputs, self.values, PAPER_FLOORS)

    def contributions(self, inputs: Columns) -> dict[str, FloatArray]:
        """Return what each addend of the target contributes."""
        product = _product(self.parts["range"], self.parts["context"])
        texts = {
            "range": product,
            "velocity": self.parts["velocity"],
            "action": self.parts["action"],
        }
        return {
            name: evaluate(parse(text, NAMES), inputs, self.values, PAPER_FLOORS)
            for name, text in texts.items()
            if text
        }


def forms(name: str) -> FormSet:
    """Load a form set by its name."""
    return cast(FormSet, import_module(f"alder.bench.novellaw.forms_{name}").FORMS)


def draw_target(recipe: Recipe, form_set: FormSet, rng: np.random.Generator) -> Target:
    """Draw the numbers of a target."""
    parts: dict[str, str] = {}
    values: dict[str, float] = {}
    chosen = {
        "range": form_set.range[recipe.range],
        "context": form_set.context[recipe.context],
        "velocity": form_set.velocity[recipe.velocity],
        "action": form_set.action[recipe.action],
    }
    for name, piece in chosen.items():
        parts[name], drawn = piece.draw(rng)
        values |= drawn
    structure = parse(_law(parts), NAMES)
    return Target(recipe, structure, values, parts, _plainer(recipe, form_set, parts))


def _law(parts: Mapping[str, str]) -> str:
    product = _product(parts["range"], parts["context"])
    return " + ".join(text for text in (product, parts["velocity"], parts["action"]) if text)


def _product(of_range: str, context: str) -> str:
    return f"{of_range}*({context})" if context else of_range


def _plainer(recipe: Recipe, form_set: FormSet, parts: Mapping[str, str]) -> dict[str, Expr]:
    reduced: dict[str, dict[str, str]] = {"range": {"range": "k"}}
    if parts["context"]:
        reduced["context"] = {"context": ""}
    for name, plainer in _PLAINER.items():
        form = getattr(recipe, name)
        if form in plainer:
            pieces: Mapping[str, Piece] = getattr(form_set, name)
            reduced[name] = {name: pieces[plainer[form]].text}
        elif parts[name]:
            reduced[name] = {name: ""}
    return {name: parse(_law({**parts, **change}), NAMES) for name, change in reduced.items()}
