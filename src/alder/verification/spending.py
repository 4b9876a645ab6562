r"""What the verifier's answers cost: rows that answer many questions mean less with each answer.

A proposer that reads the answers chooses its next law by them, so a test at the level of a single
law promises nothing. Every answer is one of a few categories, so the laws that could be submitted
as number k are the nodes of a tree whose branches are answers: a union over that tree, with weights
that sum to one, keeps the promise for every strategy whatever (Dwork et al. 2015, section on
description length; Blum and Hardt 2015).
"""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, assert_never, final

from alder.errors import BadStudy
from alder.records.verdict import Category

REVEALING: tuple[Category, ...] = (
    "no-better-than-reference",
    "inaccurate",
    "fails-under-shift",
    "accept",
)
"""Answers that depend on protected outcomes in every study; others cost nothing."""

OWN: Category = "fails-criterion"
"""One more such answer, where a study adds criteria of its own."""


@final
@dataclass(frozen=True, slots=True)
class AlphaSpending:
    r"""The share `alpha` of false promises is spread over all answers that could be given.

    $$\alpha_k = \alpha \, \frac{6}{\pi^2 k^2} \prod_{j<k} q(c_j \mid c_1 \dots c_{j-1})$$

    $c_j$ are the answers so far and $q$ a fixed rule that expects answers as often as they came
    before, $(n_c + \tfrac12) / (n + \tfrac m2)$ where $m$ answers are possible. The $\alpha_k$ of
    all possible conversations sum to $\alpha$. Monotonous answers are cheap; a conversation that
    draws a fresh bit from every answer pays for it. After `submissions` laws no more is answered.
    """

    alpha: float = 0.05
    submissions: int = 1000


@final
@dataclass(frozen=True, slots=True)
class Thresholdout:
    """The reusable holdout: thresholds carry Laplace noise, and refusals are budgeted.

    Scores are in standard deviations. A law must beat the reference by `margin` beyond the level
    of a single test; `scale` is that of the noise. After `refusals` refusals no more is answered.
    The bound of an admission is the one alpha-spending gives, which noise cannot spoil.
    """

    alpha: float = 0.05
    margin: float = 2.0
    scale: float = 0.5
    refusals: int = 100


@final
@dataclass(frozen=True, slots=True)
class Naive:
    """Every law is tested as if it were the first; for comparison only."""

    alpha: float = 0.05
    submissions: int = 1000


Spending: TypeAlias = AlphaSpending | Thresholdout | Naive
_KINDS: dict[str, type[AlphaSpending] | type[Thresholdout] | type[Naive]] = {
    "alpha-spending": AlphaSpending,
    "thresholdout": Thresholdout,
    "naive": Naive,
}


def require_sound(spending: Spending) -> None:
    """Raise `BadStudy` for a share that is none."""
    if not 0.0 < spending.alpha < 1.0:
        raise BadStudy(f"spending.alpha lies between 0 and 1; got {spending.alpha}.")


def spending_to_json(spending: Spending) -> dict[str, Any]:
    """Return the settings as JSON values."""
    kind = next(name for name, cls in _KINDS.items() if isinstance(spending, cls))
    return {"kind": kind, **dataclasses.asdict(spending)}


def spending_from_json(value: Mapping[str, Any]) -> Spending:
    """Read what `spending_to_json` wrote."""
    settings = {name: setting for name, setting in value.items() if name != "kind"}
    return _KINDS[value["kind"]](**settings)


def level(
    spending: Spending,
    answers: Sequence[Category],
    possible: tuple[Category, ...] = REVEALING,
) -> float:
    """Return the share of false promises the next answer may use, after those already given.

    `possible` are the answers that depend on protected outcomes in this study.
    """
    match spending:
        case AlphaSpending() | Thresholdout():
            return spending.alpha * _weight([a for a in answers if a in possible], possible)
        case Naive():
            return spending.alpha
        case _:
            assert_never(spending)


def is_spent(spending: Spending, answers: Sequence[Category]) -> bool:
    """Say whether the verifier may answer no more."""
    match spending:
        case AlphaSpending() | Naive():
            return len(answers) >= spending.submissions
        case Thresholdout():
            refusals = sum(a in (*REVEALING, OWN) and a != "accept" for a in answers)
            return refusals >= spending.refusals
        case _:
            assert_never(spending)


def _weight(answers: Sequence[Category], possible: tuple[Category, ...]) -> float:
    """Return the weight of one conversation; kept as a logarithm until the end."""
    k = len(answers) + 1
    log = math.log(6.0 / (math.pi * k) ** 2)
    counts = dict.fromkeys(possible, 0)
    for n, answer in enumerate(answers):
        log += math.log((counts[answer] + 0.5) / (n + 0.5 * len(possible)))
        counts[answer] += 1
    return math.exp(max(log, -600.0))
