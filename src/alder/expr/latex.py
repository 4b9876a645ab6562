r"""Laws as LaTeX, from the templates of the operator table."""

import re
import unicodedata
from collections.abc import Mapping
from typing import assert_never

from alder.expr.nodes import Apply, Const, Expr, Param, Var

_SUM, _PRODUCT, _MINUS, _FRACTION, _POWER, _ATOM = range(6)
_LEVELS = {
    "add": _SUM,
    "sub": _SUM,
    "mul": _PRODUCT,
    "div": _FRACTION,
    "neg": _MINUS,
    "pow": _POWER,
    "powp": _POWER,
}
_GREEK = frozenset(
    ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa",
     "lambda", "mu", "nu", "xi", "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi",
     "omega", "Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi", "Psi",
     "Omega")
)  # fmt: skip
_SPECIAL = {
    "\\": r"\backslash{}",
    "^": r"\char94{}",
    "~": r"\char126{}",
    " ": r"\ ",
    **{character: f"\\{character}" for character in "{}_#$%&"},
}
# Beyond these magnitudes zeros are harder to count than a power of ten is to read.
_PLAIN = (1e-3, 1e5)


def to_latex(expr: Expr, symbols: Mapping[str, str] | None = None) -> str:
    r"""Write a law in LaTeX; `symbols` overrides how single names are set.

    >>> from alder.expr.text import parse
    >>> to_latex(parse("k*r^-1.5/(m1 + m_sun) - gamma*v", ["r", "m1", "m_sun", "v"]))
    '\\frac{k \\, {r}^{-1.5}}{m_{1} + m_{\\mathrm{sun}}} - \\gamma \\, v'
    """
    return _render(expr, symbols or {})[0]


def name_latex(name: str) -> str:
    r"""Set a name: Greek letters, trailing numbers and underscores as subscripts.

    >>> name_latex("gamma"), name_latex("m1"), name_latex("flow rate")
    ('\\gamma', 'm_{1}', '\\mathrm{flow\\ rate}')
    """
    parts = re.fullmatch(r"([^\W\d_]+)((?:_?\d+)?(?:_\w+)?)", name, re.ASCII)
    if parts is None:
        return _word(name)
    subscripts = [_word(part) for part in re.findall(r"\d+|[^\W_]+", parts[2])]
    return _word(parts[1]) + (f"_{{{','.join(subscripts)}}}" if subscripts else "")


def number_latex(value: float) -> str:
    r"""Set a number exactly, with a power of ten where it is very large or very small.

    >>> number_latex(1.5e-7), number_latex(2.0)
    ('1.5 \\times 10^{-7}', '2')
    """
    text = repr(float(value)).removesuffix(".0")
    if value == 0 or (_PLAIN[0] <= abs(value) < _PLAIN[1] and "e" not in text):
        return text
    mantissa, exponent = _scientific(value)
    return f"{mantissa} \\times 10^{{{exponent}}}"


def _scientific(value: float) -> tuple[str, int]:
    """Split the shortest decimal that reads back as the value into mantissa and exponent."""
    digits = next(d for d in range(17) if float(f"{value:.{d}e}") == value)
    mantissa, exponent = f"{value:.{digits}e}".split("e")
    return mantissa, int(exponent)


def _word(word: str) -> str:
    if word in _GREEK:
        return f"\\{word}"
    if len(word) == 1 and word.isalnum():
        return word if word.isascii() else _letter(word)
    if word.isdecimal() and word.isascii():
        return word
    escaped = "".join(
        _SPECIAL.get(c, c if c.isprintable() else r"\ ") for c in unicodedata.normalize("NFC", word)
    )
    return f"\\mathrm{{{escaped}}}"


def _letter(character: str) -> str:
    match unicodedata.name(character, "").split():
        case ["GREEK", "SMALL", "LETTER", letter] if letter.lower() in _GREEK:
            return f"\\{letter.lower()}"
        case ["GREEK", "CAPITAL", "LETTER", letter] if letter.capitalize() in _GREEK:
            return f"\\{letter.capitalize()}"
        case _:
            return f"\\mathrm{{{character}}}"


def _render(expr: Expr, symbols: Mapping[str, str]) -> tuple[str, int]:
    """Return the LaTeX and how tightly it binds."""
    match expr:
        case Const(value):
            text = number_latex(value)
            negative = _MINUS if text.startswith("-") else _ATOM
            return text, _PRODUCT if "times" in text else negative
        case Param(name) | Var(name):
            return symbols.get(name) or name_latex(name), _ATOM
        case Apply():
            return _render_apply(expr, symbols)
        case _:
            assert_never(expr)


def _render_apply(expr: Apply, symbols: Mapping[str, str]) -> tuple[str, int]:
    name, template = expr.operator.name, expr.operator.latex
    parts = [_render(argument, symbols) for argument in expr.arguments]
    level = _LEVELS.get(name, _ATOM)
    texts = [text for text, _ in parts]
    if name in ("add", "sub", "mul"):
        (left, left_level), (right, right_level) = parts
        # Sums need no bracket on the right of a plus, nor products on the right of a product.
        tightest = level + 1 if name == "sub" else level
        texts = [
            _bracket(left, left_level < level),
            _bracket(right, right_level < tightest or right.startswith("-")),
        ]
        if name == "mul" and texts[1][0].isdigit():
            template = "{} \\cdot {}"
    elif name == "neg":
        texts = [_bracket(texts[0], parts[0][1] <= _MINUS)]
    elif name in ("pow", "powp"):
        texts = [_bracket(texts[0], parts[0][1] < _ATOM), texts[1]]
    return template.format(*texts), level


def _bracket(text: str, needed: bool) -> str:  # noqa: FBT001 - a fact, not a switch
    return f"\\left({text}\\right)" if needed else text
