"""The desk where an agent has structures fitted: `./try` asks here, and each answer is counted.

Requests and answers are lines in two named pipes that only the harness can replace. So nothing of
Alder need exist in the sandbox, and what is fitted is fitted outside it, on public rows alone.
"""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Final, final

from alder.checking import read_proposal
from alder.errors import AlderError
from alder.expr.text import to_text
from alder.fitting.fit import fit
from alder.fitting.residuals import find_misfits
from alder.records.evidence import Evidence
from alder.records.fit import Fit
from alder.records.proposal import Proposal

MAX_TRIES: Final = 4
"""How many structures an agent may have fitted in one round."""

MAX_REQUEST: Final = 64 * 1024
"""Longest request in bytes: what a pipe holds."""

_MAX_REFUSED: Final = 16  # more questions than these are a flood, and get no answer

SCRIPT: Final = """#!/bin/sh
# ./try "k*r^p" law.json ...   Fit structures to rows.csv; one line of JSON answers each.
# A structure is written as a formula, or is a file like proposal.json. At most 4 in this round.
for law in "$@"; do
  if [ -f "$law" ]; then tr '\\n\\r' '  ' < "$law"; else printf '%s' "$law" | tr '\\n\\r' '  '; fi |
    { cat; echo; } > /run/desk/ask
  IFS= read -r answer < /run/desk/answer
  printf '%s\\n' "$answer"
done
"""
"""The command an agent finds in its folder."""


@final
@dataclass(slots=True)
class TryDesk:
    """Fits what is asked for, at most four structures, and remembers which those were."""

    evidence: Evidence
    folder: Path
    n_tries: int = 0
    tried: list[Proposal] = field(default_factory=list[Proposal])
    _n_refused: int = 0
    _buffer: bytearray = field(default_factory=bytearray)
    _skipping: bool = False
    _ask: int = -1
    _answer: int = -1

    def __enter__(self) -> "TryDesk":
        """Lay out the pipes."""
        for name in ("ask", "answer"):
            os.mkfifo(self.folder / name)
            (self.folder / name).chmod(0o666)
        # Open at both ends, so that nobody waits for anybody, and a pipe never ends.
        self._ask, self._answer = (
            os.open(self.folder / name, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
            for name in ("ask", "answer")
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the pipes."""
        os.close(self._ask)
        os.close(self._answer)

    def fileno(self) -> int:
        """Return the pipe in which requests arrive."""
        return self._ask

    def serve(self) -> None:
        """Answer the requests that are whole; one that is too long is refused unread."""
        try:
            self._buffer += os.read(self._ask, MAX_REQUEST)
        except BlockingIOError:
            return
        while (end := self._buffer.find(b"\n")) >= 0:
            line = bytes(self._buffer[:end])
            del self._buffer[: end + 1]
            too_long = self._skipping or len(line) > MAX_REQUEST
            self._skipping = False
            self._reply(_refused("too long") if too_long else self._tried(line))
        if len(self._buffer) > MAX_REQUEST:
            self._skipping = True
            self._buffer.clear()

    def _reply(self, answer: Mapping[str, object]) -> None:
        if "problems" in answer:
            self._n_refused += 1
        if self._n_refused > _MAX_REFUSED:
            return
        line = json.dumps({**answer, "tries_left": MAX_TRIES - self.n_tries}) + "\n"
        with suppress(BlockingIOError):  # who reads no answers gets none
            os.write(self._answer, line.encode())

    def _tried(self, line: bytes) -> Mapping[str, object]:
        if self.n_tries >= MAX_TRIES:
            return _refused(f"{MAX_TRIES} structures were tried in this round; no more are fitted.")
        self.n_tries += 1
        evidence = self.evidence
        read = read_proposal(line, evidence.grammar, evidence.rows())
        if not isinstance(read, Proposal):
            return {"problems": [str(problem) for problem in read]}
        self.tried.append(read)
        try:
            found = fit_public(read, evidence)
        except AlderError as error:
            return _refused(str(error))
        return _summary(found, evidence)


def fit_public(proposal: Proposal, evidence: Evidence) -> Fit:
    """Fit a structure to all public rows, as the study does with what is submitted."""
    rows, grammar, roles = evidence.rows(), evidence.grammar, evidence.roles
    return fit(
        proposal, rows, target=grammar.target, variables=grammar.variables, sigma=roles.sigma,
        weight=roles.weight, group=roles.group, sums=roles.sums, floors=grammar.floors,
    )  # fmt: skip


def _summary(found: Fit, evidence: Evidence) -> Mapping[str, object]:
    names = evidence.grammar.variable_names
    misfits = find_misfits(found, evidence.rows(), names, evidence.roles.sums)
    return {
        "law": to_text(found.structure, names),
        "nmse": found.nmse,
        "n_rows": found.n_rows,
        "coefficients": found.values,
        "undetermined": list(found.undetermined),
        "misfits": [f"{one.along}: {one.strength:.3g} sigma, {one.where}" for one in misfits[:3]],
    }


def _refused(sentence: str) -> Mapping[str, object]:
    return {"problems": [sentence]}
