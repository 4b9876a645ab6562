"""Form set b: softened powers, Gaussian screens, logistic gates, squared and rational factors."""

from alder.bench.novellaw.pieces import FormSet, Piece

FORMS = FormSet(
    range={
        "power": Piece("k*(r + o)^{p}", {"k": (3.0, 7.0), "o": (0.2, 0.6)}, {"p": (-2.2, -1.1)}),
        "screened": Piece(
            "k*r^{p}*exp(q*r^2)", {"k": (2.0, 4.0), "q": (-0.35, -0.15)}, {"p": (-0.9, -0.3)}
        ),
        "gated": Piece(
            "k/(1 + exp((r - a)/w))", {"k": (2.0, 4.0), "a": (1.3, 1.8), "w": (0.18, 0.35)}
        ),
        "rational": Piece("k/(1 + (r/l)^2)", {"k": (2.5, 5.0), "l": (0.9, 1.8)}),
    },
    context={
        "identity": Piece(""),
        "mass-fraction": Piece("(m1/(m1 + m2))^2"),
        "mass-contrast": Piece("tanh(n*(m1 - m2))", {"n": (0.7, 1.4)}),
        "radius-fraction": Piece("(s1/s2)^{z}", {}, {"z": (0.5, 1.2)}),
    },
    velocity={
        "linear": Piece("c*v", {"c": (-1.4, -0.6)}),
        "range-modulated": Piece("c*v/(r + d)", {"c": (-3.0, -1.6), "d": (0.3, 0.9)}),
        "gated": Piece(
            "c*v/(1 + exp((r - g)/h))", {"c": (-2.2, -1.2), "g": (1.3, 1.7), "h": (0.18, 0.3)}
        ),
        "mass-weighted": Piece("c*v*(m1/m2)", {"c": (-1.4, -0.7)}),
    },
    action={
        "absent": Piece(""),
        "additive": Piece("b*u", {"b": (0.6, 1.4)}),
        "range-modulated": Piece("b*u/(r + e)", {"b": (1.6, 3.0), "e": (0.3, 0.9)}),
        "saturating": Piece("b*(1 - exp(f*u))", {"b": (0.8, 1.6), "f": (-0.9, -0.5)}),
    },
)
"""The algebra of set b."""
