"""The law as a small script: the "try the law" card evaluates it in the page, without a network."""

import json
import math
from typing import Any

import numpy as np

from alder.export.listing import listing
from alder.expr.operators import TINY
from alder.records.law import Law
from alder.records.variable import Variable
from alder.report.mathml import name_mathml
from alder.report.numbers import unit_text

_TEMPLATES = {
    "add": "{0}+{1}",
    "sub": "{0}-{1}",
    "mul": "{0}*{1}",
    "div": "{0}/away({1})",
    "neg": "-({0})",
    "pow_integer": "pow({0},{1})",
    "pow_inverse": "1/away(pow({0},{1}))",
    "pow_real": "flushed(pow(max({0},BASE),{1}))",
    "exp": "exp(clipped({0},EXPONENT))",
    "log": "log(max({0},BASE))",
    "sqrt": "sqrt(max({0},0))",
    "tanh": "tanh({0})",
    "sin": "sin({0})",
    "cos": "cos({0})",
    "asin": "asin(clipped({0},1))",
    "acos": "acos(clipped({0},1))",
    "atan": "atan({0})",
    "abs": "abs({0})",
    "max": "max({0},{1})",
    "min": "min({0},{1})",
    "sign": "sign({0})",
    "softsign": "{0}/(1+abs({0}))",
    "gate": "1/(1+exp(-clipped({0},EXPONENT)))",
    "where": "{0}>0?{1}:{2}",
}
# What the script itself defines, and words of the language that Python and C do not have.
_WORDS = """
    X C Math BASE EXPONENT DENOMINATOR SATURATION TINY abs function var let typeof instanceof
    arguments eval interface package implements super yield await async of get set undefined NaN
    Infinity document window debugger extends finally in with import null static enum void D slope
    half answer magnitude unit write two card knobs chance say show
"""
# A slider reaches so far beyond the scope, as a share of its width: outside can be seen, too.
_BEYOND = 0.2


def calculator(law: Law) -> dict[str, Any]:
    """Return the inputs of the card, and what its script holds: numbers, and the law's lines.

    The interval is that of `Law.predict_interval`. The script differentiates the law over a
    thousandth of each coefficient's standard error, which is right to about a millionth. It leaves
    `window.alderLaw(values)` behind, so that a test can ask it.
    """
    law = law.loosened
    code = listing(law, _TEMPLATES, _WORDS.split())
    constants = ",".join(name for name, _ in code.coefficients)
    lines = "".join(f"const {name}={right};" for name, right in code.lines)
    body = f"const [{','.join(code.arguments)}]=X,[{constants}]=C;{lines}return {code.result}"
    data = json.dumps(_data(law), ensure_ascii=True, separators=(",", ":")).replace("<", "\\u003c")
    return {
        "inputs": [_input(law, variable) for variable in law.variables],
        "data": data,
        "body": body,
    }


def _data(law: Law) -> dict[str, Any]:
    floors, limits = law.floors, law.scope.limits
    covariance = np.where(np.isfinite(law.covariance), law.covariance, 0.0)
    t = [law.quantile(), law.quantile(noise=True)]
    return {
        "coefficients": [coefficient.value for coefficient in law.coefficients],
        "covariance": covariance.tolist(),
        "noise": [math.hypot(law.noise.additive, law.noise.new_group), law.noise.proportional],
        "t": [one if math.isfinite(one) else None for one in t],
        "limits": [limits.get(variable.name) for variable in law.variables],
        "floors": [floors.denominator, floors.base, floors.exponent, floors.saturation, TINY],
        "events": law.objective == "events",
        "unit": unit_text(law.target.unit),
        "units": [unit_text(variable.unit) for variable in law.variables],
    }


def _input(law: Law, variable: Variable) -> dict[str, str]:
    low, high = law.scope.ranges.get(variable.name, (0.0, 1.0))
    wider = _BEYOND * (high - low) or 1.0
    ends = variable.range or (low - wider, high + wider)
    low, high = min(ends[0], low), max(ends[1], high)
    middle = sum(law.scope.ranges.get(variable.name, (low, high))) / 2.0
    tidy = round(middle, 1 - math.floor(math.log10(high - low)))
    return {
        "name": f"<math>{name_mathml(variable.name)}</math>",
        "label": variable.description or variable.name,
        "low": repr(low),
        "high": repr(high),
        "step": "any",
        "value": repr(tidy),
    }
