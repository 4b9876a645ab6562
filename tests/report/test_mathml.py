"""Laws as MathML."""

import re
from xml.etree import ElementTree

from hypothesis import given
from strategies import exprs

from alder.expr.nodes import Expr, Param, Var, walk
from alder.expr.text import parse
from alder.report.mathml import name_mathml, to_mathml


@given(exprs())
def test_every_law_is_one_well_formed_element(expr: Expr) -> None:
    root = ElementTree.fromstring(to_mathml(expr, "y"))
    assert root.tag == "math"
    for element in root.iter():
        if element.tag in ("mfrac", "msup", "msub"):
            assert len(element) == 2


@given(exprs())
def test_every_name_of_a_law_is_shown(expr: Expr) -> None:
    shown = to_mathml(expr)
    assert all(name_mathml(n.name) in shown for n in walk(expr) if isinstance(n, Var | Param))


def test_a_factor_times_a_reciprocal_is_one_fraction() -> None:
    shown = to_mathml(parse("-k*r^-p", ["r"]))
    assert shown.count("<mfrac>") == 1
    assert re.search(r"<mo>−</mo><mfrac><mrow><mi>k</mi>", shown)


def test_a_difference_keeps_its_brackets() -> None:
    assert to_mathml(parse("a - (b - c)", [])).count("<mo>(</mo>") == 1
    assert to_mathml(parse("a - b - c", [])).count("<mo>(</mo>") == 0


def test_a_name_is_escaped() -> None:
    assert name_mathml("<x>") == "<mi>&lt;x&gt;</mi>"
