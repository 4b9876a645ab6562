"""The law of a planted world: a sum of terms, with numbers, domains and units drawn at random."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from alder.arrays import FloatArray
from alder.bench.causes.forms import Ends, Form
from alder.expr.evaluate import evaluate
from alder.expr.nodes import Expr
from alder.expr.text import parse

NAMES = ("x", "v", "u", "T", "p", "m", "h", "w", "z", "s")
TARGETS = ("y", "a", "F", "Q")

_N_SCALE = 512


@final
@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """A law with its numbers, the domain of each variable, and the spread of its target there."""

    text: str
    values: Mapping[str, float]
    domain: Mapping[str, Ends]
    target: str
    operators: tuple[str, ...]
    shaped: str
    spread: float = 1.0

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables."""
        return tuple(self.domain)

    @property
    def structure(self) -> Expr:
        """The law as a tree with parameters."""
        return parse(self.text, self.variables)

    def outcome(self, columns: Mapping[str, FloatArray]) -> FloatArray:
        """Return the target without noise."""
        return evaluate(self.structure, columns, self.values)


def draw_truth(
    rng: np.random.Generator,
    first: Form,
    others: Sequence[Form],
    *,
    share: Ends = (0.8, 1.2),
    rises: bool = False,
) -> Truth:
    """Draw a law: one term of each form, each in variables of its own, and an offset.

    The first variable is that of the first form. `share` are the ends of the first term's spread
    when the spreads of the others lie between 0.8 and 1.2. Amplitudes have either sign, or with
    `rises` are positive.
    """
    signs = (1.0,) if rises else (-1.0, 1.0)
    names = [str(name) for name in rng.permutation(NAMES)]
    target = str(rng.choice(TARGETS))
    pieces, values, domain, operators = ["b"], dict[str, float](), dict[str, Ends](), {"add"}
    for i, form in enumerate((first, *others)):
        piece = _term(rng, form, i, names, domain)
        weight = rng.uniform(*(share if i == 0 else (0.8, 1.2))) * rng.choice(signs)
        columns = uniform(rng, domain, _N_SCALE)
        unit = {**piece.values, f"k{i}": 1.0}
        spread = float(np.std(evaluate(parse(piece.text, tuple(domain)), columns, unit)))
        values |= {**piece.values, f"k{i}": weight / spread}
        pieces.append(piece.text)
        operators |= {*form.operators}
    scale = 10.0 ** rng.uniform(-1.0, 2.0)
    values = {n: v * scale if n.startswith("k") else v for n, v in values.items()}
    values["b"] = scale * rng.normal()
    text = " + ".join(pieces)
    columns = uniform(rng, domain, _N_SCALE)
    spread = float(np.std(evaluate(parse(text, tuple(domain)), columns, values)))
    shaped = next(iter(domain))
    return Truth(text, values, domain, target, tuple(sorted(operators)), shaped, spread)


def uniform(
    rng: np.random.Generator, domain: Mapping[str, Ends], n_rows: int
) -> dict[str, FloatArray]:
    """Draw rows evenly from a box."""
    return {name: rng.uniform(low, high, n_rows) for name, (low, high) in domain.items()}


@final
@dataclass(frozen=True, slots=True)
class _Piece:
    text: str
    values: Mapping[str, float]


def _term(
    rng: np.random.Generator, form: Form, i: int, names: list[str], domain: dict[str, Ends]
) -> _Piece:
    """Write one term in new variables, whose domains are added."""
    x, scale = names.pop(), 10.0 ** rng.uniform(-1.0, 1.0)
    domain[x] = (form.domain[0] * scale, form.domain[1] * scale)
    w = ""
    if form.is_pair:
        w, other = names.pop(), 10.0 ** rng.uniform(-1.0, 1.0)
        domain[w] = (0.5 * other, 3.0 * other)
    drawn = {
        f"q{i}": rng.uniform(*form.rate) / scale,
        f"c{i}": rng.uniform(*form.place) * scale,
    }
    text = form.text.format(x=x, w=w, k=f"k{i}", q=f"q{i}", c=f"c{i}")
    return _Piece(text, {name: value for name, value in drawn.items() if name in text})
