"""What is written to the ledger: one function per kind of event, from records to content.

Each returns the kind and the content, to be appended: `store.append(*entries.choice(chosen))`.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from alder.ledger.coding import (
    Json,
    candidate_to_json,
    choice_to_json,
    fit_to_json,
    front_law_to_json,
    law_to_json,
    plain_to_json,
    proposal_to_json,
    refusal_to_json,
    source_to_json,
    trajectory_to_json,
)
from alder.ledger.configuration import Configuration, configuration_to_json
from alder.ports import Submission
from alder.records.budget import Budget, Spent
from alder.records.evidence import Candidate, Choice, Misfit
from alder.records.experiment import FailedRun, Trajectory
from alder.records.fit import Fit
from alder.records.front import FrontLaw
from alder.records.law import Law
from alder.records.outcome import Refusal
from alder.records.problem import Problem
from alder.records.proposal import Proposal
from alder.records.verdict import Commitment, Verdict

Kind: TypeAlias = Literal[
    "configuration",
    "commitments",
    "initial",
    "validation",
    "proposal",
    "problems",
    "fit",
    "front",
    "verdict",
    "candidates",
    "choice",
    "outcome",
    "failed",
    "abandoned",
    "charge",
    "resume",
    "end",
]

Entry: TypeAlias = tuple[Kind, Json]


def configuration(asked: Configuration) -> Entry:
    """Say what the study was asked to do, and the digest by which it may be resumed."""
    return "configuration", {**configuration_to_json(asked), "digest": asked.digest}


def commitments(made: Sequence[Commitment]) -> Entry:
    """Publish the digests of protected rows, before the first proposal."""
    return "commitments", {"commitments": [plain_to_json(commitment) for commitment in made]}


def initial(rows: Trajectory, *, n_dropped: int = 0) -> Entry:
    """Give the rows that were there before the first experiment, and how many were left out."""
    return "initial", {**trajectory_to_json(rows), "n_dropped": n_dropped}


def validation(rows: Trajectory) -> Entry:
    """Give the public rows that are never used for fitting."""
    return "validation", trajectory_to_json(rows)


def proposal(submission: Submission, read: Proposal | None) -> Entry:
    """Record what a proposer offered, and the proposal that was read from it, if any.

    Each one begins an attempt; attempts are counted from 0 in the order of these events.
    """
    source = submission.source
    return "proposal", {
        "source": None if isinstance(source, Proposal) else source_to_json(source),
        "proposal": None if read is None else proposal_to_json(read),
        "rivals": [proposal_to_json(rival) for rival in submission.rivals],
        "tokens": submission.tokens,
        "money": submission.money,
        "front": [proposal_to_json(one) for one in submission.front],
    }


def problems(attempt: int, found: Sequence[Problem]) -> Entry:
    """Record what is wrong with the proposal of an attempt."""
    return "problems", {
        "attempt": attempt,
        "problems": [plain_to_json(problem) for problem in found],
    }


def fit(
    attempt: int,
    found: Fit,
    *,
    validation_nmse: float | None,
    misfits: Sequence[Misfit],
    folds: int = 0,
) -> Entry:
    """Record the fit of an attempt; a later fit of the same attempt replaces it.

    The error is that on validation rows, or the cross-validated one over so many folds.
    """
    return "fit", {
        "attempt": attempt,
        "fit": fit_to_json(found),
        "validation_nmse": validation_nmse,
        "folds": folds,
        "misfits": [plain_to_json(misfit) for misfit in misfits],
    }


def front(laws: Sequence[FrontLaw]) -> Entry:
    """Record the laws that no other beats in size and accuracy on the public rows of the moment.

    What became of each of them is not written: it follows from the verdicts.
    """
    return "front", {"laws": [front_law_to_json(one) for one in laws]}


def verdict(attempt: int, answer: Verdict) -> Entry:
    """Record what the verifier answered to an attempt."""
    return "verdict", {"attempt": attempt, "verdict": plain_to_json(answer)}


def candidates(standing: Sequence[Candidate]) -> Entry:
    """Record the laws between which the next experiments are to choose."""
    return "candidates", {"candidates": [candidate_to_json(candidate) for candidate in standing]}


def choice(chosen: Choice) -> Entry:
    """Commit to an experiment before its outcome is known."""
    return "choice", choice_to_json(chosen)


def outcome(rows: Trajectory) -> Entry:
    """Record what an experiment showed."""
    return "outcome", trajectory_to_json(rows)


def failed(run: FailedRun) -> Entry:
    """Record an experiment that gave no rows."""
    return "failed", {"experiment": run.experiment, "reason": run.reason}


def abandoned(experiment: str, reason: str = "abandoned") -> Entry:
    """Record that nobody waits for an experiment any more; its rows may still come late."""
    return "abandoned", {"experiment": experiment, "reason": reason}


def charge(used: Spent) -> Entry:
    """Record what was used since the last charge."""
    return "charge", plain_to_json(used)


def resume(budget: Budget, versions: Mapping[str, str]) -> Entry:
    """Go on with a study under a budget that lowers no limit."""
    return "resume", {"budget": plain_to_json(budget), "versions": dict(versions)}


def end(
    law: Law | None,
    refusal: Refusal | None,
    *,
    verdict: Verdict | None = None,
    cut_short: bool = False,
) -> Entry:
    """Freeze the ledger with a law or a refusal."""
    return "end", {
        "law": None if law is None else law_to_json(law),
        "refusal": None if refusal is None else refusal_to_json(refusal),
        "verdict": None if verdict is None else plain_to_json(verdict),
        "cut_short": cut_short,
    }
