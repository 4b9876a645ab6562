"""Follow the advice once, to the letter: a change of the world's study, whatever was planted.

Nothing is granted that was not named, so that wrong advice changes what it says and helps nobody.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal, assert_never

from alder.bench.causes.forms import Ends
from alder.bench.causes.recipe import Recipe
from alder.expr.operators import OPERATORS
from alder.records.budget import Budget
from alder.records.nextstep import NextStep

# What a laboratory would still do; advice beyond it is followed as far as this.
MOST_REPEATS = 300
MOST_OPERATORS = 2
MOST_NODES, MOST_DEPTH = 41, 24
MOST_PROPOSALS, MOST_QUERIES, MOST_COST = 6, 48, 200.0


def follow(recipe: Recipe, step: NextStep) -> Recipe:
    """Return the world after one step; new rows are measured in it."""
    recipe = replace(recipe, round=recipe.round + 1)
    match step.action:
        case "repeat":
            repeats = int(_number(step, "repeats", 1))
            return replace(recipe, repeats=max(1, min(repeats, MOST_REPEATS)))
        case "allow" | "correct":
            return _say(recipe, step)
        case "measure":
            seen = None if recipe.hidden is None else replace(recipe.hidden, measured=True)
            return replace(recipe, hidden=seen)
        case "explore":
            return _explore(recipe, step)
        case "permit":
            return _permit(recipe, step)
        case "spend":
            return replace(recipe, budget=_budget(recipe.budget, step))
        case _:
            assert_never(step.action)


def _say(recipe: Recipe, step: NextStep) -> Recipe:
    """Allow what was named: operators, nodes, units; or let another proposer speak."""
    had = recipe.saying
    named = [name for name in step.operators if name in OPERATORS and name not in had.operators]
    proposer: Literal["search", "law", "prose"] = (
        "search" if step.settings.get("proposer") == "search" else had.proposer
    )
    said = replace(
        had,
        operators=(*had.operators, *named[:MOST_OPERATORS]),
        max_nodes=_at_most(had.max_nodes, step, "max_nodes", MOST_NODES),
        max_depth=_at_most(had.max_depth, step, "max_depth", MOST_DEPTH),
        units="absorb" if step.settings.get("units") == "absorb" else had.units,
        undeclared=tuple(name for name in had.undeclared if name not in step.variables),
        proposer=proposer,
    )
    return replace(recipe, saying=said)


def _explore(recipe: Recipe, step: NextStep) -> Recipe:
    """Move the named variables: over the named range, or all they can where none was named."""
    narrow = dict(recipe.narrow)
    for name in {*step.variables, *step.ranges}:
        whole = recipe.truth.domain.get(name)
        if name in narrow and whole is not None:
            narrow[name] = _within(step.ranges.get(name, whole), narrow[name], whole)
    is_untied = bool({*step.variables, *step.ranges} & {*recipe.tied})
    return replace(recipe, narrow=narrow, tied=() if is_untied else recipe.tied)


def _within(asked: Ends, had: Ends, whole: Ends) -> Ends:
    """Return the asked range as far as the variable goes; what was measured is kept."""
    low, high = max(min(asked[0], had[0]), whole[0]), min(max(asked[1], had[1]), whole[1])
    return (low, high)


def _permit(recipe: Recipe, step: NextStep) -> Recipe:
    """Permit experiments inside the named ranges, and targets up to the named end."""
    target = recipe.truth.target
    settings: Mapping[str, Ends] = {n: e for n, e in step.ranges.items() if n != target}
    ceiling = recipe.ceiling
    if ceiling is not None and target in step.ranges:
        ceiling = max(ceiling, step.ranges[target][1])
    permitted = settings if recipe.guarded and settings else recipe.permitted
    return replace(recipe, permitted=permitted, ceiling=ceiling)


def _budget(had: Budget, step: NextStep) -> Budget:
    queries = _at_most(had.queries, step, "queries", MOST_QUERIES)
    return replace(
        had,
        proposals=_at_most(had.proposals, step, "proposals", MOST_PROPOSALS),
        queries=queries,
        batch=max(had.batch, min(queries, 8)),
        cost=max(had.cost, min(_number(step, "cost", had.cost), MOST_COST)),
    )


def _at_most(had: int, step: NextStep, name: str, most: int) -> int:
    return max(had, min(int(_number(step, name, had)), most))


def _number(step: NextStep, name: str, usual: float) -> float:
    value = step.settings.get(name, usual)
    return float(value) if isinstance(value, int | float) else usual
