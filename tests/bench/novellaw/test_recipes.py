from collections import Counter
from typing import get_args

import numpy as np
import pytest

from alder.bench.novellaw.cases import GRAMMAR
from alder.bench.novellaw.domains import MAX_NODES, OPERATORS
from alder.bench.novellaw.recipes import INSTANCES, PLACES, RECIPES, Recipe, Split
from alder.bench.novellaw.targets import FORM_SETS, draw_target, forms
from alder.checking import check
from alder.expr.canonical import skeleton_digest
from alder.records.proposal import Proposal

EVERY = sorted({recipe for recipes in RECIPES.values() for recipe in recipes}, key=str)


def test_splits_have_the_sizes_of_the_paper() -> None:
    assert {split: len(recipes) for split, recipes in RECIPES.items()} == {
        "development": 8,
        "iid": 4,
        "compositional": 12,
        "stress": 4,
    }
    counted = Counter(place.split for place in PLACES.values())
    assert counted == {"development": 16, "iid": 12, "compositional": 36, "stress": 12}
    assert set(INSTANCES) == set(get_args(Split))


@pytest.mark.parametrize(
    ("split", "n_reserved"), [("development", 0), ("iid", 0), ("compositional", 1), ("stress", 2)]
)
def test_a_split_holds_exactly_its_number_of_reserved_pairs(split: Split, n_reserved: int) -> None:
    assert {recipe.n_reserved for recipe in RECIPES[split]} == {n_reserved}


def test_iid_recipes_are_those_of_development_and_no_others_are() -> None:
    development = set(RECIPES["development"])
    assert set(RECIPES["iid"]) <= development
    assert not development & {*RECIPES["compositional"], *RECIPES["stress"]}


@pytest.mark.parametrize("form_set", FORM_SETS)
def test_development_shows_every_component(form_set: str) -> None:
    known = forms(form_set)
    for name in ("range", "context", "velocity", "action"):
        shown = {getattr(recipe, name) for recipe in RECIPES["development"]}
        assert shown == set(getattr(known, name))


def test_every_reserved_pair_occurs_in_the_evaluation() -> None:
    evaluation = (*RECIPES["compositional"], *RECIPES["stress"])
    contexts = {(r.range, r.context) for r in evaluation if _reserves_context(r)}
    assert len(contexts) == 4
    assert len({(r.velocity, r.action) for r in evaluation if _reserves_action(r)}) == 4


def _reserves_context(recipe: Recipe) -> bool:
    return Recipe(recipe.range, recipe.context, "linear", "additive").n_reserved == 1


def _reserves_action(recipe: Recipe) -> bool:
    return Recipe("power", "identity", recipe.velocity, recipe.action).n_reserved == 1


@pytest.mark.parametrize("form_set", FORM_SETS)
def test_every_target_is_a_law_of_the_grammar(form_set: str) -> None:
    rng = np.random.default_rng(0)
    for recipe in EVERY:
        target = draw_target(recipe, forms(form_set), rng)
        assert check(Proposal(target.structure), GRAMMAR) == ()
        assert target.n_nodes <= MAX_NODES
    assert GRAMMAR.operators == OPERATORS


def test_form_sets_share_names_and_hardly_any_algebra() -> None:
    rng = np.random.default_rng(0)
    same = 0
    for recipe in EVERY:
        drawn = {skeleton_digest(draw_target(recipe, forms(f), rng).structure) for f in FORM_SETS}
        same += len(drawn) < len(FORM_SETS)
    assert same == 0


def test_coefficients_of_components_do_not_collide() -> None:
    for form_set in FORM_SETS:
        known = forms(form_set)
        for recipe in EVERY:
            pieces = [getattr(known, n)[getattr(recipe, n)] for n in
                      ("range", "context", "velocity", "action")]  # fmt: skip
            names = [name for piece in pieces for name in piece.coefficients]
            assert len(names) == len(set(names))
