"""Plant what rows lack: precision, a variable, or movement."""

import numpy as np

from alder.bench.causes.forms import MILD, PLAIN, SHAPED, Ends, Form
from alder.bench.causes.recipe import Hidden, Known, Manner, Place, Recipe, Saying, Sizes
from alder.bench.causes.truth import Truth, draw_truth
from alder.records.budget import Budget
from alder.records.nextstep import NextStep

NOISE = ("asked", "weak", "asked, with error bars", "weak, with error bars", "asked, proportional")
VARIABLE = ("free", "switch", "drift", "lag", "batch")
EXCITATION = ("constant", "barely", "tied", "constant, undeclared", "tied, undeclared")

USUAL = ("add", "sub", "mul", "div", "neg", "pow", "exp", "sqrt", "tanh", "sin")
"""What a user allows who knows nothing better."""


def plant_noise(kind: str, words: tuple[int, ...], rng: np.random.Generator) -> Recipe:
    """Ask for more than the noise allows, or bury a law so deep that it beats no mean."""
    truth = draw_truth(rng, curved(rng), simple(rng))
    known: Known = "error bars" if "error bars" in kind else "nothing"
    if kind.startswith("weak"):
        noise, accuracy = rng.uniform(4.0, 7.0), None
        repeats = 4.0 * noise**2
    else:
        accuracy, times = rng.uniform(0.005, 0.05), rng.uniform(2.5, 6.0)
        noise, repeats = float(np.sqrt(accuracy * times)), 2.0 * times
    return Recipe(
        "noise", kind, truth, words, usual(truth, rng),
        NextStep("repeat", settings={"repeats": int(np.ceil(repeats))}),
        noise=noise, accuracy=accuracy, known=known, proportional="proportional" in kind,
        sizes=sizes(rng), tested=tested(rng), has_validation=bool(rng.random() < 0.3),
    )  # fmt: skip


def plant_variable(kind: str, words: tuple[int, ...], rng: np.random.Generator) -> Recipe:
    """Leave out a variable of the law: any one, a mode, a slow state, a delay, a batch."""
    manners: dict[str, Manner] = {k: k for k in ("free", "switch", "drift", "lag", "batch")}
    first = {"switch": SHAPED["contact"], "batch": PLAIN["product"]}.get(kind, PLAIN["line"])
    if kind == "free" and rng.random() < 0.5:
        first = PLAIN["product"]
    truth = draw_truth(rng, first, [*simple(rng), curved(rng)], share=(0.6, 1.2))
    name = truth.variables[1] if kind == "switch" else truth.variables[0]
    of = truth.variables[-1] if kind == "lag" else ""
    has_bars = kind == "free" or rng.random() < 0.5
    return Recipe(
        "missing-variable", kind, truth, words, usual(truth, rng), NextStep("measure"),
        noise=rng.uniform(0.01, 0.05), known="error bars" if has_bars else "nothing",
        accuracy=None if has_bars else rng.uniform(0.01, 0.03), sizes=sizes(rng),
        hidden=Hidden(name, manners[kind], of), has_validation=bool(rng.random() < 0.3),
    )  # fmt: skip


def plant_excitation(kind: str, words: tuple[int, ...], rng: np.random.Generator) -> Recipe:
    """Never move a variable, move it hardly, or move two only together."""
    narrow: dict[str, Ends] = {}
    tied: tuple[str, ...] = ()
    if kind.startswith("tied"):
        form = PLAIN[str(rng.choice(("line", "square")))]
        truth = draw_truth(rng, form, [form, *simple(rng)])
        tied = truth.variables[:2]
        named = NextStep("explore", variables=tied)
    else:
        truth = draw_truth(rng, curved(rng), simple(rng))
        width = 0.0 if kind.startswith("constant") else rng.uniform(0.04, 0.12)
        narrow[truth.shaped] = part(truth.domain[truth.shaped], width, rng)
        named = NextStep("explore", variables=(truth.shaped,))
    return Recipe(
        "excitation", kind, truth, words,
        usual(truth, rng, declares_ranges="undeclared" not in kind), named,
        noise=rng.uniform(0.02, 0.05), sizes=sizes(rng), narrow=narrow, tied=tied,
        tested=tested(rng), has_validation=bool(rng.random() < 0.3),
        budget=Budget(proposals=3, queries=16, batch=8),
    )  # fmt: skip


def curved(rng: np.random.Generator) -> Form:
    """Choose a form whose curve shows over its whole domain only."""
    return MILD[str(rng.choice(tuple(MILD)))]


def simple(rng: np.random.Generator) -> list[Form]:
    """Choose forms that sums and products say: mostly one, now and then none or two."""
    n_forms = int(rng.choice(3, p=(0.35, 0.5, 0.15)))
    return [PLAIN[str(rng.choice(tuple(PLAIN)))] for _ in range(n_forms)]


def usual(truth: Truth, rng: np.random.Generator, *, declares_ranges: bool = True) -> Saying:
    """Return a grammar that can say the law, with operators to spare."""
    spare = [name for name in USUAL if rng.random() < 0.5 or name in ("sub", "mul")]
    operators = tuple(dict.fromkeys((*truth.operators, *spare)))
    return Saying(operators, max_nodes=31, declares_ranges=declares_ranges)


def sizes(rng: np.random.Generator) -> Sizes:
    """Choose how many rows there are."""
    return Sizes(int(rng.integers(60, 160)), int(rng.integers(32, 80)), int(rng.integers(90, 160)))


def tested(rng: np.random.Generator) -> Place:
    """Choose whether the whole domain is asked about at once, or as a shift."""
    return "admission" if rng.random() < 0.5 else "shift"


def part(whole: Ends, share: float, rng: np.random.Generator) -> Ends:
    """Choose a part of a range that is so large a share of it."""
    low, high = whole
    begin = low + rng.uniform(0.0, 1.0 - share) * (high - low)
    return begin, begin + share * (high - low)
