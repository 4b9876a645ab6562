"""The vault, seen from outside: a process that holds protected rows and answers with a category.

It is started as `python -m alder.verification.vault`, so it needs no `__main__` guard and works in
notebooks, from standard input and inside worker processes. Rows go in once and never come out.
"""

import os
import select
import subprocess
import sys
import time
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, final, get_args

from alder.errors import AlderError, BadLedger, BadStudy, VerifierFailed
from alder.records.dynamics import Dynamics
from alder.records.law import Law
from alder.records.protected import Protected
from alder.records.verdict import Category, Commitment, Verdict
from alder.verification.own import folder_of
from alder.verification.terms import Terms
from alder.verification.wire import BadMessage, LostFrame, Message, encode, pack_rows, read

if TYPE_CHECKING:
    from alder.fitting.samples import Samples
    from alder.verification.claim import Claim

_PATIENCE = 120.0
_GRACE = 5.0
_CHUNK = 1 << 16
_FAULTS: dict[str, type[AlderError]] = {"BadLedger": BadLedger, "BadStudy": BadStudy}


@final
class Vault:
    """Protected rows in a process of their own; a `Verifier`.

    Close it, or use it as a context; it also ends with this process, however that ends.
    """

    def __init__(self, process: "subprocess.Popen[bytes]", patience: float) -> None:
        """Take over a running vault; `Vault.seal` starts one."""
        self._process = process
        self._patience = patience
        self._commitments: tuple[Commitment, ...] = ()
        self._stop = weakref.finalize(self, _stop, process)

    @staticmethod
    def seal(
        protected: Protected,
        terms: Terms,
        *,
        directory: Path | None = None,
        published: Sequence[Commitment] = (),
        patience: float = _PATIENCE,
    ) -> "Vault":
        """Start a vault and hand it the rows.

        `directory` is where salts and answers are kept, mode 0700, so that an interrupted study can
        go on: give the same rows, the same directory, and the commitments the ledger `published`.
        Raise `BadLedger` where the rows are others. A vault silent for `patience` seconds is ended.
        """
        shapes, body = pack_rows(protected.columns(terms.columns))
        header = {
            "kind": "seal",
            "tables": shapes,
            "terms": terms.to_json(),
            "directory": None if directory is None else str(Path(directory).absolute()),
            "published": [{"role": c.role, "digest": c.digest} for c in published],
        }
        folders = [folder_of(own) for own in terms.criteria.described]
        vault = Vault(_start([folder for folder in folders if folder is not None]), patience)
        try:
            answer = vault._ask(Message(header, body), expected="sealed")
            vault._commitments = tuple(Commitment(**entry) for entry in answer["commitments"])
        except BaseException:
            vault.close()
            raise
        return vault

    @staticmethod
    def hold(samples: "Samples", *, patience: float = _PATIENCE) -> "Vault":
        """Start a vault and hand it held-back samples of a motion."""
        from alder.verification.motions import pack_held

        vault = Vault(_start([]), patience)
        try:
            answer = vault._ask(pack_held(samples), expected="sealed")
            vault._commitments = tuple(Commitment(**entry) for entry in answer["commitments"])
        except BaseException:
            vault.close()
            raise
        return vault

    def commitments(self) -> tuple[Commitment, ...]:
        """Return salted digests of the protected rows."""
        return self._commitments

    def submit(self, law: Law) -> Verdict:
        """Judge one law; raise `VerifierFailed` where the vault stopped, hung or talks nonsense."""
        answer = self._ask(Message({"kind": "submit"}, law.text().encode()), expected="verdict")
        return _verdict(answer)

    def follow(self, dynamics: Dynamics) -> Verdict:
        """Judge equations of motion together, along whole protected trajectories."""
        message = Message({"kind": "follow"}, dynamics.text().encode())
        return _verdict(self._ask(message, expected="verdict"))

    def trace(self, claim: "Claim") -> tuple[str, tuple[float, ...]]:
        """Say how a system follows held-back samples, and its error in each state if admitted."""
        answer = self._ask(Message({"kind": "trace"}, claim.text().encode()), expected="traced")
        return str(answer["finding"]), tuple(float(one) for one in answer["error"])

    def close(self) -> None:
        """End the process; the rows are gone with it."""
        self._stop()

    def __enter__(self) -> "Vault":
        """Use the vault as a context."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def _ask(self, message: Message, *, expected: str) -> dict[str, Any]:
        if not self._stop.alive:
            raise VerifierFailed("The vault was closed; seal the protected rows again.")
        deadline = time.monotonic() + self._patience
        try:
            answer = _exchange(self._process, encode(message), deadline)
        except TimeoutError:
            self._process.kill()
            self.close()
            raise VerifierFailed(
                f"The vault did not answer for {self._patience:g} s and was ended; seal the "
                "protected rows again, with fewer of them if this repeats."
            ) from None
        except (OSError, BadMessage, LostFrame):
            answer = None
        if answer is not None and answer.header.get("kind") == "error":
            other = BadLedger if expected == "sealed" else VerifierFailed
            failure = _FAULTS.get(str(answer.header.get("fault")), other)
            raise failure(str(answer.header.get("sentence")))
        if answer is None or answer.header.get("kind") != expected:
            self.close()
            raise VerifierFailed(
                "The vault stopped or gave an answer that is none; nothing about the law is known. "
                "Seal the protected rows again and submit it once more."
            )
        return dict(answer.header)


def _verdict(answer: dict[str, Any]) -> Verdict:
    category: Any = answer.get("category")
    if category not in get_args(Category):
        raise VerifierFailed(f"The vault answered {str(category)[:40]!r}, which is no category.")
    numbers = [answer.get(name) for name in ("bound", "confidence", "shift_bound")]
    stated = [None if number is None else float(number) for number in numbers]
    return Verdict(category, int(answer["submissions"]), *stated)


def _start(folders: Sequence[str]) -> "subprocess.Popen[bytes]":
    """Start the process with our import path, but never with the directory we happen to be in.

    `folders` hold the modules of criteria; they come last, so that they replace nothing.
    """
    import alder

    home = str(Path(str(alder.__file__)).parents[1])
    path = [entry for entry in sys.path if entry]  # in our order, or it may be another Alder
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(dict.fromkeys([*path, home, *folders])),
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }
    if not sys.executable:
        raise VerifierFailed(
            "This Python does not know its own program, so the vault cannot be started; run Alder "
            "from a Python that sets sys.executable."
        )
    try:
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "alder.verification.vault"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # a traceback might quote a value
            env=environment,
            bufsize=0,
            start_new_session=True,  # Ctrl-C is for the harness
        )
    except OSError as error:
        raise VerifierFailed(f"The vault cannot be started: {error.strerror}.") from None


def _stop(process: "subprocess.Popen[bytes]") -> None:
    """Close the pipe, which ends the process, and make sure that it did."""
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
    try:
        process.wait(_GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _exchange(
    process: "subprocess.Popen[bytes]", question: bytes, deadline: float
) -> Message | None:
    """Send one message and read the answer; raise `TimeoutError` at the deadline."""
    into, out = _pipes(process)
    os.set_blocking(into.fileno(), False)
    view = memoryview(question)
    while view:
        _wait(deadline, writing=into)
        view = view[os.write(into.fileno(), view[:_CHUNK]) :]

    def take(n: int) -> bytes:
        parts: list[bytes] = []
        while n > 0:
            _wait(deadline, reading=out)
            part = os.read(out.fileno(), min(n, _CHUNK))
            if not part:
                break
            parts.append(part)
            n -= len(part)
        return b"".join(parts)

    return read(take)


def _pipes(process: "subprocess.Popen[bytes]") -> tuple[IO[bytes], IO[bytes]]:
    if process.stdin is None or process.stdout is None:
        raise VerifierFailed("The vault has no pipe; start it with `Vault.seal`.")
    return process.stdin, process.stdout


def _wait(
    deadline: float, *, reading: IO[bytes] | None = None, writing: IO[bytes] | None = None
) -> None:
    left = deadline - time.monotonic()
    readers, writers = [reading] if reading else [], [writing] if writing else []
    if left <= 0.0 or not any(select.select(readers, writers, [], left)):
        raise TimeoutError


if __name__ == "__main__":
    from alder.verification.serve import run

    run()
