"""Plant what a study may not do: the experiments it needs are not safe, or not paid for."""

import numpy as np

from alder.bench.causes.forms import NEAR_ZERO, POSITIVE, Form
from alder.bench.causes.lacking import curved, part, simple, sizes, tested, usual
from alder.bench.causes.recipe import Recipe
from alder.bench.causes.truth import draw_truth, uniform
from alder.records.budget import Budget
from alder.records.nextstep import NextStep

SAFETY = ("guarded", "guarded, one variable", "ceiling")
BUDGET = ("no queries", "one of each", "one proposal", "cost")

_RISING = (
    Form("{k}*{x}/({c} + {x})", ("mul", "div", "add"), NEAR_ZERO, place=(0.4, 1.5)),
    Form("{k}*sqrt({x})", ("mul", "sqrt"), POSITIVE),
    Form("{k}*{x}*{x}", ("mul",), POSITIVE),
    Form("{k}*exp({q}*{x})", ("mul", "exp"), POSITIVE, (0.4, 0.9)),
)
"""Forms that rise all along: beyond what was measured lie higher targets only."""


def plant_safety(kind: str, words: tuple[int, ...], rng: np.random.Generator) -> Recipe:
    """Let public rows fill a corner and forbid the rest: by place, or by a limit on the target."""
    budget = Budget(proposals=3, queries=int(rng.integers(16, 33)), batch=8)
    if kind == "ceiling":
        return _ceiling(words, rng, budget)
    truth = draw_truth(rng, curved(rng), [] if "one variable" in kind else simple(rng))
    x = truth.shaped
    return Recipe(
        "no-safe-experiment", kind, truth, words, usual(truth, rng),
        NextStep("permit", ranges=dict(truth.domain)),
        noise=rng.uniform(0.02, 0.05), sizes=sizes(rng), tested=tested(rng),
        narrow={x: part(truth.domain[x], rng.uniform(0.06, 0.15), rng)},
        wide_pool=True, guarded=True, budget=budget,
    )  # fmt: skip


def _ceiling(words: tuple[int, ...], rng: np.random.Generator, budget: Budget) -> Recipe:
    form = _RISING[int(rng.integers(len(_RISING)))]
    truth = draw_truth(rng, form, [], rises=True)
    x, noise = truth.shaped, rng.uniform(0.02, 0.05)
    low, high = truth.domain[x]
    top = low + rng.uniform(0.08, 0.15) * (high - low)
    reached = float(truth.outcome({x: np.array([top])})[0])
    highest = float(np.max(truth.outcome(uniform(rng, truth.domain, 512))))
    beyond = highest + 0.5 * (highest - reached)
    return Recipe(
        "no-safe-experiment", "ceiling", truth, words, usual(truth, rng),
        NextStep("permit", ranges={truth.target: (reached, beyond)}),
        noise=noise, sizes=sizes(rng), tested=tested(rng), narrow={x: (low, top)},
        wide_pool=True, ceiling=reached + 2.0 * noise * truth.spread, budget=budget,
    )  # fmt: skip


def plant_budget(kind: str, words: tuple[int, ...], rng: np.random.Generator) -> Recipe:
    """Offer the experiments that decide, and pay for too few of them, or for too few proposals."""
    budgets = {
        "no queries": Budget(proposals=3, queries=0, batch=8),
        "one of each": Budget(proposals=1, queries=1, batch=1),
        "one proposal": Budget(proposals=1, queries=16, batch=8),
        "cost": Budget(proposals=3, queries=24, batch=8, cost=0.5),
    }
    truth = draw_truth(rng, curved(rng), simple(rng))
    x = truth.shaped
    return Recipe(
        "budget", kind, truth, words, usual(truth, rng),
        NextStep("spend", settings={"proposals": 4, "queries": 24, "cost": 100.0}),
        noise=rng.uniform(0.02, 0.05), sizes=sizes(rng), tested=tested(rng),
        narrow={x: part(truth.domain[x], rng.uniform(0.06, 0.15), rng)},
        wide_pool=True, budget=budgets[kind], has_validation=bool(rng.random() < 0.3),
    )  # fmt: skip
