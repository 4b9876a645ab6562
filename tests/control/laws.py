"""Laws that tests of control share: a spring that an input pushes."""

import numpy as np

from alder.expr.nodes import parameters
from alder.expr.text import parse
from alder.records.coefficient import Coefficient
from alder.records.dynamics import Dynamics
from alder.records.law import Law
from alder.records.noise import Noise
from alder.records.scope import Scope
from alder.records.variable import Variable

BOX = {"x": (-2.0, 2.0), "v": (-3.0, 3.0), "u": (-4.0, 4.0)}


def fitted(
    text: str, values: dict[str, float], *, error: float = 0.01, target: str = "dv_dt"
) -> Law:
    """Return a law whose coefficients are known to `error`."""
    names = ("x", "v", "u")
    structure = parse(text, names)
    wanted = parameters(structure)
    return Law(
        structure=structure,
        target=Variable(target),
        variables=tuple(Variable(n, role="action" if n == "u" else "state") for n in names),
        coefficients=tuple(
            Coefficient(n, values[n], error, values[n] - error, values[n] + error, "free")
            for n in wanted
        ),
        covariance=error**2 * np.eye(len(wanted)),
        residual_df=50,
        noise=Noise(0.0, origin="none"),
        scope=Scope(BOX),
    )


SPRING = fitted("u - k*x - c*v", {"k": 1.5, "c": 0.4})
MOTION = Dynamics({"v": SPRING}, {"x": "v"})
REST = {"x": 0.0, "v": 0.0}
