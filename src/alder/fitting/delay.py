"""Dead time: by how much what acts on the system lags behind what the log says."""

from dataclasses import replace

import numpy as np

from alder.fitting.samples import Samples

_MOST = 20  # samples
_LONGEST_SHARE = 0.2  # of the shortest trajectory


def delays(samples: Samples, within: float = np.inf) -> list[float]:
    """Return the dead times to try: whole sampling intervals, none first.

    They are a small part of any trajectory; `within` is how long others last at least.
    """
    if not samples.inputs.shape[1]:
        return [0.0]
    gaps = np.diff(samples.times)
    gaps = gaps[gaps > 0.0]
    shortest = int(np.diff(samples.firsts).min())
    n = min(_MOST, int(_LONGEST_SHARE * shortest))
    every = [k * float(np.median(gaps)) for k in range(n + 1)]
    return [delay for delay in every if delay <= _LONGEST_SHARE * within]


def delayed(samples: Samples, delay: float, beside: float = 0.0) -> Samples:
    """Return the samples with the inputs as they arrive; rows before the first arrival go.

    So do those before an arrival at `beside`, with which this dead time is compared.
    """
    longer = max(delay, beside)
    if longer <= 0.0:
        return samples
    keep: list[np.ndarray[tuple[int], np.dtype[np.int64]]] = []
    inputs = samples.inputs.copy()
    firsts = [0]
    for s in range(samples.n_segments):
        part = samples.rows_of(s)
        t = samples.times[part]
        slack = 1e-6 * longer
        source = np.searchsorted(t, t - delay + slack, side="right") - 1
        inputs[part] = samples.inputs[part][np.maximum(source, 0)]
        rows = np.flatnonzero(t - longer + slack >= t[0]) + part.start
        if len(rows) >= 2:
            keep.append(rows.astype(np.int64))
            firsts.append(firsts[-1] + len(rows))
    rows = np.concatenate(keep)
    return replace(
        samples,
        times=samples.times[rows],
        states=samples.states[rows],
        inputs=inputs[rows],
        firsts=np.array(firsts, dtype=np.int64),
    )
