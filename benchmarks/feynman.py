"""The first 30 equations of the Feynman symbolic-regression set, in its order.

Formulas, variables and ranges are those of FeynmanEquations.csv (Udrescu and Tegmark 2020,
https://space.mit.edu/home/tegmark/aifeynman.html). Its I.15.1 is equation 15.10 of the lectures.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

Columns = dict[str, NDArray[np.float64]]
Span = tuple[float, float]

OPERATORS = ("add", "sub", "mul", "div", "pow", "sqrt", "exp", "log", "sin", "cos", "asin")
"""What the set is made of, and a logarithm, which these thirty do not need."""

_BEYOND = 0.25
_MOST_DRAWS = 1000


@final
@dataclass(frozen=True, slots=True)
class Equation:
    """A formula in the spelling of SymPy, its target, and the published range of each variable."""

    name: str
    target: str
    formula: str
    ranges: Mapping[str, Span]

    def value(self, columns: Columns) -> NDArray[np.float64]:
        """Return the target; not a number where the formula has no real value."""
        import sympy

        symbols = {name: sympy.Symbol(name) for name in self.ranges}
        formula = sympy.sympify(self.formula, locals=symbols)
        function = sympy.lambdify(list(symbols.values()), formula, "numpy")
        with np.errstate(all="ignore"):
            return np.asarray(function(*(columns[name] for name in symbols)), dtype=np.float64)


def draw(
    equation: Equation,
    place: Callable[[Span], Span],
    n_rows: int,
    rng: np.random.Generator,
) -> Columns:
    """Draw rows uniformly from placed ranges; rows without a finite target are drawn again."""
    kept: list[NDArray[np.float64]] = []
    n_kept = 0
    names = list(equation.ranges)
    for _ in range(_MOST_DRAWS):
        inputs = {n: rng.uniform(*place(equation.ranges[n]), n_rows) for n in names}
        rows = np.column_stack([*inputs.values(), equation.value(inputs)])
        rows = rows[np.isfinite(rows).all(axis=1)]
        kept.append(rows)
        n_kept += len(rows)
        if n_kept >= n_rows:
            break
    else:
        raise ValueError(f"{equation.name} has hardly a finite value in these ranges.")
    table = np.concatenate(kept)[:n_rows]
    return dict(zip((*names, equation.target), table.T, strict=True))


def published(span: Span) -> Span:
    """Return the range itself."""
    return span


def wider(span: Span) -> Span:
    """Return a range a quarter wider at each end; what is positive stays above half its low end."""
    low, high = span
    margin = _BEYOND * (high - low)
    return (max(low - margin, 0.5 * low) if low >= 0.0 else low - margin), high + margin


def beyond(span: Span) -> Span:
    """Return the range above the published one, a quarter as wide."""
    low, high = span
    return high, high + _BEYOND * (high - low)


def _equation(name: str, target: str, formula: str, **ranges: Span) -> Equation:
    return Equation(name, target, formula, ranges)


_A, _B, _C, _V = (1.0, 5.0), (1.0, 3.0), (3.0, 10.0), (1.0, 2.0)
_FAR = (3.0, 4.0)

EQUATIONS = (
    _equation("I.6.2a", "f", "exp(-theta**2/2)/sqrt(2*pi)", theta=_B),
    _equation("I.6.2", "f", "exp(-(theta/sigma)**2/2)/(sqrt(2*pi)*sigma)", sigma=_B, theta=_B),
    _equation(
        "I.6.2b", "f", "exp(-((theta-theta1)/sigma)**2/2)/(sqrt(2*pi)*sigma)",
        sigma=_B, theta=_B, theta1=_B,
    ),
    _equation("I.8.14", "d", "sqrt((x2-x1)**2+(y2-y1)**2)", x1=_A, x2=_A, y1=_A, y2=_A),
    _equation(
        "I.9.18", "F", "G*m1*m2/((x2-x1)**2+(y2-y1)**2+(z2-z1)**2)",
        m1=_V, m2=_V, G=_V, x1=_FAR, x2=_V, y1=_FAR, y2=_V, z1=_FAR, z2=_V,
    ),
    _equation("I.10.7", "m", "m_0/sqrt(1-v**2/c**2)", m_0=_A, v=_V, c=_C),
    _equation(
        "I.11.19", "A", "x1*y1+x2*y2+x3*y3", x1=_A, x2=_A, x3=_A, y1=_A, y2=_A, y3=_A
    ),
    _equation("I.12.1", "F", "mu*Nn", mu=_A, Nn=_A),
    _equation("I.12.2", "F", "q1*q2*r/(4*pi*epsilon*r**3)", q1=_A, q2=_A, epsilon=_A, r=_A),
    _equation("I.12.4", "Ef", "q1*r/(4*pi*epsilon*r**3)", q1=_A, epsilon=_A, r=_A),
    _equation("I.12.5", "F", "q2*Ef", q2=_A, Ef=_A),
    _equation("I.12.11", "F", "q*(Ef+B*v*sin(theta))", q=_A, Ef=_A, B=_A, v=_A, theta=_A),
    _equation("I.13.4", "K", "1/2*m*(v**2+u**2+w**2)", m=_A, v=_A, u=_A, w=_A),
    _equation("I.13.12", "U", "G*m1*m2*(1/r2-1/r1)", m1=_A, m2=_A, r1=_A, r2=_A, G=_A),
    _equation("I.14.3", "U", "m*g*z", m=_A, g=_A, z=_A),
    _equation("I.14.4", "U", "1/2*k_spring*x**2", k_spring=_A, x=_A),
    _equation(
        "I.15.3x", "x1", "(x-u*t)/sqrt(1-u**2/c**2)", x=(5.0, 10.0), u=_V, c=(3.0, 20.0), t=_V
    ),
    _equation("I.15.3t", "t1", "(t-u*x/c**2)/sqrt(1-u**2/c**2)", x=_A, c=_C, u=_V, t=_A),
    _equation("I.15.10", "p", "m_0*v/sqrt(1-v**2/c**2)", m_0=_A, v=_V, c=_C),
    _equation("I.16.6", "v1", "(u+v)/(1+u*v/c**2)", c=_A, v=_A, u=_A),
    _equation("I.18.4", "r", "(m1*r1+m2*r2)/(m1+m2)", m1=_A, m2=_A, r1=_A, r2=_A),
    _equation("I.18.12", "tau", "r*F*sin(theta)", r=_A, F=_A, theta=(0.0, 5.0)),
    _equation("I.18.14", "L", "m*r*v*sin(theta)", m=_A, r=_A, v=_A, theta=_A),
    _equation(
        "I.24.6", "E_n", "1/2*m*(omega**2+omega_0**2)*1/2*x**2", m=_B, omega=_B, omega_0=_B, x=_B
    ),
    _equation("I.25.13", "Volt", "q/C", q=_A, C=_A),
    _equation("I.26.2", "theta1", "asin(n*sin(theta2))", n=(0.0, 1.0), theta2=_A),
    _equation("I.27.6", "foc", "1/(1/d1+n/d2)", d1=_A, d2=_A, n=_A),
    _equation("I.29.4", "k", "omega/c", omega=(1.0, 10.0), c=(1.0, 10.0)),
    _equation(
        "I.29.16", "x", "sqrt(x1**2+x2**2-2*x1*x2*cos(theta1-theta2))",
        x1=_A, x2=_A, theta1=_A, theta2=_A,
    ),
    _equation(
        "I.30.3", "Int", "Int_0*sin(n*theta/2)**2/sin(theta/2)**2", Int_0=_A, theta=_A, n=_A
    ),
)  # fmt: skip
"""The thirty equations."""
