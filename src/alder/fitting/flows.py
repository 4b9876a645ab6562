r"""Systems of structure trees as something that moves: solutions and their sensitivities."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.expr.nodes import Expr, parameters
from alder.expr.operators import Floors
from alder.expr.sums import summands
from alder.fitting.samples import Samples
from alder.kernel.encode import Batch, encode
from alder.kernel.opcodes import CST, PAR

TOLERANCE = 1e-7
"""Relative error of a step: far below measured noise, and cheap."""
RESOLVED = 1e-5
"""Share of a state's spread below which a residual is the solver's, or that of the recording."""
_ROUNDED = 1e-13  # a map is followed without error, but for rounding
MOST_STEPS = 150
"""Steps between two samples; what needs more is stiff or diverges, and counts as ended there."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """States (rows, d) at the samples' times; sensitivities (rows, d, d + P + K), or none.

    `reached` counts the rows of each segment that were reached. A later row repeats the last one.
    """

    states: FloatArray
    sensitivities: FloatArray
    reached: NDArray[np.int64]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Flow:
    r"""$\dot x = C v(x, u; p)$: programs $v$, the mixture $C$, and the parameters' names.

    `active` lists entries of $C$, each a state and a program, by which solutions are derived too.
    With `discrete` it is a map from one sample to the next.
    """

    batch: Batch
    parameters: tuple[str, ...]
    mix: FloatArray
    active: NDArray[np.int64]
    floors: Floors
    discrete: bool = False

    @property
    def resolution(self) -> float:
        """To which share of their size derivatives of solutions are right."""
        return _ROUNDED if self.discrete else 10.0 * TOLERANCE

    @staticmethod
    def of(structures: Sequence[Expr], columns: Sequence[str], *, discrete: bool = False) -> "Flow":
        """Return the system of one structure per state; equal names are one parameter.

        `columns` name the states, then the inputs. Every summand is a program: it is derived by
        the few parameters in it only.
        """
        names = tuple(dict.fromkeys(n for each in structures for n in parameters(each)))
        parts = [(i, *part) for i, each in enumerate(structures) for part in summands(each)]
        mix = np.zeros((len(structures), len(parts)))
        for place, (state, sign, _) in enumerate(parts):
            mix[state, place] = sign
        return Flow(
            _shared(encode([part for _, _, part in parts], columns), names),
            names,
            mix,
            np.zeros((0, 2), dtype=np.int64),
            Floors(),
            discrete,
        )

    @staticmethod
    def library(
        terms: Sequence[Expr], columns: Sequence[str], n_states: int, *, discrete: bool = False
    ) -> "Flow":
        """Return sums of given terms, which hold no parameters; every coefficient is derived by."""
        pairs = np.array(
            [(i, q) for i in range(n_states) for q in range(len(terms))], dtype=np.int64
        )
        return Flow(
            encode(terms, columns), (), np.zeros((n_states, len(terms))), pairs, Floors(), discrete
        )

    @staticmethod
    def known(
        structures: Sequence[Expr],
        columns: Sequence[str],
        values: Sequence[Mapping[str, float]],
        floors: Floors,
    ) -> "Flow":
        """Return the system of one structure per state, each with its own coefficients in it."""
        batch = encode(structures, columns)
        opcodes, literals = batch.opcodes.copy(), batch.literals.copy()
        for s, (own, numbers) in enumerate(zip(batch.parameters, values, strict=True)):
            part = np.arange(int(batch.offsets[s]), int(batch.offsets[s + 1]))
            reads = part[batch.opcodes[part] == PAR]
            literals[reads] = [numbers[own[int(k)]] for k in batch.arguments[reads]]
            opcodes[reads] = CST
        nameless = tuple(() for _ in batch.parameters)
        batch = replace(batch, opcodes=opcodes, literals=literals, parameters=nameless)
        mix, active = np.eye(len(structures)), np.zeros((0, 2), dtype=np.int64)
        return Flow(batch, (), mix, active, floors)

    def mixed(self, mix: FloatArray) -> "Flow":
        """Return the same terms in another mixture."""
        return replace(self, mix=np.ascontiguousarray(mix))

    def with_summands(self) -> "Flow":
        """Derive solutions by the weight of every summand that holds a parameter, too.

        A weight is one, or minus one: the derivative is what the summand does, to first order.
        """
        fitted = np.array([bool(names) for names in self.batch.parameters])
        return replace(self, active=np.argwhere((self.mix != 0.0) & fitted))

    def held_at(self, values: FloatArray) -> "Flow":
        """Return the system with these numbers in it and no parameter left."""
        b = self.batch
        reads = b.opcodes == PAR
        literals = b.literals.copy()
        literals[reads] = values[b.arguments[reads]]
        opcodes = np.where(reads, CST, b.opcodes)
        nameless = tuple(() for _ in b.parameters)
        batch = replace(b, opcodes=opcodes, literals=literals, parameters=nameless)
        return replace(self, batch=batch, parameters=())

    def solve(
        self,
        samples: Samples,
        starts: FloatArray,
        values: Mapping[str, float] | FloatArray,
        *,
        sensitivities: bool = False,
        tolerance: float = TOLERANCE,
    ) -> Solution:
        """Solve every segment from its start, at the times and with the inputs of the samples."""
        from alder.kernel.flow import flow

        p = (
            np.array([values[name] for name in self.parameters])
            if isinstance(values, Mapping)
            else np.ascontiguousarray(values)
        )
        n_rows, n_states = samples.states.shape
        n_lines = n_states + len(p) + len(self.active)
        states = np.zeros((n_rows, n_states))
        derived = np.zeros((n_rows, n_states, n_lines) if sensitivities else (0, 0, 0))
        reached = np.zeros(samples.n_segments, dtype=np.int64)
        size = float(np.max(np.abs(starts), initial=0.0)) or 1.0
        f = self.floors
        floors = np.array([f.denominator, f.base, f.exponent, f.saturation])
        limits = np.array([tolerance, tolerance * 1e-3 * size, float(MOST_STEPS)])
        b = self.batch
        flow(
            b.opcodes, b.arguments, b.literals, b.offsets, p, self.mix, self.active, floors,
            limits, self.discrete, np.ascontiguousarray(starts), samples.firsts, samples.times,
            samples.inputs, states, derived, reached,
        )  # fmt: skip
        return Solution(states, derived, reached)


def _shared(batch: Batch, names: tuple[str, ...]) -> Batch:
    """Let every structure count its parameters in one common list."""
    arguments = batch.arguments.copy()
    place = {name: index for index, name in enumerate(names)}
    for s, own in enumerate(batch.parameters):
        part = slice(int(batch.offsets[s]), int(batch.offsets[s + 1]))
        reads = batch.opcodes[part] == PAR
        table = np.array([place[name] for name in own], dtype=np.int64)
        if len(own):
            arguments[part] = np.where(
                reads, table[np.where(reads, arguments[part], 0)], arguments[part]
            )
    return replace(batch, arguments=arguments)
