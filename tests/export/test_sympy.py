import types

import numpy as np
import pytest

from alder.export.sympy import to_latex_text, to_sympy_code
from alder.expr.text import parse
from export.laws import NAMES, law_of

sympy = pytest.importorskip("sympy")

LAWS = (
    "k*r^p - c*θ",
    "k*exp(-r^2) + where(θ, r, c*r)",
    "max(r, θ)*softsign(r) + gate(k*θ)",
    "atan(r)/(abs(θ) + 0.3) - sign(r)*sqrt(r^2 + 1)",
)


def load(text: str) -> types.ModuleType:
    module = types.ModuleType("law_sympy")
    exec(compile(text, "law_sympy.py", "exec"), module.__dict__)  # noqa: S102 - the text we just wrote
    return module


@pytest.mark.parametrize("text", LAWS)
def test_the_sympy_code_means_the_law(text: str) -> None:
    law = law_of(parse(text, NAMES), {"k": 1.3, "p": -1.5, "c": 0.4})
    module = load(to_sympy_code(law))
    for r, angle in ((0.7, 0.2), (1.9, -1.1)):
        expected = law.predict({"r": r, "θ": angle})[0]
        got = module.law.subs({sympy.Symbol("r", real=True): r}).subs(
            {sympy.Symbol("theta", real=True): angle}
        )
        assert float(got) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("text", LAWS)
def test_a_law_becomes_a_sympy_expression(text: str) -> None:
    law = law_of(parse(text, NAMES), {"k": 1.3, "p": -1.5, "c": 0.4})
    symbols = [sympy.Symbol(variable.name, real=True) for variable in law.variables]
    function = sympy.lambdify(symbols, law.sympy(), "math")
    rows = {"r": np.array([0.7, 1.9]), "θ": np.array([0.2, -1.1])}
    got = [function(*(rows[v.name][i] for v in law.variables)) for i in range(2)]
    assert got == pytest.approx(law.predict(rows).tolist(), rel=1e-12)


def test_latex_shows_every_coefficient_with_its_interval() -> None:
    law = law_of(parse("k*r^p - c*θ", NAMES), {"k": 1.3, "p": -1.5, "c": 0.4})
    text = to_latex_text(law)
    assert "\\( k = 1.30 \\) (1.10 to 1.50)" in text
    assert "\\( p = -1.50 \\) (-1.70 to -1.30)" in text
