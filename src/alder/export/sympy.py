"""A law as SymPy code and as LaTeX: mathematics, without floors and saturation."""

import re

from alder.export.heading import heading, interval_words, unit_words
from alder.export.naming import Names, leaf_names
from alder.expr.latex import to_latex
from alder.expr.nodes import Param, Var
from alder.expr.symbolic import to_sympy
from alder.records.law import Law

# Everything SymPy may print for the operators of the table.
_FUNCTIONS = (
    "Abs", "E", "Max", "Min", "Piecewise", "acos", "asin", "atan", "cos", "exp", "log", "pi",
    "sign", "sin", "sqrt", "tanh", "nan", "oo", "zoo", "I", "True", "symbols",
)  # fmt: skip


def to_sympy_code(law: Law) -> str:
    """Return a module that builds the law with SymPy: `expression`, `values` and `law`."""
    leaves = leaf_names(law, Names((*_FUNCTIONS, "expression", "values", "limits")))
    expression = to_sympy(law.structure, leaves)
    comment = "\n".join(f"# {line}".rstrip() for line in heading(law, leaves))
    symbols = "".join(f'{name} = symbols("{name}", real=True)\n' for name in leaves.values())
    values = "".join(
        f"    {leaves[Param(c.name)]}: {float(c.value)!r},\n" for c in law.coefficients
    )
    limits = "".join(
        f"    {leaves[Var(name)]}: ({low!r}, {high!r}),\n"
        for name, (low, high) in law.scope.limits.items()
    )
    imports = ", ".join(sorted(name for name in _FUNCTIONS if name != "True"))
    return (
        f"{comment}\n\n"
        f"from sympy import {imports}  # noqa: F401\n\n"
        f"{symbols}\n"
        f"expression = {expression}\n\n"
        f"values = {{\n{values}}}\n\n"
        f"# The law holds where every variable lies between these.\n"
        f"limits = {{\n{limits}}}\n\n"
        f"law = expression.subs(values)\n"
    )


def to_latex_text(law: Law) -> str:
    """Return the equation and its coefficients with their intervals as LaTeX displays."""
    comment = "\n".join(f"% {line}".rstrip() for line in heading(law, leaf_names(law, Names())))
    rows = [f"\\[\n  {law.latex()}\n\\]"]
    for coefficient in law.coefficients:
        value, interval = interval_words(coefficient)
        unit = f"\\ {_unit(unit_words(coefficient.unit))}" if coefficient.unit else ""
        name = to_latex(Param(coefficient.name))
        rows.append(f"\\( {name} = {value}{unit} \\) ({interval})")
    return comment + "\n" + "\n\n".join(rows) + "\n"


def _unit(unit: str) -> str:
    """Set a unit upright, its exponents raised: m^2.5/s^2."""
    raised = re.sub(r"\^\(?(-?[0-9.]+)\)?", r"^{\1}", unit)
    return f"\\mathrm{{{raised.replace('%', chr(92) + '%')}}}"
