r"""How far the coefficients of a law may still move its forecasts, whatever the world is."""

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.ports import Forecast
from alder.records.law import Law
from alder.records.moves import moves


def sensitivity(law: Law, forecast: Forecast, positions: NDArray[np.intp]) -> FloatArray:
    r"""Return what one standard deviation along each axis does, (experiments, outputs, axes).

    The squares sum to $J C J^\top$ for small deviations. Central differences of the forecast are
    taken, not derivatives, so that a rollout of any world can be asked the same question.
    """
    columns = [
        (forecast.predict(up, positions) - forecast.predict(down, positions)) / 2.0
        for up, down in moves(law)
    ]
    shape = (len(positions), -1)
    if not columns:
        n_outputs = forecast.predict(law, positions[:1]).size
        return np.zeros((len(positions), n_outputs, 0))
    found = np.stack([column.reshape(shape) for column in columns], axis=2)
    return np.where(np.isfinite(found), found, 0.0)
