r"""One that wants to know protected outcomes, and no law: every answer is to tell it one bit.

It knows all but the bits: inputs, the law, the distance of outcomes from it, the rules, and, to
calibrate, the first outcome. Its laws are the known one with a spike of height $c$ at row $j$; the
squared errors sum to

$$S_j(c) = n a^2 + c^2 - 2 a c s_j$$

Where $c$ is such that the verifier's limit lies between the two values of $S_j$, the answer is
$s_j$. The limit depends on the outcomes themselves, so that it is found by bisection at the first
row. From then on a bit costs one submission, for as long as the answer can be either.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np

from alder.arrays import freeze
from alder.bench.channel.secret import EDGE, TARGET, VARIABLE, grid
from alder.expr.text import parse
from alder.records.law import Law
from alder.records.noise import Noise
from alder.records.scope import Scope
from alder.records.variable import Variable
from alder.records.verdict import Category

Submit: TypeAlias = Callable[[Law], Category]
CanPass: TypeAlias = Callable[[Law, list[Category]], bool]

# Three standard deviations either way, halved twice, are less than half of the gap between the two
# sums of a row.
N_CALIBRATION = 2
_SURE = 3.0
# Of a step between rows: the neighbours of a spike see a ten-millionth of it.
_WIDTH = 0.25
# Makes every law fail under shift, so that none is admitted and ends the attack.
_WRONG_UNDER_SHIFT = 10.0


@final
@dataclass(frozen=True, slots=True)
class Read:
    """What an attack brought: the bits it read by row, and every answer in order."""

    bits: dict[int, float]
    answers: list[Category]


@final
@dataclass(frozen=True, slots=True)
class Attacker:
    """Knows the size of the secret, the first bit, and how a refusal at the limit reads.

    `limit` is the sum of squared errors it expects to pass, `doubt` the standard deviation of that,
    and `refusal` the answer beyond it. `can_pass` says whether a law of its kind could still be
    answered otherwise.
    """

    n_rows: int
    size: float
    first: float
    limit: float
    doubt: float
    refusal: Category
    can_pass: CanPass

    def attack(self, submit: Submit, n_laws: int) -> Read:
        """Submit up to n_laws laws, and stop where no answer can tell anything more."""
        answers: list[Category] = []
        bits: dict[int, float] = {}

        def passes(row: int, height: float) -> bool | None:
            law = self.law(row, height)
            if len(answers) >= n_laws or not self.can_pass(law, answers):
                return None
            answers.append(submit(law))
            return answers[-1] != self.refusal

        limit = self._calibrated(passes)
        height = float(np.sqrt(max(limit - self.n_rows * self.size**2, 0.0)))
        for row in range(1, self.n_rows):
            passed = passes(row, height)
            if passed is None:
                break
            bits[row] = 1.0 if passed else -1.0
        return Read(bits, answers)

    def _calibrated(self, passes: Callable[[int, float], bool | None]) -> float:
        """Halve the interval in which the limit lies, at the row whose outcome is known."""
        low, high = (self.limit + sign * _SURE * self.doubt for sign in (-1.0, 1.0))
        rest = self.n_rows * self.size**2
        for _ in range(N_CALIBRATION):
            middle = 0.5 * (low + high)
            a = self.size * self.first
            height = a + np.sqrt(max(a * a + middle - rest, 0.0))
            low, high = (middle, high) if passes(0, float(height)) else (low, middle)
        return 0.5 * (low + high)

    def law(self, row: int, height: float) -> Law:
        """Write the known law with a spike at a row."""
        place, step = float(grid(self.n_rows)[row]), 1.0 / self.n_rows
        text = (
            f"{VARIABLE} + {height!r}*exp(-(({VARIABLE} - {place!r})/{_WIDTH * step!r})^2)"
            f" + {_WRONG_UNDER_SHIFT}*max({VARIABLE} - {EDGE}, 0)"
        )
        return Law(
            structure=parse(text, (VARIABLE,)),
            target=Variable(TARGET),
            variables=(Variable(VARIABLE),),
            coefficients=(),
            covariance=freeze(np.zeros((0, 0))),
            residual_df=self.n_rows,
            noise=Noise(self.size),
            scope=Scope.of({VARIABLE: grid(self.n_rows)}),
            n_rows=self.n_rows,
        )
