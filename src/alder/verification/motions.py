"""The vault's part for systems found in sampled states: held-back samples, and one answer."""

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from alder.arrays import FloatArray
from alder.errors import AlderError
from alder.fitting.samples import Samples
from alder.records.protected import ADMISSION
from alder.records.verdict import Commitment
from alder.verification.claim import Claim
from alder.verification.custody import commit, open_custody
from alder.verification.held import follow
from alder.verification.wire import Message, pack_rows, unpack_rows

_TIME, _PLACE = "time", "trajectory"


@final
@dataclass(frozen=True, slots=True, eq=False)
class HeldBack:
    """Held-back samples under seal, and the claim that was answered, if one was."""

    samples: Samples
    n_states: int
    commitments: tuple[Commitment, ...]
    answered: str = ""


def pack_held(samples: Samples) -> Message:
    """Return the message that hands samples to a vault."""
    table: dict[str, FloatArray] = {
        _TIME: samples.times,
        _PLACE: samples.segment_of().astype(np.float64),
        **{f"state {i}": samples.states[:, i] for i in range(samples.n_states)},
        **{f"input {i}": samples.inputs[:, i] for i in range(samples.inputs.shape[1])},
    }
    shapes, body = pack_rows({ADMISSION: table})
    return Message({"kind": "hold", "tables": shapes, "n_states": samples.n_states}, body)


def hold(message: Message) -> HeldBack:
    """Take samples in, and commit to them."""
    table = unpack_rows(message.header["tables"], message.body)[ADMISSION]
    n_states = int(message.header["n_states"])
    place = table[_PLACE]
    firsts = np.concatenate([[0], np.flatnonzero(np.diff(place)) + 1, [len(place)]])
    columns = [column for name, column in table.items() if name not in (_TIME, _PLACE)]
    values = np.stack(columns, axis=1)
    samples = Samples(
        table[_TIME], values[:, :n_states], values[:, n_states:], firsts.astype(np.int64)
    )
    salt = open_custody((ADMISSION,), None).salts[ADMISSION]
    return HeldBack(samples, n_states, (commit(ADMISSION, table, salt),))


def trace(state: HeldBack, body: bytes) -> tuple[HeldBack, Message]:
    """Answer how one claim follows the samples; there is no second answer.

    Errors accompany an admission only: of a refused system nothing but the finding is told.
    """
    header: dict[str, Any] = {"kind": "traced", "finding": "invalid", "error": []}
    try:
        claim = Claim.read(body.decode())
    except (AlderError, UnicodeDecodeError):
        return state, Message(header)
    if state.answered not in ("", claim.digest):
        return state, Message({**header, "finding": "budget-spent"})
    # Whatever comes of it, this claim is the one that was answered.
    answered = replace(state, answered=claim.digest)
    try:
        with np.errstate(all="ignore"):
            seen = follow(claim, state.samples)
    except (ArithmeticError, ValueError, LookupError, np.linalg.LinAlgError):
        return answered, Message({**header, "finding": "diverges"})
    header["finding"] = seen.finding
    if seen.finding == "accept":
        header["error"] = seen.error.tolist()
    return answered, Message(header)
