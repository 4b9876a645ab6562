r"""The normal form behind `alder.expr.canonical`, written straight as JSON text.

A tree becomes a sum of products. A sum maps each product to its coefficient; a product maps each
base to an integer exponent, and, apart from it, to a floored one: $x^{1.5}$ is
$\max(x, f)^{1.5}$ and joins $x^2$ only where $x > 0$, so the two are never merged. Everything
else (functions, powers by a parameter) is opaque, but for constant folding. Sums and products
are gathered from the whole tree at once, so that rounding does not depend on how a person
grouped them. The texts of the parts are their own sort keys, which makes this fast.
"""

import re
from json.encoder import encode_basestring_ascii
from math import fsum

from alder.expr.literals import add_literals, fold, multiply_literals, round_exponent
from alder.expr.nodes import Apply, Const, Expr, Param, Var
from alder.expr.normal_text import CONST, chain, literal_text, power_text, product_text
from alder.expr.operators import is_integer

_ARITHMETIC = frozenset(("add", "sub", "neg", "mul", "div", "pow"))
_LARGEST_POWER = 2**53 - 1
# What contains one of these may be zero on a whole region, without being zero.
_VANISHING = re.compile(r'"op":"(?:sqrt|asin|acos|abs|max|min|sign|where)"')


class Product:
    """A product under construction: sign, literals and bases with their exponents."""

    __slots__ = ("above", "below", "body", "coefficient", "floored", "literals", "negative")

    def __init__(self) -> None:
        """Start from one."""
        self.negative = False
        self.literals: list[tuple[float, int]] = []
        self.above: dict[str, int] = {}
        self.below: dict[str, int] = {}
        self.floored: dict[str, list[float]] = {}
        self.coefficient = 1.0
        self.body: tuple[list[str], list[str], str] = ([], [], "")


Terms = dict[str, tuple[float, Product]]


def canonical_json(expr: Expr) -> str:
    """Return the normal form as compact JSON text.

    >>> canonical_json(Var("x"))
    '{"var":"x"}'
    """
    return _Normalizer().text(expr)


