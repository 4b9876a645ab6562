"""The phase portrait of equations of motion, as an SVG file of its own."""

from collections.abc import Mapping

import numpy as np

from alder.arrays import FloatArray
from alder.errors import BadParameter
from alder.records.dynamics import Dynamics, Input
from alder.report.bars import COLOURS, STYLE
from alder.report.svg import Drawing, Frame
from alder.tables import Rows, as_columns

_N_STARTS = 7  # in each direction
_N_TIMES = 120
_SIDE = 460.0
_STILL = ".ln{fill:none;stroke-width:1.3}.ds{stroke-linecap:round;fill:none}"


def phase_portrait(
    dynamics: Dynamics,
    x: tuple[str, tuple[float, float]],
    y: tuple[str, tuple[float, float]],
    *,
    span: float,
    inputs: Mapping[str, Input] | None = None,
    samples: Rows | None = None,
) -> str:
    """Draw solutions in the plane of two states; return the text of an SVG file.

    Example: `alder.phase_portrait(law, ("angle", (-3, 3)), ("speed", (-6, 6)), span=2.0)`

    `x` and `y` are states with the ends of the axis. Solutions begin on a grid and are followed for
    `span`; where one leaves the picture it is cut. `samples` are drawn as dots. Other states begin
    at zero.
    """
    _require_plane(dynamics, x, y, span)
    (x_name, x_ends), (y_name, y_ends) = x, y
    drawing = Drawing(Frame(_SIDE + 60.0, _SIDE, x_ends, y_ends))
    drawing.parts.append(STYLE + f"<style>{_STILL}</style>")
    drawing.axes(x_name, y_name)
    times = np.linspace(0.0, span, _N_TIMES)
    for a in np.linspace(*x_ends, _N_STARTS + 2)[1:-1].tolist():
        for b in np.linspace(*y_ends, _N_STARTS + 2)[1:-1].tolist():
            start = {**dict.fromkeys(dynamics.states, 0.0), x_name: a, y_name: b}
            path = dynamics.rollout(start, times, inputs)
            n = _inside(path[x_name], x_ends, path[y_name], y_ends)
            if n > 1:
                drawing.curve(path[x_name][:n], path[y_name][:n], COLOURS[0])
    if samples is not None:
        columns = as_columns(samples, [x_name, y_name])
        drawing.dots(columns[x_name], columns[y_name], COLOURS[1], size=2.6)
    return drawing.file(f"Phase portrait of {x_name} and {y_name}") + "\n"


def _require_plane(
    dynamics: Dynamics,
    x: tuple[str, tuple[float, float]],
    y: tuple[str, tuple[float, float]],
    span: float,
) -> None:
    for name, (low, high) in (x, y):
        if name not in dynamics.states:
            raise BadParameter(f"`{name}` is no state; {', '.join(dynamics.states)} are.")
        if not -np.inf < low < high < np.inf:
            raise BadParameter(
                f"The axis of `{name}` goes from a lower number to a higher one; got {low:g} to "
                f"{high:g}."
            )
    if x[0] == y[0]:
        raise BadParameter(f"Two different states span the plane; `{x[0]}` stands for both axes.")
    if not 0.0 < span < np.inf:
        raise BadParameter(f"`span` is the time to follow solutions, above zero; got {span:g}.")


def _inside(
    x: FloatArray, x_ends: tuple[float, float], y: FloatArray, y_ends: tuple[float, float]
) -> int:
    """Count the points before the first that leaves the picture."""
    outside = (x < x_ends[0]) | (x > x_ends[1]) | (y < y_ends[0]) | (y > y_ends[1])
    return int(np.argmax(outside)) if outside.any() else len(x)
