"""Recovery of random rates: sums, ratios, sines and shapes of states that no list holds.

python benchmarks/vector_fields.py [number of laws] [seed]

A law is drawn, then rows of 100 states along a short curve and 160 states of the box. It is
recovered when it agrees to 1e-8 with the truth on 500 other states of the box.
"""

import sys
import time
from dataclasses import dataclass
from typing import final

import numpy as np

from alder.expr.evaluate import evaluate
from alder.expr.nodes import Expr
from alder.expr.operators import Floors
from alder.expr.text import parse, to_text
from alder.proposers.search.fields.finding import find_fields

_ALLOWED = {
    "add", "sub", "mul", "div", "pow", "exp", "log", "sin", "cos", "tanh", "sqrt", "abs", "neg",
}  # fmt: skip
_KINDS = ("polynomial", "ratio", "sum of ratios", "sines", "a shape", "two shapes")
_SHAPES = (
    "{b}/({k} + {a}^{n})", "{b}*exp(-{k}*{a})", "sqrt({k} + {a})", "log({k} + {a})", "{a}^{n}",
    "{b}*tanh({k}*{a})", "({w} - {b})/(1 + exp({n}*({k} - {a})))", "({w} - {b})*exp(-{k}/{a})",
    "{b}*{a}/({k} + {a} + {a}^2/{w})", "{a}*{b}/({k} + {a} + {w}*{b})", "exp({a}/({k} + {w}*{a}))",
)  # fmt: skip


def draw(rng: np.random.Generator, kind: str, names: tuple[str, ...]) -> Expr:
    """Draw a law of one kind; half of the numbers have two digits, the others all of them."""
    return parse(_Drawn(rng, names).law(kind), names)


@final
@dataclass(frozen=True, slots=True)
class _Drawn:
    """Parts of laws of some states."""

    rng: np.random.Generator
    names: tuple[str, ...]

    def law(self, kind: str) -> str:
        match kind:
            case "polynomial":
                return self.total(int(self.rng.integers(2, 6)), 3)
            case "ratio":
                above, below = self.total(2, 2), f"{self.number()} + {self.product(2)}"
                return f"({above})/({below}) - {self.product(1)}"
            case "sum of ratios":
                a, b = self.rng.choice(self.names, size=2, replace=False)
                return (
                    f"{self.product(2)}/({a} + {self.number()})"
                    f" - {self.product(1)}/({b}^2 + {self.number()})"
                )
            case "a shape":
                return f"{self.shape()} - {self.product(2)}"
            case "two shapes":
                return f"{self.shape()} - {self.shape()} + {self.number()} - {self.product(1)}"
            case _:
                a, b = self.rng.choice(self.names, size=2)
                return (
                    f"{self.number()}*sin({a})*{b} + {self.number()}*cos({a}) - {self.product(2)}"
                )

    def number(self, low: float = 0.1, high: float = 3.0) -> str:
        value = float(self.rng.uniform(low, high))
        return f"{value:.2g}" if self.rng.random() < 0.5 else f"{value:.15g}"

    def product(self, most: int) -> str:
        chosen = self.rng.choice(self.names, size=int(self.rng.integers(1, most + 1)))
        return "*".join([self.number(), *chosen])

    def total(self, n: int, most: int) -> str:
        signs = ["", *(str(self.rng.choice([" + ", " - "])) for _ in range(n - 1))]
        return "".join(sign + self.product(most) for sign in signs)

    def shape(self) -> str:
        a, b = self.rng.choice(self.names, size=2, replace=False)
        k, w = self.number(0.3, 2.0), self.number(0.3, 2.0)
        form = str(self.rng.choice(_SHAPES))
        return f"{self.number()}*{form.format(a=a, b=b, k=k, w=w, n=self.number(1.2, 4.0))}"


def main() -> None:
    """Draw laws of every kind in turn; print which are recovered, and the seconds."""
    n_laws = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    recovered = dict.fromkeys(_KINDS, 0)
    drawn = dict.fromkeys(_KINDS, 0)
    seconds: list[float] = []
    for k in range(n_laws):
        rng, kind = np.random.default_rng([seed, k]), _KINDS[k % len(_KINDS)]
        names = ("x", "y", "z")[: int(rng.integers(2, 4))]
        law = draw(rng, kind, names)
        s = np.linspace(0.0, 1.0, 100)
        curve = [rng.uniform(0.3, 2.0) + rng.uniform(-0.3, 0.3) * s + 0.1 * s**2 for _ in names]
        rows = {
            name: np.concatenate([path, rng.uniform(0.2, 3.0, 160)])
            for name, path in zip(names, curve, strict=True)
        }
        begin = time.process_time()
        found = find_fields(
            rows, evaluate(law, rows, {}), allowed=_ALLOWED, max_nodes=127, floors=Floors(),
            ranges=dict.fromkeys(names, (0.2, 3.0)),
        )  # fmt: skip
        seconds.append(time.process_time() - begin)
        test = {name: rng.uniform(0.2, 3.0, 500) for name in names}
        y = evaluate(law, test, {})
        said = evaluate(found[0].structure, test, found[0].values)
        good = bool((np.abs(said - y) <= 1e-8 * (np.abs(y) + np.median(np.abs(y)))).all())
        drawn[kind] += 1
        recovered[kind] += good
        if not good:
            print(f"missed: {to_text(law, names)}", flush=True)
    for kind in _KINDS:
        print(f"{kind:14} {recovered[kind]} of {drawn[kind]}")
    print(f"{np.median(seconds):.2f} CPU s in the median, {max(seconds):.1f} at most")


if __name__ == "__main__":
    main()