class _Normalizer:
    """Remembers which texts are sums or extrema, so that these dissolve into larger ones."""

    __slots__ = ("extrema", "sums")

    def __init__(self) -> None:
        self.sums: dict[str, Terms] = {}
        self.extrema: dict[str, tuple[str, list[str]]] = {}

    def text(self, expr: Expr) -> str:
        if isinstance(expr, Var):
            return f'{{"var":{encode_basestring_ascii(expr.name)}}}'
        if isinstance(expr, Param):
            return f'{{"param":{encode_basestring_ascii(expr.name)}}}'
        if isinstance(expr, Apply) and expr.operator.name not in _ARITHMETIC:
            reduced = self._reduced(expr)
            return reduced if isinstance(reduced, str) else self.text(reduced)
        return _sum_text(self.terms(expr))

    def terms(self, expr: Expr) -> Terms:
        """Write a tree as a sum of products with coefficients."""
        gathered: dict[str, tuple[list[float], Product]] = {}
        self.gather(expr, 1.0, gathered)
        terms: Terms = {}
        for text, (parts, product) in gathered.items():
            coefficient = parts[0] if len(parts) == 1 else add_literals(parts)
            if coefficient != 0.0:
                terms[text] = (coefficient, product)
        return terms

    def gather(
        self, expr: Expr, sign: float, gathered: dict[str, tuple[list[float], Product]]
    ) -> None:
        if isinstance(expr, Apply):
            name = expr.operator.name
            if name == "add" or name == "sub":
                self.gather(expr.arguments[0], sign, gathered)
                self.gather(expr.arguments[1], sign if name == "add" else -sign, gathered)
                return
            if name == "neg":
                self.gather(expr.arguments[0], -sign, gathered)
                return
        elif not isinstance(expr, Const):
            text = self.text(expr)
            _include(gathered, text, sign, _lone(text))
            return
        product = Product()
        self.multiply(product, expr, 1)
        _settle(product)
        coefficient = product.coefficient * sign
        inner = self._lone_sum(product)
        if inner is None:
            _include(gathered, product.body[2], coefficient, product)
            return
        for text, (part, factors) in inner.items():
            _include(gathered, text, part * coefficient, factors)

    def _lone_sum(self, product: Product) -> Terms | None:
        """Return the terms of a product that is plus or minus a sum."""
        if len(product.above) != 1 or product.below or product.floored:
            return None
        if abs(product.coefficient) != 1.0:
            return None
        ((base, exponent),) = product.above.items()
        return self.sums.get(base) if exponent == 1 else None

    def multiply(self, product: Product, expr: Expr, n: int) -> None:
        """Multiply a product by the n-th power of a tree."""
        if isinstance(expr, Const):
            product.literals.append((float(expr.value), n))
        elif not isinstance(expr, Apply):
            _raise_base(product, self.text(expr), n)
        else:
            name, arguments = expr.operator.name, expr.arguments
            if name == "mul" or name == "div":
                self.multiply(product, arguments[0], n)
                self.multiply(product, arguments[1], n if name == "mul" else -n)
            elif name == "neg":
                product.negative ^= n % 2 == 1
                self.multiply(product, arguments[0], n)
            elif name == "add" or name == "sub":
                self._multiply_sum(product, expr, n)
            elif name == "pow":
                self._multiply_power(product, expr, n)
            else:
                self._multiply_function(product, expr, n)

    def _multiply_sum(self, product: Product, expr: Expr, n: int) -> None:
        terms = self.terms(expr)
        if not terms:
            product.literals.append((0.0, n))
        elif len(terms) == 1:
            ((coefficient, factors),) = terms.values()
            product.literals.append((coefficient, n))
            _multiply_factors(product, factors, n)
        else:
            # The sign of a factor is a matter of taste: its first term is made positive.
            if terms[min(terms, key=_constant_last)][0] < 0:
                terms = {text: (-part, factors) for text, (part, factors) in terms.items()}
                product.negative ^= n % 2 == 1
            text = _sum_text(terms)
            self.sums[text] = terms
            _raise_base(product, text, n)

    def _multiply_power(self, product: Product, expr: Apply, n: int) -> None:
        base, literal = expr.arguments
        exponent = literal.value if isinstance(literal, Const) else 1.0
        if not is_integer(exponent):
            self._multiply_floored(product, base, exponent, n)
        elif abs(exponent * n) <= _LARGEST_POWER:
            if exponent:
                self.multiply(product, base, n * int(exponent))
        else:
            _raise_base(product, power_text(self.text(base), exponent), n)

    def _multiply_floored(self, product: Product, base: Expr, exponent: float, n: int) -> None:
        terms = self.terms(base)
        total = exponent if n == 1 else round_exponent(exponent * n)
        text = _sum_text(terms)
        if text.startswith(CONST):
            product.literals.append((fold("pow", float(text[9:-1]), exponent), n))
            return
        if len(terms) == 1:
            ((coefficient, factors),) = terms.values()
            if (
                coefficient == 1.0
                and not (factors.above or factors.below)
                and len(factors.floored) == 1
            ):
                ((inner, (power,)),) = factors.floored.items()
                if not is_integer(power):
                    text, total = inner, round_exponent(power * exponent * n)
        product.floored.setdefault(text, []).append(total)

    def _multiply_function(self, product: Product, expr: Apply, n: int) -> None:
        reduced = self._reduced(expr)
        if isinstance(reduced, str):
            _raise_base(product, reduced, n)
        else:
            self.multiply(product, reduced, n)

    def _reduced(self, expr: Apply) -> str | Expr:
        extremum = expr.operator.name in ("max", "min")
        return self._extremum(expr) if extremum else self._function(expr)

    def _function(self, expr: Apply) -> str | Expr:
        """Return the text of an opaque function, or the simpler tree it amounts to."""
        name, arguments = expr.operator.name, expr.arguments
        texts = [self.text(argument) for argument in arguments]
        if name == "where":
            if texts[0].startswith(CONST):
                return arguments[1] if float(texts[0][9:-1]) > 0.0 else arguments[2]
            if texts[1] == texts[2]:
                return arguments[1]
        elif len(texts) == 1 and texts[0].startswith(CONST):
            return Const(fold(name, float(texts[0][9:-1])))
        return f'{{"op":"{name}","args":[{",".join(texts)}]}}'

    def _extremum(self, expr: Apply) -> str | Expr:
        name = expr.operator.name
        members: dict[str, Expr] = {}
        waiting: list[Expr] = [expr]
        while waiting:
            member = waiting.pop()
            if isinstance(member, Apply) and member.operator is expr.operator:
                waiting.extend(member.arguments)
                continue
            text = self.text(member)
            kind, inner = self.extrema.get(text, ("", []))
            members.update(dict.fromkeys(inner, member) if kind == name else {text: member})
        texts = _one_literal(members, name)
        if len(texts) == 1:
            return Const(float(texts[0][9:-1])) if texts[0].startswith(CONST) else members[texts[0]]
        text = chain(name, texts)
        self.extrema[text] = (name, texts)
        return text


def _one_literal(members: dict[str, Expr], name: str) -> list[str]:
    """Sort the arguments of an extremum, keeping only the winning literal."""
    literals = [float(text[9:-1]) for text in members if text.startswith(CONST)]
    texts = sorted(text for text in members if not text.startswith(CONST))
    if literals:
        texts.append(literal_text(max(literals) if name == "max" else min(literals)))
    return texts


