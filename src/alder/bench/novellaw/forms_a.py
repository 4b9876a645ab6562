"""Form set a: the plain reading of the component names; gates are hyperbolic tangents."""

from alder.bench.novellaw.pieces import FormSet, Piece

FORMS = FormSet(
    range={
        "power": Piece("k*r^{p}", {"k": (1.5, 3.0)}, {"p": (-1.9, -0.7)}),
        "screened": Piece(
            "k*r^{p}*exp(q*r)", {"k": (3.0, 6.0), "q": (-0.9, -0.4)}, {"p": (-0.9, -0.3)}
        ),
        "gated": Piece(
            "k*(1 + tanh((a - r)/w))", {"k": (1.0, 2.0), "a": (1.3, 1.8), "w": (0.35, 0.7)}
        ),
        "rational": Piece("k*r/(r + l)", {"k": (2.5, 5.0), "l": (0.6, 1.6)}),
    },
    context={
        "identity": Piece(""),
        "mass-fraction": Piece("m1/(m1 + m2)"),
        "mass-contrast": Piece("(m1 - m2)/(m1 + m2)"),
        "radius-fraction": Piece("s1/(s1 + s2)"),
    },
    velocity={
        "linear": Piece("c*v", {"c": (-1.4, -0.6)}),
        "range-modulated": Piece("c*v*exp(d*r)", {"c": (-3.0, -1.6), "d": (-0.8, -0.4)}),
        "gated": Piece(
            "c*v*(1 + tanh((g - r)/h))", {"c": (-1.2, -0.6), "g": (1.3, 1.7), "h": (0.35, 0.6)}
        ),
        "mass-weighted": Piece("c*v/m1", {"c": (-1.4, -0.7)}),
    },
    action={
        "absent": Piece(""),
        "additive": Piece("b*u", {"b": (0.6, 1.4)}),
        "range-modulated": Piece("b*u*exp(e*r)", {"b": (1.6, 3.0), "e": (-0.8, -0.4)}),
        "saturating": Piece("b*tanh(u/f)", {"b": (0.7, 1.4), "f": (0.5, 0.9)}),
    },
)
"""The algebra of set a."""
