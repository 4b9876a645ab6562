"""Four small parts for Alder, all about coins: a selector, a proposer, a world and a criterion."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, final

import numpy as np

import alder
from alder.arrays import FloatArray
from alder.checking import check
from alder.expr.canonical import skeleton_digest
from alder.expr.text import parse
from alder.ports import Forecast, Submission
from alder.records.evidence import Candidate, Choice, Evidence


@final
@dataclass(frozen=True, slots=True)
class CoinFlip:
    """A selector: go through the safe experiments and take each with a chance of `heads`."""

    heads: float = 0.5

    def select(
        self,
        candidates: Sequence[Candidate],
        evidence: Evidence,
        forecast: Forecast,
        n: int,
        rng: np.random.Generator,
    ) -> tuple[Choice, ...]:
        """Return up to n distinct safe experiments not yet run."""
        pool = forecast.pool()
        choices: list[Choice] = []
        for row, identity in enumerate(pool.ids):
            is_open = bool(pool.safe[row]) and identity not in evidence.done
            if len(choices) < n and is_open and rng.random() < self.heads:
                choices.append(Choice(pool.experiment(row), score=0.0, reason="heads"))
        return tuple(choices)


@final
@dataclass(frozen=True, slots=True)
class CoinToss:
    """A proposer: a weighted sum of some of the variables, drawn by lot, each sum once."""

    def propose(self, evidence: Evidence, rng: np.random.Generator) -> Submission | None:
        """Return a sum that was not tried yet; None where all were."""
        names = evidence.grammar.variable_names
        tried = {skeleton_digest(a.proposal.structure) for a in evidence.attempts if a.proposal}
        texts = [
            " + ".join(["c", *(f"k{i}*{name}" for i, name in enumerate(some))])
            for n in range(1, len(names) + 1)
            for some in combinations(names, n)
        ]
        proposals = [alder.Proposal(parse(text, names), rationale="drawn by lot") for text in texts]
        left = [
            proposal
            for proposal in proposals
            if not check(proposal, evidence.grammar)
            and skeleton_digest(proposal.structure) not in tried
        ]
        return Submission(left[int(rng.integers(len(left)))]) if left else None


def coins() -> alder.FunctionWorld:
    """Make a world: a coin that shows heads six times in ten, tossed `n` times."""

    def toss(settings: dict[str, Any]) -> float:
        n = int(settings["n"])
        return float(np.random.default_rng(n).binomial(n, 0.6))

    return alder.FunctionWorld(toss, experiments={"n": list(range(20, 400, 5))})


@final
@dataclass(frozen=True, slots=True)
class Balanced:
    """A criterion: as many rows lie above the law as below, within `sigmas` of a fair coin."""

    sigmas: float = 4.0

    def violated(self, law: alder.Law, rows: Mapping[str, FloatArray], role: str) -> bool:
        """Say whether errors are of one sign too often."""
        signs = np.sign(rows[law.target.name] - law.predict(rows))
        n = int(np.count_nonzero(signs))
        return bool(abs(float(signs.sum())) > self.sigmas * math.sqrt(n))