def _include(
    gathered: dict[str, tuple[list[float], Product]],
    text: str,
    coefficient: float,
    product: Product,
) -> None:
    if text in gathered:
        gathered[text][0].append(coefficient)
    else:
        gathered[text] = ([coefficient], product)


def _raise_base(product: Product, base: str, n: int) -> None:
    if n > 0:
        product.above[base] = product.above.get(base, 0) + n
    else:
        product.below[base] = product.below.get(base, 0) - n


def _lone(base: str) -> Product:
    """Return the settled product of one factor."""
    product = Product()
    product.above[base] = 1
    product.body = ([base], [], base)
    return product


def _multiply_factors(product: Product, factors: Product, n: int) -> None:
    for bases, sign in ((factors.above, n), (factors.below, -n)):
        for base, exponent in bases.items():
            if exponent * abs(n) > _LARGEST_POWER:
                _raise_base(product, power_text(base, float(exponent)), sign)
            else:
                _raise_base(product, base, exponent * sign)
    for base, (exponent,) in factors.floored.items():
        total = exponent if n == 1 else round_exponent(exponent * n)
        product.floored.setdefault(base, []).append(total)


def _settle(product: Product) -> None:
    """Fold the literals, drop what cancels, and write the text of the rest."""
    coefficient = multiply_literals(product.literals)
    product.coefficient = -coefficient if product.negative else coefficient
    if coefficient == 0.0:
        product.coefficient = 0.0
        product.above, product.below, product.floored = {}, {}, {}
    if product.above and product.below:
        _cancel(product)
    powers: list[str] = []
    if product.floored:
        product.floored = _settle_floored(product.floored)
        powers = _floored_texts(product.floored)
    above = sorted([*_grouped(product.above), *powers])
    below = sorted(_grouped(product.below))
    # The empty text is the key of the constant term of a sum.
    text = product_text(1.0, above, below) if above or below else ""
    product.body = (above, below, text)


def _cancel(product: Product) -> None:
    """Cancel bases that stand above and below.

    One that is zero on more than isolated points, as sqrt(x) is, divided by itself is not one but
    a step from 0 to 1. Of such a base one factor stays above, unless none is left below.
    """
    for base in [base for base in product.above if base in product.below]:
        n = product.above.pop(base) - product.below.pop(base)
        if n > 0:
            product.above[base] = n
        elif _VANISHING.search(base):
            product.above[base], product.below[base] = 1, 1 - n
        elif n < 0:
            product.below[base] = -n


def _settle_floored(floored: dict[str, list[float]]) -> dict[str, list[float]]:
    totals: dict[str, list[float]] = {}
    for base, parts in floored.items():
        total = parts[0] if len(parts) == 1 else round_exponent(fsum(parts))
        if total != 0.0:
            totals[base] = [total]
    return totals


def _floored_texts(floored: dict[str, list[float]]) -> list[str]:
    """Write floored powers; a floored integer power is split, for x^2 is not floored."""
    texts: list[str] = []
    for base, (exponent,) in floored.items():
        if is_integer(exponent):
            texts += [power_text(base, exponent - 0.5), power_text(base, 0.5)]
        else:
            texts.append(power_text(base, exponent))
    return texts


def _grouped(bases: dict[str, int]) -> list[str]:
    """Write bases of equal exponent as one power: x^2*y^2 is (x*y)^2, which is smaller."""
    if len(bases) == 1 and 1 in bases.values():
        return list(bases)
    groups: dict[int, list[str]] = {}
    for base, n in bases.items():
        while n > _LARGEST_POWER:
            groups.setdefault(_LARGEST_POWER, []).append(base)
            n -= _LARGEST_POWER
        groups.setdefault(n, []).append(base)
    texts = groups.pop(1, [])
    texts += [power_text(chain("mul", sorted(group)), float(n)) for n, group in groups.items()]
    return texts


def _sum_text(terms: Terms) -> str:
    if not terms:
        return literal_text(0.0)
    order = sorted(terms, key=_constant_last) if len(terms) > 1 else list(terms)
    head = next((text for text in order if terms[text][0] > 0), order[0])
    coefficient, product = terms[head]
    written = product_text(coefficient, *product.body[:2])
    for text in order:
        if text != head:
            coefficient, product = terms[text]
            name = "add" if coefficient > 0 else "sub"
            term = product_text(abs(coefficient), *product.body[:2])
            written = f'{{"op":"{name}","args":[{written},{term}]}}'
    return written


def _constant_last(text: str) -> str:
    return text or "~"
