"""The inside of the vault: seals rows once, then answers what is submitted with one category."""

import ctypes
import os
import resource
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, final

import numpy as np

from alder.errors import AlderError, BadLedger
from alder.records.dynamics import Dynamics
from alder.records.law import Law
from alder.records.lawfile import from_file
from alder.records.protected import ADMISSION
from alder.records.verdict import Category, Commitment, Verdict
from alder.verification.admit import Sealed, admit
from alder.verification.custody import Custody, commit, keep_answer, open_custody
from alder.verification.following import followed
from alder.verification.spending import is_spent
from alder.verification.terms import Terms
from alder.verification.wire import BadMessage, LostFrame, Message, encode, read, unpack_rows

if TYPE_CHECKING:
    from alder.verification.motions import HeldBack

# From sys/prctl.h.
_SET_PARENT_DEATH_SIGNAL = 1
_SET_DUMPABLE = 4
_CHUNK = 1 << 20


@final
@dataclass(frozen=True, slots=True, eq=False)
class State:
    """Rows under seal, and what has been said about them."""

    sealed: Sealed
    custody: Custody
    commitments: tuple[Commitment, ...]


def respond(
    state: "State | HeldBack | None", message: Message
) -> "tuple[State | HeldBack | None, Message]":
    """Answer one message; whatever is wrong with it is an answer too."""
    try:
        match message.header.get("kind"):
            case "seal" | "hold" as kind if state is None:
                state = seal(message) if kind == "seal" else _hold(message)
                return state, _sealed(state)
            case str(kind) if state is not None:
                return _judge(state, kind, message.body)
            case _:
                return state, _error("This message does not belong here.")
    except AlderError as error:
        return state, _error(str(error), type(error).__name__)
    except (BadMessage, LookupError, TypeError, ValueError, AttributeError, StopIteration):
        return state, _error("The message does not follow the protocol.")
    except OSError as error:
        return state, _error(f"The vault's directory cannot be used: {error.strerror}.")


def _judge(state: "State | HeldBack", kind: str, body: bytes) -> "tuple[State | HeldBack, Message]":
    if isinstance(state, State) and kind in ("submit", "follow"):
        return (submit if kind == "submit" else follow)(state, body)
    if not isinstance(state, State) and kind == "trace":
        from alder.verification.motions import trace

        return trace(state, body)
    return state, _error("This message does not belong here.")


def _hold(message: Message) -> "HeldBack":
    """Take samples of a motion; what follows them is loaded only where it is needed."""
    from alder.verification.motions import hold

    return hold(message)


def seal(message: Message) -> State:
    """Take the rows in, and commit to them; raise `BadLedger` where they are not those promised."""
    header = message.header
    terms = Terms.from_json(header["terms"])
    rows = unpack_rows(header["tables"], message.body)
    directory = None if header["directory"] is None else Path(header["directory"])
    promised = {entry["role"]: entry["digest"] for entry in header["published"]}
    custody = open_custody(tuple(rows), directory, is_new=not promised)
    commitments = tuple(commit(role, rows[role], custody.salts[role]) for role in rows)
    if directory is not None and custody.answers and not promised:
        raise BadLedger(
            f"{directory.name} holds the answers of another study, whose ledger is gone; remove "
            "it, or choose another name for the ledger."
        )
    for commitment in commitments:
        if promised and promised.get(commitment.role) != commitment.digest:
            raise BadLedger(
                f"The protected rows of {commitment.role} are not those the ledger committed to; "
                "give the same rows again, or start a new study with a new ledger."
            )
    return State(Sealed(rows, terms, custody.secret), custody, commitments)


def submit(state: State, body: bytes) -> tuple[State, Message]:
    """Judge one law. The same law gets the same answer, which then reveals nothing new."""
    answers = state.custody.answers
    categories: tuple[Category, ...] = tuple(category for _, category in answers)
    law = _read_law(body)
    digest = "" if law is None else law.digest
    seen = [number for number, (known, _) in enumerate(answers) if digest and known == digest]
    if law is not None and seen:
        return state, _verdict(_judged(state.sealed, law, categories[: seen[0]]))
    if law is None:
        verdict = Verdict("invalid", len(answers) + 1)
    else:
        verdict = _judged(state.sealed, law, categories)
    if verdict.category != "budget-spent":
        custody = keep_answer(state.custody, digest, verdict.category)
        state = State(state.sealed, custody, state.commitments)
    return state, _verdict(verdict)


