"""Plant what a grammar cannot say, and proposals that are none."""

import numpy as np

from alder.bench.causes.forms import PLAIN, SHAPED
from alder.bench.causes.lacking import USUAL, curved, simple, sizes, tested, usual
from alder.bench.causes.recipe import Recipe, Saying
from alder.bench.causes.truth import draw_truth
from alder.expr.nodes import size
from alder.records.budget import Budget
from alder.records.nextstep import NextStep

OPERATOR = (*SHAPED, "nodes")
PROPOSAL = ("operator", "nodes", "prose", "variable", "units", "depth")

_SPARE = (*USUAL, "log", "abs", "cos", "gate", "max")


def plant_operator(kind: str, words: tuple[int, ...], rng: np.random.Generator) -> Recipe:
    """Leave out the operator of a term, and all that could imitate it; or the nodes for it."""
    if kind == "nodes":
        return _too_few_nodes(words, rng)
    form = SHAPED[kind]
    truth = draw_truth(rng, form, simple(rng), share=(1.0, 2.0))
    said = ("add", "sub", "mul")
    spare = tuple(
        name
        for name in _SPARE
        if name not in (*said, *form.lacks, *form.operators) and rng.random() < 0.4
    )
    lost = tuple(name for name in form.operators if name not in (*said, "neg"))
    return Recipe(
        "missing-operator", kind, truth, words,
        Saying((*said, *spare), max_nodes=int(rng.integers(15, 28))),
        NextStep("allow", operators=lost),
        noise=rng.uniform(0.005, 0.03), sizes=sizes(rng), tested=tested(rng),
        has_validation=bool(rng.random() < 0.3), wide_pool=True,
    )  # fmt: skip


def _too_few_nodes(words: tuple[int, ...], rng: np.random.Generator) -> Recipe:
    forms = [PLAIN[str(name)] for name in rng.permutation(("square", "product", "line"))]
    truth = draw_truth(rng, forms[0], forms[1:])
    said = usual(truth, rng)
    few = int(size(truth.structure) * rng.uniform(0.35, 0.55))
    return Recipe(
        "missing-operator", "nodes", truth, words,
        Saying(said.operators, max_nodes=max(few, 5)),
        NextStep("allow", settings={"max_nodes": 31}),
        noise=rng.uniform(0.005, 0.03), sizes=sizes(rng), tested=tested(rng),
    )  # fmt: skip


def plant_proposal(kind: str, words: tuple[int, ...], rng: np.random.Generator) -> Recipe:
    """Let a proposer write a true law that the grammar does not allow, or no law at all."""
    truth = draw_truth(rng, curved(rng), [PLAIN["line"], *simple(rng)])
    said = usual(truth, rng)
    proper = tuple(n for n in truth.operators if n not in ("add", "mul"))
    operators, max_nodes, max_depth = said.operators, 41, 24
    step = NextStep("correct")
    match kind:
        case "operator":
            lost = proper[: int(rng.integers(1, 3))] or ("mul",)
            operators = tuple(n for n in operators if n not in lost)
            step = NextStep("correct", operators=lost)
        case "nodes":
            max_nodes = int(rng.integers(5, 8))
            step = NextStep("correct", settings={"max_nodes": 41})
        case "depth":
            max_depth = 2
            step = NextStep("correct", settings={"max_depth": 24})
        case "units":
            step = NextStep("correct", settings={"units": "absorb"})
        case "variable":
            step = NextStep("correct", variables=truth.variables[-1:])
        case _:
            step = NextStep("correct", settings={"proposer": "search"})
    return Recipe(
        "no-valid-proposal", kind, truth, words,
        Saying(
            operators, max_nodes, max_depth,
            units="strict" if kind == "units" else "absorb", strange_units=kind == "units",
            undeclared=truth.variables[-1:] if kind == "variable" else (),
            proposer="prose" if kind == "prose" else "law",
        ),
        step, noise=rng.uniform(0.01, 0.05), sizes=sizes(rng), wide_pool=True,
        budget=Budget(proposals=int(rng.integers(2, 5)), queries=16, batch=8),
    )  # fmt: skip
