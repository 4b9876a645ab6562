"""Laws as MathML, which browsers set without a script; names come from users and are escaped."""

import re
import unicodedata
from html import escape
from typing import assert_never

from alder.expr.latex import number_latex
from alder.expr.nodes import Apply, Const, Expr, Param, Var

_SUM, _PRODUCT, _MINUS, _ATOM = range(4)
_TIMES = "<mo>&#x2062;</mo>"
_DOT = "<mo>·</mo>"
_THIN = '<mspace width=".17em"/>'
_MINUS_SIGN = "<mo>−</mo>"
_SIGNS = frozenset(("add", "sub", "div", "neg", "powp", "exp", "sqrt", "abs"))
_FUNCTIONS = {
    "log": "ln",
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "sign": "sgn",
    "where": "where",
}


def to_mathml(expr: Expr, target: str = "", *, large: bool = False) -> str:
    """Write a law as one `math` element; with a target, as an equation for it.

    A `large` one stands on its own, with whole fractions.

    >>> from alder.expr.text import parse
    >>> to_mathml(parse("k*r", ["r"]))
    '<math><mrow><mi>k</mi><mo>&#x2062;</mo><mi>r</mi></mrow></math>'
    """
    right = _render(expr)[0]
    left = f"{name_mathml(target)}<mo>=</mo>" if target else ""
    style = ' displaystyle="true"' if large else ""
    return f"<math{style}>{_row(left + right)}</math>"


def name_mathml(name: str) -> str:
    """Set a name: Greek letters, and trailing numbers or words after `_` as subscripts.

    >>> name_mathml("m1")
    '<msub><mi>m</mi><mn>1</mn></msub>'
    """
    parts = re.fullmatch(r"([^\W\d_]+)((?:_?\d+)?(?:_\w+)?)", name, re.ASCII)
    if parts is None:
        return f"<mi>{escape(name)}</mi>"
    below = [part for part in re.findall(r"\d+|[^\W_]+", parts[2]) if part]
    base = _word(parts[1])
    if not below:
        return base
    return f"<msub>{base}{_row('<mo>,</mo>'.join(map(_word, below)))}</msub>"


def _word(word: str) -> str:
    if word.isdecimal():
        return f"<mn>{word}</mn>"
    case = "CAPITAL" if word[0].isupper() else "SMALL"
    spelled = "LAMDA" if word.lower() == "lambda" else word.upper()
    try:
        return f"<mi>{unicodedata.lookup(f'GREEK {case} LETTER {spelled}')}</mi>"
    except KeyError:
        return f"<mi>{escape(word)}</mi>"


def _row(inside: str) -> str:
    return f"<mrow>{inside}</mrow>" if inside.count("<") > 2 else inside


def _render(expr: Expr) -> tuple[str, int]:
    """Return the MathML and how tightly it binds."""
    match expr:
        case Const(value):
            return _number(value), _MINUS if value < 0 else _ATOM
        case Param(name) | Var(name):
            return name_mathml(name), _ATOM
        case Apply():
            return _apply(expr)
        case _:
            assert_never(expr)


def _number(value: float) -> str:
    mantissa, times, power = number_latex(abs(value)).partition(" \\times 10^")
    text = f"<mn>{mantissa}</mn>"
    if times:
        exponent = power.strip("{}").replace("-", "−")
        text = f"{text}<mo>×</mo><msup><mn>10</mn><mn>{exponent}</mn></msup>"
    return f"{_MINUS_SIGN}{text}" if value < 0 else text


def _apply(expr: Apply) -> tuple[str, int]:  # noqa: PLR0911 (one for each kind of operator)
    name = expr.operator.name
    parts = [_render(argument) for argument in expr.arguments]
    texts = [text for text, _ in parts]
    match name:
        case "add" | "sub":
            sign = "+" if name == "add" else "−"
            tight = parts[1][1] if name == "sub" or not texts[1].startswith(_MINUS_SIGN) else -1
            right = _bracket(texts[1], tight <= (_SUM if name == "sub" else -1))
            return f"{texts[0]}<mo>{sign}</mo>{right}", _SUM
        case "mul" if (below := _reciprocal(expr.arguments[1])) is not None:
            return _fraction(parts[0], _render(below)[0])
        case "mul":
            return _product(expr, parts), _PRODUCT
        case "div":
            return _fraction(parts[0], texts[1])
        case "neg":
            return f"{_MINUS_SIGN}{_bracket(texts[0], parts[0][1] in (_SUM, _MINUS))}", _MINUS
        case "pow" | "powp":
            is_plain = isinstance(expr.arguments[0], Var | Param)
            base = texts[0] if is_plain else _bracket(texts[0], needed=True)
            return f"<msup>{_one(base)}{_one(texts[1])}</msup>", _ATOM
        case _:
            return _function(name, texts), _ATOM


def _reciprocal(expr: Expr) -> Expr | None:
    """Return what stands below in 1/x, so that k times 1/x is set as one fraction."""
    match expr:
        case Apply(operator, (Const(1.0), below)) if operator.name == "div":
            return below
        case _:
            return None


def _fraction(above: tuple[str, int], below: str) -> tuple[str, int]:
    """Set a fraction; a minus of the numerator goes in front of it."""
    text, level = above
    negative = level != _SUM and text.startswith(_MINUS_SIGN)
    bar = (
        f"<mfrac>{_one(text.removeprefix(_MINUS_SIGN) if negative else text)}{_one(below)}</mfrac>"
    )
    return (_MINUS_SIGN + bar, _MINUS) if negative else (bar, _ATOM)


def _product(expr: Apply, parts: list[tuple[str, int]]) -> str:
    (left, left_level), (right, right_level) = parts
    texts = (
        _bracket(left, left_level == _SUM),
        _bracket(right, right_level in (_SUM, _MINUS)),
    )
    second = expr.arguments[1]
    while isinstance(second, Apply) and second.operator.name in ("mul", "pow"):
        second = second.arguments[0]
    if isinstance(second, Const):
        return _DOT.join(texts)
    is_function = isinstance(second, Apply) and second.operator.name not in _SIGNS
    return (_THIN if is_function else _TIMES).join(texts)


def _function(name: str, texts: list[str]) -> str:
    match name:
        case "exp":
            return f"<msup><mi>e</mi>{_one(texts[0])}</msup>"
        case "sqrt":
            return f"<msqrt>{texts[0]}</msqrt>"
        case "abs":
            return f"<mrow><mo>|</mo>{texts[0]}<mo>|</mo></mrow>"
        case _:
            inside = "<mo>,</mo>".join(texts)
            shown = _FUNCTIONS.get(name, name)
            return f"<mrow><mi>{shown}</mi><mo>&#x2061;</mo>{_bracket(inside, needed=True)}</mrow>"


def _one(text: str) -> str:
    """Make one element of several, as fractions and powers need."""
    return f"<mrow>{text}</mrow>"


def _bracket(text: str, needed: bool) -> str:  # noqa: FBT001 - a fact, not a switch
    return f"<mrow><mo>(</mo>{text}<mo>)</mo></mrow>" if needed else text
