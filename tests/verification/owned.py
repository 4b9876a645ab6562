"""Criteria of a study's own, in a module that the vault can import."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from alder.arrays import FloatArray
from alder.records.law import Law


@dataclass(frozen=True)
class AtMost:
    """Predictions stay below a limit on rows of the roles named."""

    limit: float
    roles: tuple[str, ...] = ("admission",)

    def violated(self, law: Law, rows: Mapping[str, FloatArray], role: str) -> bool:
        return role in self.roles and bool((law.predict(rows) > self.limit).any())


class Quiet:
    """Never violated; has no state."""

    def violated(self, law: Law, rows: Mapping[str, FloatArray], role: str) -> bool:
        return False


class Talkative:
    """Prints what it sees, and reads what it can."""

    def violated(self, law: Law, rows: Mapping[str, FloatArray], role: str) -> bool:
        print(dict(rows))  # noqa: T201 (what it prints is the test)
        os.write(1, b"rubbish" * 100)
        return os.read(0, 1) != b""


@dataclass(frozen=True)
class Elsewhere:
    """Violated in the process of this number."""

    process: int

    def violated(self, law: Law, rows: Mapping[str, FloatArray], role: str) -> bool:
        return os.getpid() == self.process


class Raises:
    """Quotes a protected value in its exception."""

    def violated(self, law: Law, rows: Mapping[str, FloatArray], role: str) -> bool:
        raise ValueError(f"secret {rows['y'][0]}")


class Writes:
    """Tries to change protected rows."""

    def violated(self, law: Law, rows: Mapping[str, FloatArray], role: str) -> bool:
        rows["y"][0] = np.inf
        return False


class Undecided:
    """Answers with a word."""

    def violated(self, law: Law, rows: Mapping[str, FloatArray], role: str) -> str:
        return "yes"


class Stateful:
    """Has a state that nobody declared."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def violated(self, law: Law, rows: Mapping[str, FloatArray], role: str) -> bool:
        return False


@dataclass(frozen=True)
class Listed:
    """Has a field that is not plain."""

    limits: list[float]

    def violated(self, law: Law, rows: Mapping[str, FloatArray], role: str) -> bool:
        return False
