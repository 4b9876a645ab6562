"""The JSON text of normal forms: literals, powers, products and chains of one operator."""

from alder.expr.operators import is_integer

CONST = '{"const":'
"""How the text of a literal begins; the number and a brace follow."""


def product_text(coefficient: float, above: list[str], below: list[str]) -> str:
    """Write a literal times some factors over others, with as few nodes as it takes."""
    if not above and not below:
        return literal_text(coefficient)
    if coefficient == -1.0:
        return f'{{"op":"neg","args":[{product_text(1.0, above, below)}]}}'
    if coefficient == 1.0 and not above and len(below) == 1:
        return _inverse_text(below[0])
    if coefficient != 1.0 or not above:
        above = [literal_text(coefficient), *above]
    numerator = chain("mul", above)
    if not below:
        return numerator
    return f'{{"op":"div","args":[{numerator},{chain("mul", below)}]}}'


def _inverse_text(text: str) -> str:
    """Write the inverse of a text; that of a power x^2 is x^-2."""
    tail = ',{"const":'
    if text.startswith('{"op":"pow"'):
        base, _, exponent = text.rpartition(tail)
        if is_integer(float(exponent[:-3])):
            return f"{base}{tail}-{exponent}"
    return power_text(text, -1.0)


def chain(name: str, texts: list[str]) -> str:
    """Apply an operator of two arguments from the left."""
    written = texts[0]
    for text in texts[1:]:
        written = f'{{"op":"{name}","args":[{written},{text}]}}'
    return written


def power_text(base: str, exponent: float) -> str:
    """Write a power with a literal exponent."""
    return f'{{"op":"pow","args":[{base},{CONST}{float(exponent)!r}}}]}}'


def literal_text(value: float) -> str:
    """Write a literal; adding zero makes the two zeros one."""
    return f"{CONST}{float(value) + 0.0!r}}}"
