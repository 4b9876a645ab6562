"""`alder bench channel`: how many bits of protected outcomes 100 answers tell an attacker."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from alder.bench.benchmark import Benchmark, Job, Row
from alder.bench.channel.attacker import Attacker, Read
from alder.bench.channel.secret import N_ROWS, TARGET, VARIABLE, Secret, grid, plant
from alder.bench.null.adversary import tally
from alder.bench.null.run import upper_bound
from alder.bench.statistics import bootstrap_interval
from alder.records.law import Law
from alder.records.verdict import Category
from alder.verification.admit import Sealed, admit
from alder.verification.criteria import Criteria, Reference, Thresholds
from alder.verification.spending import (
    REVEALING,
    AlphaSpending,
    Naive,
    Spending,
    Thresholdout,
    level,
)
from alder.verification.structure import signed_rank_p
from alder.verification.terms import Terms

N_SUBMISSIONS = 100
N_CASES, MOST_CASES = 50, 1000

# Of the spread of the outcomes, 0.29: a share that the default gate calls noise.
_SIZE = 0.02
# An order below the root of the fixed limit, so that the known law passes it.
_SMALL = 0.001
_MEAN = 0.5


@final
@dataclass(frozen=True, slots=True)
class Setting:
    """Terms under which laws are judged, and the size of the secret that suits them."""

    spending: Spending
    criteria: Criteria
    size: float = _SIZE
    n_rows: int = N_ROWS

    @property
    def refusal(self) -> Category:
        """The answer beyond the limit that the attacker works at."""
        return "no-better-than-reference" if self.criteria.thresholds is None else "inaccurate"

    @property
    def limit(self) -> tuple[float, float]:
        r"""The sum of squared errors that passes, as far as it is known without the bits.

        The mean and the standard deviation of $m \sum (y_j - r)^2$ over fair coins $s_j$: a share
        of the squared distance from the reference $r$, which is $x_j - r + a s_j$.
        """
        squares = np.square(grid(self.n_rows) - _MEAN)
        limits = self.criteria.thresholds
        share = 1.0 - self.criteria.improvement if limits is None else limits.admission_nmse
        mean = float(np.sum(squares + self.size**2))
        return share * mean, share * 2.0 * self.size * float(np.sqrt(np.sum(squares)))


METHODS: dict[str, Setting] = {
    "alpha-spending": Setting(AlphaSpending(), Criteria()),
    "alpha-spending, 32 rows": Setting(AlphaSpending(), Criteria(), n_rows=32),
    "thresholdout": Setting(Thresholdout(), Criteria()),
    "naive": Setting(Naive(), Criteria()),
    "naive, fixed limits": Setting(Naive(), Criteria(thresholds=Thresholds(1e-4, 1e-3)), _SMALL),
}
"""The default first; the last is what benchmarks with limits of their own use."""


def measure(job: Job) -> Iterator[Row]:
    """Plant bits, and let an attacker read as many of them as 100 answers tell."""
    number, seed = int(job.case.removeprefix("trial-")), int(job.settings["seed"])
    for name in job.methods:
        yield trial(METHODS[name], np.random.default_rng([seed, number]))


def trial(setting: Setting, rng: np.random.Generator, n_laws: int = N_SUBMISSIONS) -> Row:
    """Return what one attack read, how much of it is right, and how long its conversation was."""
    secret = plant(rng, setting.size, setting.n_rows)
    found = _attack(setting, secret, rng.bytes(32), n_laws)
    return {
        "submissions": len(found.answers),
        "answers": tally(found.answers),
        "read": len(found.bits),
        "right": sum(bit == float(secret.signs[row]) for row, bit in found.bits.items()),
        "conversation_bits": conversation_bits(found.answers),
        "ceiling_bits": ceiling(setting, n_laws),
    }


def _attack(setting: Setting, secret: Secret, key: bytes, n_laws: int) -> Read:
    terms = Terms((VARIABLE,), TARGET, (Reference(_MEAN),), setting.criteria, setting.spending)
    sealed = Sealed(secret.protected, terms, key)
    answers: list[Category] = []

    def submit(law: Law) -> Category:
        answers.append(admit(sealed, law, answers).category)
        return answers[-1]

    def can_pass(law: Law, given: list[Category]) -> bool:
        """Say whether spending, whose rule is public, leaves any level that a law could meet."""
        if not isinstance(setting.spending, AlphaSpending):
            return True
        x = grid(setting.n_rows)
        wrong = np.square(law.predict({VARIABLE: x}) - x) + setting.size**2
        better = (1.0 - setting.criteria.improvement) * np.square(x - _MEAN) - wrong
        return signed_rank_p(better) <= level(setting.spending, given) / 2.0

    attacker = Attacker(
        setting.n_rows, setting.size, float(secret.signs[0]), *setting.limit, setting.refusal,
        can_pass,
    )  # fmt: skip
    return attacker.attack(submit, n_laws)


def conversation_bits(
    answers: Sequence[Category], possible: Sequence[Category] = REVEALING
) -> float:
    r"""Return the length in bits of a conversation, $-\sum_k \log_2 q(c_k \mid c_1 \dots c_{k-1})$.

    $q = (n_c + \tfrac12) / (n + \tfrac m2)$ expects each of $m$ answers as often as it came before.
    Whatever the attacker does, the mean length is at least the entropy of the answers, and that is
    at least what they tell about anything.

    >>> conversation_bits(["inaccurate"])
    2.0
    """
    counts: Counter[Category] = Counter()
    bits = 0.0
    for n, answer in enumerate(answers):
        bits -= math.log2((counts[answer] + 0.5) / (n + 0.5 * len(possible)))
        counts[answer] += 1
    return bits


def ceiling(setting: Setting, n_laws: int = N_SUBMISSIONS) -> float:
    r"""Return the most bits that any attacker whatever learns from its answers.

    A submission has three answers, since a fourth ends the study: $k \log_2 3$. Alpha-spending
    passes no law once a conversation is so long that its level lies below the least p-value $p$
    that the rows can show; all further answers are the same. The last answer before that adds at
    most $\log_2(2k + 2)$ bits and was paid for with $\log_2(\pi^2 k^2 / 6)$, so that

    $$H \le \log_2 \frac{\alpha}{2 p} + \max_k \log_2 \frac{12 (k + 1)}{\pi^2 k^2}$$

    Fixed limits know no p-values, and keep nobody from answering.
    """
    every = n_laws * math.log2(3.0)
    spending = setting.spending
    if not isinstance(spending, AlphaSpending) or setting.criteria.thresholds is not None:
        return every
    p = signed_rank_p(np.ones(setting.n_rows))
    return min(every, math.log2(spending.alpha / (2.0 * p)) + math.log2(24.0 / math.pi**2))


def told(read: float, n_wrong: int, n_read: int) -> float:
    r"""Return the bits that `read` readings tell, $m (1 - h(e))$, at the most errors to be feared.

    $h$ is the entropy of a coin of the error rate $e$, of which the upper 95 % bound is taken.
    """
    e = min(upper_bound(n_wrong, n_read), 0.5) if n_read else 0.5
    return read * (1.0 + e * math.log2(e) + (1.0 - e) * math.log2(1.0 - e))


def figures(rows: Sequence[Row]) -> dict[str, float]:
    """Return the means of one method; a trial that failed tells all it could, 100 bits."""
    failed = sum("error" in row for row in rows)
    read = [float(row.get("read", N_SUBMISSIONS)) for row in rows]
    length = [float(row.get("conversation_bits", 2.0 * N_SUBMISSIONS)) for row in rows]
    n_read = round(sum(read))
    n_wrong = n_read - sum(int(row.get("right", N_SUBMISSIONS)) for row in rows)
    trials = list(range(len(rows)))
    low, high = (told(end, n_wrong, n_read) for end in bootstrap_interval(read, trials))
    longest = bootstrap_interval(length, trials)[1]
    return {
        "trials": len(rows),
        "failed": failed,
        "submissions": float(np.mean([row.get("submissions", N_SUBMISSIONS) for row in rows])),
        "bits_read": float(np.mean(read)),
        "wrong": n_wrong / max(n_read, 1),
        "bits_told": told(float(np.mean(read)), n_wrong, n_read),
        "bits_told_low": low,
        "bits_told_high": high,
        "bits_at_most": float(np.mean(length)),
        "bits_at_most_high": longest,
        "ceiling": max(float(row.get("ceiling_bits", 2.0 * N_SUBMISSIONS)) for row in rows),
    }


def table(rows: Sequence[Row], figures: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Set what was told beside what the answers could tell at most."""
    lines = [
        f"{'':26} {'submitted':>9} {'read':>6} {'wrong':>6} {'told, bits [95 %]':>22} "
        f"{'at most':>8} {'any attacker':>13}"
    ]
    for name, f in figures.items():
        told_ = f"{f['bits_told']:.1f} [{f['bits_told_low']:.1f}, {f['bits_told_high']:.1f}]"
        lines.append(
            f"{name:26} {f['submissions']:9.1f} {f['bits_read']:6.1f} {f['wrong']:6.1%} "
            f"{told_:>22} {f['bits_at_most']:8.1f} {f['ceiling']:13.1f}"
        )
    return lines


BENCHMARK = Benchmark(
    name="channel",
    home=__name__,
    cases=tuple(f"trial-{number:04}" for number in range(MOST_CASES)),
    default_cases=str(N_CASES),
    methods=tuple(METHODS),
    measure=measure,
    figures=figures,
    table=table,
)
"""`alder bench channel`."""
