"""Laws the grammar can say: the control arm, and what the other truths are hidden in."""

import numpy as np

from alder.bench.refusal.domains import NAMES
from alder.expr.nodes import Expr
from alder.expr.text import parse

FORMS = (
    "{a}*x^({p}) + {b}*v",
    "{a}*exp(-{q}*x)/x + {b}*v*u",
    "{a}*tanh({q}*v) + {b}*u + {p}",
    "{a}*x*v + {b}*u^2",
    "{a}/(1 + {q}*x^2) + {b}*u*v",
    "{a}*v*exp(-{q}*x) + {b}*u",
    "{a}*v^2/(x + {q}) + {b}*u",
    "{a}*x^({p})*u + {b}*tanh(v/{q})",
)
"""Two addends each, of about the same size."""


def law(form: str, rng: np.random.Generator) -> Expr:
    """Write a form with numbers of its own."""
    sign = float(rng.choice([-1.0, 1.0]))
    numbers = {
        "a": f"({sign * rng.uniform(1.0, 3.0):.3f})",
        "b": f"{rng.uniform(0.4, 1.2):.3f}",
        "p": f"{float(rng.choice([-1.5, -1.0, -0.5, 0.5, 1.5]))}",
        "q": f"{rng.uniform(0.5, 1.5):.3f}",
    }
    return parse(form.format(**numbers), NAMES)