def follow(state: State, body: bytes) -> tuple[State, Message]:
    """Follow equations of motion along every protected trajectory; this counts as an answer."""
    terms, answers = state.sealed.terms, state.custody.answers
    k = len(answers) + 1
    if terms.rollout is None or terms.time is None:
        return state, _error("This study asks nothing of solutions in time.")
    categories: tuple[Category, ...] = tuple(category for _, category in answers)
    if is_spent(terms.spending, categories):
        return state, _verdict(Verdict("budget-spent", k))
    dynamics = Dynamics.read(body.decode())
    found: Category = "accept"
    for role, rows in state.sealed.rows.items():
        found = followed(dynamics, rows, terms.time, terms.rollout)
        if found != "accept":
            found = found if role == ADMISSION else "fails-under-shift"
            break
    custody = keep_answer(state.custody, dynamics.digest, found)
    return State(state.sealed, custody, state.commitments), _verdict(Verdict(found, k))


def serve(take: Callable[[int], bytes], give: Callable[[bytes], None]) -> None:
    """Answer messages until the pipe is closed or what comes through it is no message."""
    state: State | HeldBack | None = None
    while True:
        try:
            message = read(take)
        except BadMessage:
            give(encode(_error("The message does not follow the protocol.")))
            continue
        except LostFrame:
            give(encode(_error("The pipe does not carry messages.")))
            return
        if message is None:
            return
        state, answer = respond(state, message)
        give(encode(answer))


def run() -> None:
    """Serve the pipe this process was started with, and end with the process that started it."""
    _end_with_parent(os.getppid())
    _keep_memory_private()
    pipe, answers = _own_pipes()

    def take(n: int) -> bytes:
        parts: list[bytes] = []
        while n > 0 and (part := pipe.read(min(n, _CHUNK))):
            parts.append(part)
            n -= len(part)
        return b"".join(parts)

    def give(message: bytes) -> None:
        answers.write(message)
        answers.flush()

    try:
        serve(take, give)
    except BrokenPipeError:
        os._exit(0)  # the harness is gone; flushing again would only fail again


def _own_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Keep the pipes for messages: what a criterion prints goes nowhere, what it reads is empty."""
    pipes = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    os.close(nothing)
    return pipes


def _end_with_parent(parent: int) -> None:
    """Ask the kernel for a signal when the parent ends, also where a fork holds the pipe open.

    The kernel sends it when the thread that started us ends; the handler looks whether the process
    did.
    """

    def leave(number: int, frame: object) -> None:
        if os.getppid() != parent:
            os._exit(0)

    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGUSR1, leave)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, int(signal.SIGUSR1), 0, 0, 0)
    leave(0, None)


def _keep_memory_private() -> None:
    """Leave no core file, and let no other process of this user read our memory."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_DUMPABLE, 0, 0, 0, 0)


def _judged(sealed: Sealed, law: Law, answers: tuple[Category, ...]) -> Verdict:
    """Judge a law; numbers the linear algebra cannot digest are the law's fault."""
    try:
        with np.errstate(all="ignore"):
            return admit(sealed, law, answers)
    except (np.linalg.LinAlgError, ArithmeticError):
        return Verdict("unstable", len(answers) + 1)


def _read_law(body: bytes) -> Law | None:
    try:
        return Law(**from_file(body.decode()))
    except (AlderError, UnicodeDecodeError):
        return None


def _sealed(state: "State | HeldBack") -> Message:
    commitments = [
        {"role": c.role, "n_rows": c.n_rows, "digest": c.digest} for c in state.commitments
    ]
    return Message({"kind": "sealed", "commitments": commitments})


def _verdict(verdict: Verdict) -> Message:
    header: dict[str, Any] = {
        "kind": "verdict",
        "category": verdict.category,
        "submissions": verdict.submissions,
        "bound": verdict.bound,
        "confidence": verdict.confidence,
        "shift_bound": verdict.shift_bound,
    }
    return Message(header)


def _error(sentence: str, fault: str = "") -> Message:
    return Message({"kind": "error", "sentence": sentence, "fault": fault})
