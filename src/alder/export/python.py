"""A law as a Python function without any dependency."""

from alder.export.listing import Listing, listing, literal
from alder.expr.operators import TINY
from alder.records.law import Law

_TEMPLATES = {
    "add": "{0} + {1}",
    "sub": "{0} - {1}",
    "mul": "{0} * {1}",
    "div": "{0} / away({1})",
    "neg": "-{0}",
    "pow_integer": "power({0}, {1})",
    "pow_inverse": "1.0 / away(power({0}, {1}))",
    "pow_real": "flushed(power(max({0}, BASE), {1}))",
    "exp": "math.exp(clipped({0}, EXPONENT))",
    "log": "math.log(max({0}, BASE))",
    "sqrt": "(math.sqrt({0}) if {0} > 0.0 else 0.0)",
    "tanh": "math.tanh({0})",
    "sin": "math.sin({0})",
    "cos": "math.cos({0})",
    "asin": "math.asin(clipped({0}, 1.0))",
    "acos": "math.acos(clipped({0}, 1.0))",
    "atan": "math.atan({0})",
    "abs": "abs({0})",
    "max": "max({0}, {1})",
    "min": "min({0}, {1})",
    "sign": "float(({0} > 0.0) - ({0} < 0.0))",
    "softsign": "{0} / (1.0 + abs({0}))",
    "gate": "1.0 / (1.0 + math.exp(-clipped({0}, EXPONENT)))",
    "where": "{1} if {0} > 0.0 else {2}",
}

_TOTAL = '''\
# These make the law total: finite for every finite row.
DENOMINATOR = {denominator}
BASE = {base}
EXPONENT = {exponent}
SATURATION = {saturation}


def sat(x):
    """Keep a result within the range of the law's arithmetic."""
    return clipped(x, SATURATION)


def clipped(x, limit):
    """Return the nearest number of at most that magnitude."""
    return min(max(x, -limit), limit)


def away(x):
    """Keep a denominator away from zero, on its own side."""
    return math.copysign(DENOMINATOR, x) if abs(x) < DENOMINATOR else x


def flushed(x):
    """Return zero for a power so small that floats run out of digits."""
    return 0.0 if x < {tiny} else x


def power(x, n):
    """Return x to the power n, infinite where that is too large for a float."""
    try:
        return math.pow(x, n)
    except OverflowError:
        return -math.inf if x < 0.0 and n % 2.0 == 1.0 else math.inf
'''

# exp overflows in Python above this argument; saturation would cut the result off in any case.
_LARGEST_EXPONENT = 709.0


def to_python(law: Law) -> str:
    """Return a module with `law(...)` and `law_in_scope(...)` that imports only `math`."""
    code = listing(law, _TEMPLATES, ("DENOMINATOR", "BASE", "EXPONENT", "SATURATION"))
    floors = law.floors
    total = _TOTAL.format(
        denominator=literal(floors.denominator),
        base=literal(floors.base),
        exponent=literal(min(floors.exponent, _LARGEST_EXPONENT)),
        saturation=literal(floors.saturation),
        tiny=literal(TINY),
    )
    comment = "\n".join(f"# {line}".rstrip() for line in code.heading)
    return f"{comment}\n\nimport math\n\n{total}\n\n{_functions(code)}"


def _functions(code: Listing) -> str:
    arguments = ", ".join(code.arguments)
    body = [f"    {name} = {value}" for name, value in (*code.coefficients, *code.lines)]
    inside = [f"{low} <= {name} <= {high}" for name, low, high in code.limits]
    return "\n".join(
        [
            f"def law({arguments}):",
            '    """Return what the law predicts for one row."""',
            *body,
            f"    return {code.result}",
            "",
            "",
            f"def law_in_scope({arguments}):",
            '    """Say whether every variable lies in the range the law was fitted on."""',
            "    return (",
            "        " + ("\n        and ".join(inside) or "True"),
            "    )",
            "",
        ]
    )
