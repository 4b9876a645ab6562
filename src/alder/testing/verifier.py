"""The contracts of verifiers and criteria."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import cast, get_args

import numpy as np

from alder.arrays import FloatArray
from alder.ports import Criterion, Verifier
from alder.records.law import Law
from alder.records.verdict import Category, Commitment, Verdict
from alder.testing.contract import fingerprint, report

# SHA-256 in hexadecimal.
_DIGEST_LENGTH = 64


def check_verifier(make: Callable[[], Verifier], *, laws: Sequence[Law]) -> None:
    """Check a verifier on a few laws, right and wrong ones.

    Commitments are there before the first law and stay what they are; every submission is counted;
    an answer is one category of the list; and only an admission comes with a bound and its
    confidence.
    """
    report(make, _verifier_breaches(make, laws))


def check_criterion(
    make: Callable[[], Criterion],
    *,
    law: Law,
    rows: Mapping[str, FloatArray],
    role: str = "admission",
) -> None:
    """Check a criterion on rows.

    It answers True or False, always the same, whatever the order of the rows, and leaves them as
    they are.
    """
    report(make, _criterion_breaches(make, law, rows, role))


def _verifier_breaches(make: Callable[[], Verifier], laws: Sequence[Law]) -> Iterator[str]:
    verifier = make()
    if not isinstance(cast("object", verifier), Verifier):
        yield "it has no methods `commitments` and `submit`"
        return
    commitments = verifier.commitments()
    yield from _commitment_breaches(commitments)
    before = [law.digest for law in laws]
    for number, law in enumerate(laws, start=1):
        verdict = verifier.submit(law)
        if isinstance(cast("object", verdict), Verdict):
            yield from _verdict_breaches(verdict, number)
        else:
            yield f"it answered with a {type(verdict).__name__}; a Verdict is expected"
    if [law.digest for law in laws] != before:
        yield "it changed a law it was asked about"
    if verifier.commitments() != commitments:
        yield "its commitments changed after a submission"


def _commitment_breaches(commitments: Sequence[Commitment]) -> Iterator[str]:
    if not commitments:
        yield "it commits to no rows"
    for commitment in commitments:
        if len(commitment.digest) != _DIGEST_LENGTH or commitment.n_rows < 1:
            yield f"the commitment to the {commitment.role} rows is no digest of rows"


def _verdict_breaches(verdict: Verdict, number: int) -> Iterator[str]:
    if verdict.category not in get_args(Category):
        yield f"`{verdict.category}` is no category; {', '.join(get_args(Category))} are"
    # A spent verifier reveals nothing more, not even by counting on.
    if verdict.submissions != number and verdict.category != "budget-spent":
        yield f"it counted {verdict.submissions} submissions after {number}"
    if not verdict.accepted:
        stated = (verdict.bound, verdict.confidence, verdict.shift_bound)
        if any(number is not None for number in stated):
            yield "it revealed a bound with a law it did not admit"
        return
    if verdict.bound is None or not (np.isfinite(verdict.bound) and verdict.bound >= 0.0):
        yield f"an admission comes with a bound on the error; got {verdict.bound}"
    if verdict.confidence is None or not 0.0 < verdict.confidence < 1.0:
        yield f"a bound holds at a confidence between 0 and 1; got {verdict.confidence}"


def _criterion_breaches(
    make: Callable[[], Criterion], law: Law, rows: Mapping[str, FloatArray], role: str
) -> Iterator[str]:
    if not isinstance(cast("object", make()), Criterion):
        yield "it has no method `violated`"
        return
    before = fingerprint(rows)
    answer = make().violated(law, rows, role)
    if not isinstance(cast("object", answer), bool | np.bool_):
        yield f"it answered with a {type(answer).__name__}; True or False is expected"
    if make().violated(law, rows, role) != answer:
        yield "the same law and rows gave two different answers"
    turned = {name: column[::-1].copy() for name, column in rows.items()}
    if make().violated(law, turned, role) != answer:
        yield "its answer depends on the order of the rows"
    if fingerprint(rows) != before:
        yield "it changed the rows"
