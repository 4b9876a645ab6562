"""What every export says about the law it holds: equation, units, ranges, intervals, digest."""

import re
from collections.abc import Mapping

from alder.expr.nodes import Param, Var
from alder.expr.text import to_text
from alder.records.coefficient import Coefficient
from alder.records.law import Law
from alder.records.rounding import decimals, format_rounded
from alder.spelling import printable

_LONGEST_LINE = 2000


def heading(law: Law, leaves: Mapping[Var | Param, str]) -> list[str]:
    """Return the lines of the comment above an export, free of control characters."""
    variables = [variable.name for variable in law.variables]
    unit = f" [{law.target.unit}]" if law.target.unit else ""
    lines = [
        f"{law.target.name} = {to_text(law.structure, variables)}",
        "",
        f"Result: {law.target.name}{unit}" + (", as log-odds" if law.objective == "events" else ""),
        "Variables: identifier, name, unit, range of the rows it was fitted on",
        *(f"  {leaves[Var(name)]}: {_variable(law, name)}" for name in variables),
        "Coefficients: identifier, name, value, 95 % interval, unit",
        *(f"  {leaves[Param(c.name)]}: {_coefficient(c)}" for c in law.coefficients),
        f"Fitted to {law.n_rows} rows; noise {noise_words(law)}.",
        f"Law digest (SHA-256): {law.digest}",
    ]
    return [printable(line, _LONGEST_LINE).rstrip() for line in lines]


def noise_words(law: Law) -> str:
    """Say how far an observation lies from the law."""
    noise = law.noise
    if noise.origin == "none":
        return "not modelled"
    unit = f" {law.target.unit}" if law.target.unit else ""
    parts = [f"{noise.additive:.2g}{unit}"] if noise.additive or not noise.proportional else []
    if noise.proportional:
        parts.append(f"{100.0 * noise.proportional:.2g} % of the value")
    return " and ".join(parts) + f" ({noise.origin})"


def interval_words(coefficient: Coefficient) -> tuple[str, str]:
    """Return a coefficient and its 95 % interval as text, rounded to what is known."""
    c = coefficient
    half = (c.upper - c.lower) / 2.0
    places = decimals(c.value, half)
    value = format_rounded(c.value, places)
    if c.state == "undetermined":
        return value, "not determined"
    if c.state != "free":
        return value, c.state
    return value, f"{format_rounded(c.lower, places)} to {format_rounded(c.upper, places)}"


def unit_words(unit: str) -> str:
    """Shorten the exponents of a unit: that of `k` in `k*r^p` depends on the fitted `p`.

    >>> unit_words("m^2.511751224/s^2")
    'm^2.512/s^2'
    """
    return re.sub(r"\d+\.\d+", lambda match: f"{float(match[0]):.4g}", unit)


def _variable(law: Law, name: str) -> str:
    variable = next(variable for variable in law.variables if variable.name == name)
    unit = f" [{variable.unit}]" if variable.unit else ""
    ends = law.scope.ranges.get(name)
    return f"{name}{unit}" + (f" {ends[0]:g} to {ends[1]:g}" if ends else "")


def _coefficient(coefficient: Coefficient) -> str:
    value, interval = interval_words(coefficient)
    unit = f" [{unit_words(coefficient.unit)}]" if coefficient.unit else ""
    return f"{coefficient.name} = {value} ({interval}){unit}"
