"""The contract of proposers."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import cast

import numpy as np

from alder.checking import check
from alder.expr.canonical import skeleton_digest
from alder.fitting import fit
from alder.ports import Proposer, Submission
from alder.records.evidence import Attempt, Evidence
from alder.records.proposal import Proposal
from alder.testing.contract import fingerprint, report, watched


def check_proposer(make: Callable[[], Proposer], *, evidence: Evidence, seed: int = 0) -> None:
    """Check a proposer on evidence.

    It gives a submission or None; structures are laws of the grammar; the same evidence and seed
    give the same submission, from a fresh proposer too; evidence and numpy's global randomness are
    left alone; and a structure that was just refused is not offered again on the same rows.
    """
    report(make, _proposer_breaches(make, evidence, seed))


def _proposer_breaches(
    make: Callable[[], Proposer], evidence: Evidence, seed: int
) -> Iterator[str]:
    if not isinstance(cast("object", make()), Proposer):
        yield "it has no method `propose`"
        return
    breaches: list[str] = []

    def propose(seen: Evidence) -> Submission | None:
        proposer, rng = make(), np.random.default_rng(seed)
        return watched("the evidence", seen, lambda: proposer.propose(seen, rng), breaches)

    first = propose(evidence)
    if fingerprint(first) != fingerprint(propose(evidence)):
        yield "the same evidence and seed gave two different submissions"
    if first is None:
        yield from breaches
    elif not isinstance(cast("object", first), Submission):
        yield f"it gave a {type(first).__name__}; a Submission or None is expected"
    else:
        yield from _submission_breaches(first, evidence)
        yield from _repeat_breaches(first, evidence, propose)
        yield from breaches


def _repeat_breaches(
    first: Submission, evidence: Evidence, propose: Callable[[Evidence], Submission | None]
) -> Iterator[str]:
    """Refuse the submission and look whether it comes again."""
    if not isinstance(first.source, Proposal) or check(first.source, evidence.grammar):
        return
    refused = replace(evidence, attempts=(*evidence.attempts, _refusal(first.source, evidence)))
    again = propose(refused)
    source = None if again is None else again.source
    if isinstance(source, Proposal) and _same_structure(source, first.source):
        yield "it offered the structure again that was just refused, on the same rows"


def _submission_breaches(submission: Submission, evidence: Evidence) -> Iterator[str]:
    offered = (submission.source, *submission.rivals, *submission.front)
    for proposal in [one for one in offered if isinstance(one, Proposal)]:
        for problem in check(proposal, evidence.grammar):
            yield f"it offered what is no law of the grammar: {problem}"
    if submission.tokens < 0:
        yield f"it used {submission.tokens} tokens; a count is not negative"


def _refusal(proposal: Proposal, evidence: Evidence) -> Attempt:
    fitted = fit(
        proposal,
        evidence.rows(),
        target=evidence.grammar.target,
        variables=evidence.grammar.variables,
    )
    return Attempt(proposal, fit=fitted, category="inaccurate")


def _same_structure(a: Proposal, b: Proposal) -> bool:
    return skeleton_digest(a.structure) == skeleton_digest(b.structure)
