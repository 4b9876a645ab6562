# pyright: basic
# ruff: noqa: C901, PLR0912, PLR0913, PLR0915, SIM110 (numba: long functions, plain loops)
r"""Solve $\dot x = C\,v(x, u; p)$ over many segments, with exact sensitivities.

The programs $v_q$ are bytecode; $C$ mixes them into rates, so that one kernel serves a system of
structure trees ($C = 1$, all parameters in $p$) and a library of columns (coefficients in $C$).
The sensitivities by the start, by $p$ and by chosen entries of $C$ obey

$$\dot S = \frac{\partial f}{\partial x} S + \frac{\partial f}{\partial (p, C)}$$

and are integrated with the states, so that they are those of the computed solution. Dormand and
Prince's pair of order five controls the states' error; a segment that diverges or needs more steps
than allowed ends there and says so. With `discrete` the segment is iterated: $x_{k+1} = f(x_k)$.
"""

import numpy as np

from alder.kernel.compiled import bare, entry
from alder.kernel.opcodes import PAR, VAR
from alder.kernel.pointwise import values_at

_STAGES = 7
_A = np.array(
    [
        [0, 0, 0, 0, 0, 0],
        [1 / 5, 0, 0, 0, 0, 0],
        [3 / 40, 9 / 40, 0, 0, 0, 0],
        [44 / 45, -56 / 15, 32 / 9, 0, 0, 0],
        [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729, 0, 0],
        [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656, 0],
        [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
    ]
)
_ERROR = np.array(
    [71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40]
)  # difference of the two orders


@bare
def _rates(programs, p, mix, active, floors, x, n_x, S, with_s, room, dx, dS):
    """Write the rates of states and sensitivities at one point; false where they are not finite."""
    opcodes, arguments, literals, offsets, lines, owned, n_lines = programs
    stack, tangents, v, derived, J, F = room
    n_p = p.size
    values_at(
        opcodes, arguments, literals, offsets, lines, n_lines, x, p, floors, stack, tangents, v,
        derived,
    )  # fmt: skip
    for i in range(n_x):
        dx[i] = 0.0
    if with_s:
        J[:, :] = 0.0
        F[:, :] = 0.0
    for q in range(offsets.size - 1):
        for i in range(n_x):
            weight = mix[i, q]
            if weight == 0.0:
                continue
            dx[i] += weight * v[q]
            if with_s:
                for k in range(n_x):
                    J[i, k] += weight * derived[q, k]
                for k in range(n_x, n_lines[q]):
                    F[i, owned[offsets[q] + k - n_x]] += weight * derived[q, k]
    if with_s:
        for i in range(n_x):
            for k in range(S.shape[1]):
                dS[i, k] = 0.0
            for j in range(n_x):
                slope = J[i, j]
                if slope != 0.0:
                    for k in range(S.shape[1]):
                        dS[i, k] += slope * S[j, k]
            for k in range(n_p):
                dS[i, n_x + k] += F[i, k]
        for k in range(active.shape[0]):
            dS[active[k, 0], n_x + n_p + k] += v[active[k, 1]]
    for i in range(n_x):
        if not abs(dx[i]) < 1e100:
            return False
    return True


@bare
def _lines(opcodes, arguments, offsets, mix, lines, owned, n_lines):
    """Say by what programs that take part are derived: all states, and parameters they read.

    `owned` lists the latter from the program's first instruction on.
    """
    n_x = mix.shape[0]
    for q in range(offsets.size - 1):
        first, n = offsets[q], 0
        for pc in range(first, offsets[q + 1]):
            lines[pc] = -1
            if opcodes[pc] == VAR and arguments[pc] < n_x:
                lines[pc] = arguments[pc]
            elif opcodes[pc] == PAR:
                place = 0
                while place < n and owned[first + place] != arguments[pc]:
                    place += 1
                if place == n:
                    owned[first + n] = arguments[pc]
                    n += 1
                lines[pc] = n_x + place
        for i in range(n_x):
            if mix[i, q] != 0.0:
                n_lines[q] = n_x + n


@bare
def _advance(
    programs, p, mix, active, floors, x, n_x, S, with_s, span, h, limits, room, xs, kx, kS,
    trialS,
):  # fmt: skip
    """Go on by `span` in place; return the next step size, or a negative number on failure."""
    rtol, atol, most = limits[0], limits[1], limits[2]
    done = 0.0
    steps = 0.0
    n_columns = x.size
    for i in range(n_columns):
        xs[i] = x[i]
    if not _rates(programs, p, mix, active, floors, x, n_x, S, with_s, room, kx[0], kS[0]):
        return -1.0
    while done < span:
        steps += 1.0
        if steps > most:
            return -1.0
        # What is left within rounding belongs to this step: by itself it would be no step at all.
        last = h >= (span - done) * (1.0 - 1e-12)
        step = span - done if last else h
        sound = True
        for s in range(1, _STAGES):
            for i in range(n_x):
                total = 0.0
                for j in range(s):
                    total += _A[s, j] * kx[j, i]
                xs[i] = x[i] + step * total
            if with_s:
                for i in range(n_x):
                    for k in range(S.shape[1]):
                        trialS[i, k] = S[i, k]
                    for j in range(s):
                        weight = step * _A[s, j]
                        for k in range(S.shape[1]):
                            trialS[i, k] += weight * kS[j, i, k]
            if not _rates(
                programs, p, mix, active, floors, xs, n_x, trialS, with_s, room, kx[s], kS[s],
            ):  # fmt: skip
                sound = False
                break
        error = 0.0
        if sound:
            for i in range(n_x):
                total = 0.0
                for j in range(_STAGES):
                    total += _ERROR[j] * kx[j, i]
                scale = atol + rtol * max(abs(x[i]), abs(xs[i]))
                error = max(error, abs(step * total) / scale)
        if sound and error <= 1.0:
            done = span if last else done + step
            for i in range(n_x):
                x[i] = xs[i]
                kx[0, i] = kx[_STAGES - 1, i]
            if with_s:
                for i in range(n_x):
                    for k in range(S.shape[1]):
                        S[i, k] = trialS[i, k]
                        kS[0, i, k] = kS[_STAGES - 1, i, k]
        factor = 0.2 if not sound else min(5.0, max(0.2, 0.9 * (error + 1e-12) ** -0.2))
        if not (sound and last and error <= 1.0 and factor < 1.0):
            h = step * factor
        if not (sound and error <= 1.0) and h < 1e-14 * span:
            return -1.0
    return h


@entry
def flow(
    opcodes, arguments, literals, offsets, p, mix, active, floors, limits, discrete, starts,
    firsts, times, inputs, states, sensitivities, sound,
):  # fmt: skip
    """Fill the states (N, d) and sensitivities (N, d, d + P + K) of every segment at its times.

    Segment s holds rows firsts[s] to firsts[s + 1]; its first row is its start. Inputs of a row
    hold until the next one. Without room for sensitivities none are computed. `limits` are the
    relative tolerance, the absolute one and the most steps between two rows. `sound[s]` counts the
    rows that were reached; later ones repeat the last.
    """
    n_x = starts.shape[1]
    lines, owned = np.empty(opcodes.size, np.int64), np.empty(opcodes.size, np.int64)
    n_programs = offsets.size - 1
    with_s = sensitivities.size > 0
    n_lines = np.zeros(n_programs, np.int64)
    if with_s:
        _lines(opcodes, arguments, offsets, mix, lines, owned, n_lines)
    programs = (opcodes, arguments, literals, offsets, lines, owned, n_lines)
    longest = 1
    for q in range(n_programs):
        longest = max(longest, offsets[q + 1] - offsets[q])
    most = n_lines.max()
    room = (
        np.empty(longest), np.empty((longest, most)), np.empty(n_programs),
        np.empty((n_programs, most)), np.empty((n_x, n_x)), np.empty((n_x, p.size)),
    )  # fmt: skip
    n_s = n_x + p.size + active.shape[0] if with_s else 0
    S, trialS = np.zeros((n_x, n_s)), np.zeros((n_x, n_s))
    kx, kS = np.empty((_STAGES, n_x)), np.empty((_STAGES, n_x, n_s))
    x, xs = np.empty(n_x + inputs.shape[1]), np.empty(n_x + inputs.shape[1])
    for s in range(starts.shape[0]):
        first, last = firsts[s], firsts[s + 1]
        for i in range(n_x):
            x[i] = starts[s, i]
        S[:, :] = 0.0
        if with_s:
            for i in range(n_x):
                S[i, i] = 1.0
        h = times[last - 1] - times[first]
        sound[s] = last - first
        for row in range(first, last):
            if row > first and sound[s] == last - first:
                for j in range(inputs.shape[1]):
                    x[n_x + j] = inputs[row - 1, j]
                if discrete:
                    good = _rates(
                        programs, p, mix, active, floors, x, n_x, S, with_s, room, kx[0], kS[0],
                    )  # fmt: skip
                    if good:
                        x[:n_x] = kx[0]
                        if with_s:
                            S[:, :] = kS[0]
                    else:
                        sound[s] = row - first
                else:
                    h = _advance(
                        programs, p, mix, active, floors, x, n_x, S, with_s,
                        times[row] - times[row - 1], h, limits, room, xs, kx, kS, trialS,
                    )  # fmt: skip
                    if h < 0.0:
                        sound[s] = row - first
            states[row] = x[:n_x]
            if with_s:
                sensitivities[row] = S
