"""Laws from data: what a law says, whether it is well formed, and its coefficients.

What `__all__` lists is promised and documented; all else may change. A public name is loaded when
it is first used, so that `import alder` costs nothing.
"""

from typing import TYPE_CHECKING

__version__ = "0.1.0"

__all__ = [
    "AlderError",
    "BadGrammar",
    "BadLawFile",
    "BadParameter",
    "BadTable",
    "BadUnit",
    "Bounds",
    "Coefficient",
    "Effort",
    "Fit",
    "Fits",
    "Floors",
    "Grammar",
    "Law",
    "MalformedLaw",
    "MissingExtra",
    "Nesting",
    "Noise",
    "Problem",
    "Proposal",
    "Scope",
    "UnknownVariable",
    "Variable",
    "check",
    "fit",
    "fit_many",
    "parse",
]

if TYPE_CHECKING:
    from alder.checking import check
    from alder.errors import (
        AlderError,
        BadGrammar,
        BadLawFile,
        BadParameter,
        BadTable,
        BadUnit,
        MalformedLaw,
        MissingExtra,
        UnknownVariable,
    )
    from alder.expr.operators import Floors
    from alder.expr.text import parse
    from alder.fitting import Fits, fit, fit_many
    from alder.records.coefficient import Coefficient
    from alder.records.effort import Effort
    from alder.records.fit import Fit
    from alder.records.grammar import Grammar, Nesting
    from alder.records.law import Law
    from alder.records.noise import Noise
    from alder.records.problem import Problem
    from alder.records.proposal import Bounds, Proposal
    from alder.records.scope import Scope
    from alder.records.variable import Variable
else:
    _HOME = {
        "Bounds": "alder.records.proposal",
        "Coefficient": "alder.records.coefficient",
        "Effort": "alder.records.effort",
        "Fit": "alder.records.fit",
        "Fits": "alder.fitting",
        "Floors": "alder.expr.operators",
        "Grammar": "alder.records.grammar",
        "Law": "alder.records.law",
        "Nesting": "alder.records.grammar",
        "Noise": "alder.records.noise",
        "Problem": "alder.records.problem",
        "Proposal": "alder.records.proposal",
        "Scope": "alder.records.scope",
        "Variable": "alder.records.variable",
        "check": "alder.checking",
        "fit": "alder.fitting",
        "fit_many": "alder.fitting",
        "parse": "alder.expr.text",
    }

    def __getattr__(name: str) -> object:
        """Load a public name at its first use (PEP 562); all that are not listed are errors."""
        from importlib import import_module

        if name not in __all__:
            raise AttributeError(f"module 'alder' has no attribute {name!r}")
        value = getattr(import_module(_HOME.get(name, "alder.errors")), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        """Offer the public names to completion before they are loaded."""
        return sorted({*globals(), *__all__})
