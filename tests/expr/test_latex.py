import pytest
from hypothesis import given
from strategies import ODD_NAMES, VARIABLES, exprs

from alder.expr.latex import name_latex, number_latex, to_latex
from alder.expr.nodes import Expr
from alder.expr.text import parse

NAMES = ("x", "y", "r")


@given(exprs(variables=VARIABLES + ODD_NAMES))
def test_braces_and_brackets_are_balanced(expr: Expr) -> None:
    latex = to_latex(expr)
    depth = 0
    for before, character in zip(" " + latex, latex, strict=False):
        depth += {"{": 1, "}": -1}.get(character, 0) if before != "\\" else 0
        assert depth >= 0
    assert depth == 0
    assert latex.count("\\left") == latex.count("\\right")
    assert "\n" not in latex


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("k*x^2", r"k \, {x}^{2}"),
        ("(x + y)*r", r"\left(x + y\right) \, r"),
        ("x*(y*r)", r"x \, y \, r"),
        ("x - (y - r)", r"x - \left(y - r\right)"),
        ("x + (y + r)", r"x + y + r"),
        ("x*(-y)", r"x \, \left(-y\right)"),
        ("-(x + y)", r"-\left(x + y\right)"),
        ("(x/y)^2", r"{\left(\frac{x}{y}\right)}^{2}"),
        ("(x^2)^3", r"{\left({x}^{2}\right)}^{3}"),
        ("x^p", r"{x}^{p}"),
        ("2*3", r"2 \cdot 3"),
        ("1.5e-7*x", r"1.5 \times 10^{-7} \, x"),
        ("exp(-(x/y))", r"\exp\left(-\frac{x}{y}\right)"),
        ("sqrt(x) + abs(y)", r"\sqrt{x} + \left|y\right|"),
    ],
)
def test_laws_are_set_as_a_person_would(text: str, latex: str) -> None:
    assert to_latex(parse(text, NAMES)) == latex


@pytest.mark.parametrize(
    ("name", "latex"),
    [
        ("x", "x"),
        ("gamma", r"\gamma"),
        ("gamma_1", r"\gamma_{1}"),
        ("γ", r"\gamma"),
        ("m1", "m_{1}"),
        ("m_sun", r"m_{\mathrm{sun}}"),
        ("x0_max", r"x_{0,\mathrm{max}}"),
        ("speed", r"\mathrm{speed}"),
        ("flow rate", r"\mathrm{flow\ rate}"),
        ("a_{b}%", r"\mathrm{a\_\{b\}\%}"),
    ],
)
def test_names_become_symbols(name: str, latex: str) -> None:
    assert name_latex(name) == latex


@pytest.mark.parametrize(
    ("value", "latex"),
    [
        (0.0, "0"),
        (2.0, "2"),
        (-1.5, "-1.5"),
        (0.001, "0.001"),
        (1.5e-7, r"1.5 \times 10^{-7}"),
        (6.02214076e23, r"6.02214076 \times 10^{23}"),
        (-1e300, r"-1 \times 10^{300}"),
    ],
)
def test_numbers_are_exact_and_readable(value: float, latex: str) -> None:
    assert number_latex(value) == latex


def test_symbols_override_names() -> None:
    law = parse("k*x", NAMES)
    assert to_latex(law, {"k": r"\kappa_0"}) == r"\kappa_0 \, x"
