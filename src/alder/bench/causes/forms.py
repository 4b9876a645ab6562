"""What the laws of planted worlds are made of: terms with a shape, an amplitude and a domain."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias, final

Ends: TypeAlias = tuple[float, float]

POSITIVE: Ends = (0.5, 4.0)
SYMMETRIC: Ends = (-2.0, 2.0)
NEAR_ZERO: Ends = (0.06, 4.0)
"""Domains before a variable is written in units of its own."""


@final
@dataclass(frozen=True, slots=True)
class Form:
    """One term of a law, in a variable `{x}` and, where it has one, a second `{w}`.

    `{k}` is the amplitude, `{q}` a rate and `{c}` a place, drawn between their ends in the domain
    before units. `lacks` are operators with which the term could be said, or imitated, in another
    way: a grammar that is to miss the term has none of them.
    """

    text: str
    operators: tuple[str, ...]
    domain: Ends
    rate: Ends = (1.0, 1.0)
    place: Ends = (0.0, 0.0)
    lacks: tuple[str, ...] = ()

    @property
    def is_pair(self) -> bool:
        """Whether the term joins two variables."""
        return "{w}" in self.text


PLAIN: Mapping[str, Form] = {
    "line": Form("{k}*{x}", ("mul",), SYMMETRIC),
    "square": Form("{k}*{x}*{x}", ("mul",), SYMMETRIC),
    "cube": Form("{k}*{x}*{x}*{x}", ("mul",), SYMMETRIC),
    "product": Form("{k}*{x}*{w}", ("mul",), POSITIVE),
    "offset square": Form(
        "{k}*({x} - {c})*({x} - {c})", ("mul", "sub"), POSITIVE, place=(1.0, 3.0)
    ),
}
"""Terms that sums and products say."""

_ROOTS = ("sqrt", "pow", "powp", "log", "div", "exp", "tanh", "atan", "softsign", "gate")
_STEPS = ("tanh", "gate", "atan", "softsign", "exp", "div", "sign", "where", "max", "min", "abs")
_KINKS = ("abs", "max", "min", "where", "sign", "sqrt", "tanh", "gate", "softsign", "div", "pow")

SHAPED: Mapping[str, Form] = {
    "wave": Form("{k}*sin({q}*{x})", ("mul", "sin"), SYMMETRIC, (2.6, 4.5), lacks=("sin", "cos")),
    "decay": Form("{k}*exp(-{q}*{x})", ("mul", "neg", "exp"), NEAR_ZERO, (1.6, 2.8),
                  lacks=("exp", "div", "tanh", "gate", "softsign", "atan", "pow", "powp", "sqrt")),
    "step": Form("{k}*tanh({q}*({x} - {c}))", ("mul", "sub", "tanh"), POSITIVE, (3.0, 7.0),
                 (1.5, 3.0), lacks=_STEPS),
    "kink": Form("{k}*abs({x} - {c})", ("mul", "sub", "abs"), POSITIVE, place=(1.5, 3.0),
                 lacks=_KINKS),
    "root": Form("{k}*sqrt({x})", ("mul", "sqrt"), (0.002, 4.0), lacks=_ROOTS),
    "logarithm": Form("{k}*log({x})", ("mul", "log"), NEAR_ZERO, lacks=_ROOTS),
    "inverse": Form("{k}/{x}", ("div",), (0.15, 3.0), lacks=_ROOTS),
    "contact": Form("{k}*{w}*gate({q}*({x} - {c}))", ("mul", "sub", "gate"), POSITIVE, (5.0, 9.0),
                    (1.5, 3.0), lacks=_STEPS),
    "carried wave": Form("{k}*{w}*cos({q}*{x})", ("mul", "cos"), POSITIVE, (1.8, 3.2),
                         lacks=("sin", "cos")),
}  # fmt: skip
"""Terms that need an operator of their own."""

MILD: Mapping[str, Form] = {
    "saturation": Form("{k}*{x}/({c} + {x})", ("mul", "div", "add"), NEAR_ZERO, place=(0.4, 1.5)),
    "decay": Form("{k}*exp(-{q}*{x})", ("mul", "neg", "exp"), NEAR_ZERO, (0.6, 1.6)),
    "bend": Form("{k}*tanh({q}*{x})", ("mul", "tanh"), SYMMETRIC, (0.8, 2.0)),
    "inverse": Form("{k}/{x}", ("div",), POSITIVE),
    "root": Form("{k}*sqrt({x})", ("mul", "sqrt"), POSITIVE),
    "square": Form("{k}*{x}*{x}", ("mul",), SYMMETRIC),
    "inverse square": Form("{k}/({x}*{x})", ("mul", "div"), POSITIVE),
}
"""Curved terms whose ends differ: rows of a small part of their domain do not tell them apart."""
