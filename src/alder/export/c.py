"""A law as a C99 function with its header."""

from alder.export.listing import Listing, listing, literal
from alder.expr.operators import TINY, Floors
from alder.records.law import Law

_TEMPLATES = {
    "add": "{0} + {1}",
    "sub": "{0} - {1}",
    "mul": "{0} * {1}",
    "div": "{0} / away({1})",
    "neg": "-{0}",
    "pow_integer": "pow({0}, {1})",
    "pow_inverse": "1.0 / away(pow({0}, {1}))",
    "pow_real": "flushed(pow(positive({0}), {1}))",
    "exp": "exp(clipped({0}))",
    "log": "log(positive({0}))",
    "sqrt": "({0} > 0.0 ? sqrt({0}) : 0.0)",
    "tanh": "tanh({0})",
    "sin": "sin({0})",
    "cos": "cos({0})",
    "asin": "asin({0} > 1.0 ? 1.0 : {0} < -1.0 ? -1.0 : {0})",
    "acos": "acos({0} > 1.0 ? 1.0 : {0} < -1.0 ? -1.0 : {0})",
    "atan": "atan({0})",
    "abs": "fabs({0})",
    "max": "({0} > {1} ? {0} : {1})",
    "min": "({0} < {1} ? {0} : {1})",
    "sign": "(double)(({0} > 0.0) - ({0} < 0.0))",
    "softsign": "{0} / (1.0 + fabs({0}))",
    "gate": "1.0 / (1.0 + exp(-clipped({0})))",
    "where": "({0} > 0.0 ? {1} : {2})",
}


def to_c(law: Law) -> tuple[str, str]:
    """Return the header `law.h` and the source `law.c`, for `cc -std=c99 law.c -lm`."""
    code = listing(law, _TEMPLATES)
    parameters = ", ".join(f"double {name}" for name in code.arguments) or "void"
    return _header(code, parameters), _source(code, parameters, law.floors)


def _comment(code: Listing) -> str:
    safe = (line.replace("*/", "* /").replace("/*", "/ *") for line in code.heading)
    return "\n".join(["/*", *(f" * {line}".rstrip() for line in safe), " */"])


def _header(code: Listing, parameters: str) -> str:
    return f"""{_comment(code)}
#ifndef ALDER_LAW_H
#define ALDER_LAW_H

#ifdef __cplusplus
extern "C" {{
#endif

/* What the law predicts for one row. */
double law({parameters});

/* 1 where every variable lies in the range the law was fitted on, else 0. */
int law_in_scope({parameters});

#ifdef __cplusplus
}}
#endif

#endif
"""


def _source(code: Listing, parameters: str, floors: Floors) -> str:
    body = "\n".join(
        f"    const double {name} = {value};" for name, value in (*code.coefficients, *code.lines)
    )
    unused = [name for name in code.arguments if all(name != limit for limit, _, _ in code.limits)]
    ignore = "".join(f"    (void){name};\n" for name in unused)
    inside = " &&\n           ".join(
        f"{name} >= {low} && {name} <= {high}" for name, low, high in code.limits
    )
    helpers = "\n".join(_used_helpers(body, floors))
    return f"""{_comment(code)}
#include "law.h"

#include <math.h>

{helpers}
double law({parameters})
{{
{body}
    return {code.result};
}}

int law_in_scope({parameters})
{{
{ignore}    return {inside or "1"};
}}
"""


def _used_helpers(body: str, floors: Floors) -> list[str]:
    """Define only what the law calls: an unused static function is a warning."""
    clip = "    return x > {0} ? {0} : x < -{0} ? -{0} : x;"
    helpers = {
        "sat": ("Keep a result in range.", clip.format(literal(floors.saturation))),
        "clipped": ("Keep an exponent where exp is finite.", clip.format(literal(floors.exponent))),
        "away": (
            "Keep a denominator away from zero, on its own side.",
            "    return fabs(x) < {0} ? copysign({0}, x) : x;".format(literal(floors.denominator)),
        ),
        "positive": (
            "Keep a base above zero.",
            "    return x < {0} ? {0} : x;".format(literal(floors.base)),
        ),
        "flushed": (
            "Return zero for a power so small that doubles run out of digits.",
            f"    return x < {literal(TINY)} ? 0.0 : x;",
        ),
    }
    return [
        f"/* {purpose} */\nstatic double {name}(double x)\n{{\n{line}\n}}\n"
        for name, (purpose, line) in helpers.items()
        if f"{name}(" in body
    ]
