"""Form set c: kept out of sight of whoever writes a proposer."""

from alder.bench.novellaw.pieces import FormSet, Piece

FORMS = FormSet(
    range={
        "power": Piece("k*(r^2 + o)^{p}", {"k": (1.5, 3.5), "o": (0.15, 0.6)}, {"p": (-1.1, -0.5)}),
        "screened": Piece(
            "k*r^{p}*exp(q/r)", {"k": (4.0, 8.0), "q": (-1.6, -0.9)}, {"p": (-2.6, -1.8)}
        ),
        "gated": Piece("k/(1 + (r/a)^{n})", {"k": (2.0, 4.0), "a": (1.3, 1.8)}, {"n": (3.6, 6.4)}),
        "rational": Piece("k*(r - l)/(r + l)", {"k": (2.5, 5.0), "l": (0.5, 0.8)}),
    },
    context={
        "identity": Piece(""),
        "mass-fraction": Piece("m1/(m1 + n*m2)", {"n": (1.6, 2.6)}),
        "mass-contrast": Piece("(m1/m2 - m2/m1)"),
        "radius-fraction": Piece("tanh(n*(s1/s2))", {"n": (0.6, 1.1)}),
    },
    velocity={
        "linear": Piece("c*v", {"c": (-1.4, -0.6)}),
        "range-modulated": Piece("c*v*r^{d}", {"c": (-1.8, -1.0)}, {"d": (-1.4, -0.5)}),
        "gated": Piece(
            "c*v/(1 + (r/g)^{h})", {"c": (-2.2, -1.2), "g": (1.3, 1.7)}, {"h": (3.6, 5.6)}
        ),
        "mass-weighted": Piece("c*v*(m1*m2)^{d}", {"c": (-1.4, -0.7)}, {"d": (-0.9, -0.4)}),
    },
    action={
        "absent": Piece(""),
        "additive": Piece("b*u", {"b": (0.6, 1.4)}),
        "range-modulated": Piece("b*u*tanh(r/e)", {"b": (0.9, 1.8), "e": (1.2, 2.2)}),
        "saturating": Piece("b*u/(f + u^2)", {"b": (1.8, 3.2), "f": (1.4, 2.6)}),
    },
)
"""The algebra of set c."""
