"""A law as a JAX function: it can be jitted, differentiated and mapped over rows."""

from alder.export.listing import Listing, listing, literal
from alder.expr.operators import TINY
from alder.records.law import Law

_TEMPLATES = {
    "add": "{0} + {1}",
    "sub": "{0} - {1}",
    "mul": "{0} * {1}",
    "div": "{0} / away({1})",
    "neg": "-{0}",
    "pow_integer": "jnp.power({0}, {1})",
    "pow_inverse": "1.0 / away(jnp.power({0}, {1}))",
    "pow_real": "flushed(jnp.power(positive({0}), {1}))",
    "exp": "jnp.exp(clipped({0}))",
    "log": "jnp.log(positive({0}))",
    "sqrt": "jnp.where({0} > 0.0, jnp.sqrt(jnp.where({0} > 0.0, {0}, 1.0)), 0.0)",
    "tanh": "jnp.tanh({0})",
    "sin": "jnp.sin({0})",
    "cos": "jnp.cos({0})",
    "asin": "jnp.arcsin(jnp.clip({0}, -1.0, 1.0))",
    "acos": "jnp.arccos(jnp.clip({0}, -1.0, 1.0))",
    "atan": "jnp.arctan({0})",
    "abs": "jnp.abs({0})",
    "max": "jnp.maximum({0}, {1})",
    "min": "jnp.minimum({0}, {1})",
    "sign": "jnp.sign({0})",
    "softsign": "{0} / (1.0 + jnp.abs({0}))",
    "gate": "1.0 / (1.0 + jnp.exp(-clipped({0})))",
    "where": "jnp.where({0} > 0.0, {1}, {2})",
}

_TOTAL = '''\
# These make the law total: finite for every finite row. In 32 bits they are what 32 bits can hold;
# for the values Alder gives, switch 64 bits on first: jax.config.update("jax_enable_x64", True).
DENOMINATOR = {denominator}
BASE = {base}
EXPONENT = {exponent}
SATURATION = {saturation}


def kind():
    """Return the limits of the floating-point numbers in use."""
    return jnp.finfo(jnp.result_type(float))


def sat(x):
    """Keep a result within the range of the law's arithmetic."""
    limit = min(SATURATION, float(kind().max))
    return jnp.clip(x, -limit, limit)


def clipped(x):
    """Keep an exponent where exp is finite."""
    limit = min(EXPONENT, math.log(float(kind().max)))
    return jnp.clip(x, -limit, limit)


def away(x):
    """Keep a denominator away from zero, on its own side."""
    floor = max(DENOMINATOR, float(kind().tiny))
    return jnp.where(jnp.abs(x) < floor, jnp.copysign(floor, x), x)


def flushed(x):
    """Return zero for a power so small that floats run out of digits."""
    return jnp.where(x < {tiny}, 0.0, x)


def positive(x):
    """Keep a base above zero."""
    return jnp.maximum(x, max(BASE, float(kind().tiny)))
'''


def to_jax(law: Law) -> str:
    """Return a module with `law(...)` and `law_in_scope(...)` over arrays or scalars."""
    reserved = ("DENOMINATOR", "BASE", "EXPONENT", "SATURATION", "kind")
    code = listing(law, _TEMPLATES, reserved)
    floors = law.floors
    total = _TOTAL.format(
        denominator=literal(floors.denominator),
        base=literal(floors.base),
        exponent=literal(floors.exponent),
        saturation=literal(floors.saturation),
        tiny=literal(TINY),
    )
    comment = "\n".join(f"# {line}".rstrip() for line in code.heading)
    imports = "import math\n\nimport jax.numpy as jnp"
    return f"{comment}\n\n{imports}\n\n{total}\n\n{_functions(code)}"


def _functions(code: Listing) -> str:
    arguments = ", ".join(code.arguments)
    floats = [f"    {name} = jnp.asarray({name}, dtype=float)" for name in code.arguments]
    constants = [f"    {name} = jnp.asarray({value})" for name, value in code.coefficients]
    lines = [f"    {name} = {value}" for name, value in code.lines]
    inside = "".join(
        f"    inside = inside & ({name} >= {low}) & ({name} <= {high})\n"
        for name, low, high in code.limits
    )
    return "\n".join(
        [
            f"def law({arguments}):",
            '    """Return what the law predicts for each row."""',
            *floats,
            *constants,
            *lines,
            f"    return jnp.asarray({code.result})",
            "",
            "",
            f"def law_in_scope({arguments}):",
            '    """Say for each row whether every variable lies in the range of the fit."""',
            *floats,
            f"    inside = jnp.asarray(True)\n{inside}    return inside",
            "",
        ]
    )
