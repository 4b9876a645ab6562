"""A small study for tests of worlds: a spring with a known law."""

import numpy as np

from alder.expr.text import parse
from alder.records.grammar import Grammar
from alder.records.law import Law
from alder.records.noise import Noise
from alder.records.scope import Scope
from alder.records.variable import Variable

GRAMMAR = Grammar(variables=[Variable("r"), Variable("v")], target=Variable("a"))


def law(text: str, *names: str, target: str = "a") -> Law:
    """Return a law without coefficients, as written."""
    return Law(
        structure=parse(text, names),
        target=Variable(target),
        variables=tuple(map(Variable, names)),
        coefficients=(),
        covariance=np.zeros((0, 0)),
        residual_df=0,
        noise=Noise(0.0, origin="none"),
        scope=Scope({}),
    )


SPRING = law("r * v - 2 * r", "r", "v")
