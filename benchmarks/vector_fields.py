"""Recovery of random rates: sums, ratios, sines and shapes of states that no list holds.

python benchmarks/vector_fields.py [number of laws] [seed]

A law is drawn, then rows of 100 states along a short curve and 160 states of the box. It is
recovered when it agrees to 1e-8 with the truth on 500 other states of the box.
"""

import sys
import time

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

    def number(low: float = 0.1, high: float = 3.0) -> str:
        value = float(rng.uniform(low, high))
        return f"{value:.2g}" if rng.random() < 0.5 else f"{value:.15g}"

    def product(most: int) -> str:
        chosen = rng.choice(names, size=int(rng.integers(1, most + 1)))
        return "*".join([number(), *chosen])

    def total(n: int, most: int) -> str:
        signs = ["", *(str(rng.choice([" + ", " - "])) for _ in range(n - 1))]
        return "".join(sign + product(most) for sign in signs)

    def shape() -> str:
        a, b = rng.choice(names, size=2, replace=False)
        k, w = number(0.3, 2.0), number(0.3, 2.0)
        form = str(rng.choice(_SHAPES))
        return f"{number()}*{form.format(a=a, b=b, k=k, w=w, n=number(1.2, 4.0))}"

    match kind:
        case "polynomial":
            return parse(total(int(rng.integers(2, 6)), 3), names)
        case "ratio":
            return parse(f"({total(2, 2)})/({number()} + {product(2)}) - {product(1)}", names)
        case "sum of ratios":
            a, b = rng.choice(names, size=2, replace=False)
            return parse(
                f"{product(2)}/({a} + {number()}) - {product(1)}/({b}^2 + {number()})", names
            )
        case "a shape":
            return parse(f"{shape()} - {product(2)}", names)
        case "two shapes":
            return parse(f"{shape()} - {shape()} + {number()} - {product(1)}", names)
        case _:
            a, b = rng.choice(names, size=2)
            return parse(f"{number()}*sin({a})*{b} + {number()}*cos({a}) - {product(2)}", names)


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
