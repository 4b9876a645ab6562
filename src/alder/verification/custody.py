"""Salts, commitments and the answers already given: what the vault keeps across a crash.

A commitment is SHA-256 over 32 secret random bytes and the rows, so that published digests tell
nothing about rows, not even to who can guess them. To go on after a crash the rows are given again
and must match: the salts lie in a file of mode 0600 in a directory of mode 0700 beside the ledger.
"""

import hashlib
import json
import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast, final, get_args

import numpy as np

from alder.arrays import FloatArray
from alder.errors import BadLedger
from alder.records.verdict import Category, Commitment

_SALTS = "salts.json"
_ANSWERS = "answers.jsonl"
_SALT_BYTES = 32
_CATEGORIES: tuple[Category, ...] = get_args(Category)


@final
@dataclass(frozen=True, slots=True)
class Custody:
    """The salts of a study by role, the answers given so far, and where both are kept."""

    salts: Mapping[str, bytes]
    answers: tuple[tuple[str, Category], ...] = ()
    directory: Path | None = None

    @property
    def secret(self) -> bytes:
        """A seed nobody outside the vault can know."""
        return hashlib.sha256(b"noise" + b"".join(self.salts.values())).digest()


def open_custody(roles: Sequence[str], directory: Path | None, *, is_new: bool = True) -> Custody:
    """Draw new salts, or take up those of a study that was interrupted.

    A study that is not new has salts already; others would not fit what its ledger published.
    """
    if directory is not None and (directory / _SALTS).exists():
        salts = _read_salts(directory / _SALTS)
        if sorted(salts) != sorted(roles):
            raise BadLedger(
                f"The interrupted study had protected rows for {', '.join(sorted(salts))}; now "
                f"they are for {', '.join(sorted(roles))}. Give the same rows again."
            )
        return Custody({role: salts[role] for role in roles}, _read_answers(directory), directory)
    if directory is not None and not is_new:
        raise BadLedger(
            f"{directory.name}, which belongs to the ledger, is missing or empty; move it along "
            "with the ledger, or start a new study."
        )
    salts = {role: secrets.token_bytes(_SALT_BYTES) for role in roles}
    if directory is not None:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        directory.chmod(0o700)
        text = json.dumps({role: salt.hex() for role, salt in salts.items()})
        _append(directory / _SALTS, text)
    return Custody(salts, (), directory)


def keep_answer(custody: Custody, law: str, category: Category) -> Custody:
    """Add one answer, durably before it is given: a crash must not make answers free."""
    if custody.directory is not None:
        # The line break comes first, so that a torn line cannot spoil the next one.
        line = "\n" + json.dumps({"law": law, "category": category})
        _append(custody.directory / _ANSWERS, line)
    return Custody(custody.salts, (*custody.answers, (law, category)), custody.directory)


def commit(role: str, columns: Mapping[str, FloatArray], salt: bytes) -> Commitment:
    """Return the salted digest of one table; the order of its columns does not matter."""
    hashed = hashlib.sha256(salt)
    n_rows = len(next(iter(columns.values())))
    for part in (role, str(n_rows)):
        hashed.update(_framed(part.encode()))
    for name in sorted(columns):
        hashed.update(_framed(name.encode()))
        hashed.update(_framed(np.ascontiguousarray(columns[name], dtype="<f8").tobytes()))
    return Commitment(role, n_rows, hashed.hexdigest())


def _framed(part: bytes) -> bytes:
    return len(part).to_bytes(8, "little") + part


def _append(path: Path, text: str) -> None:
    """Append to a file that only its owner can read, and wait until it is on disk."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
    try:
        os.fchmod(handle, 0o600)
        os.write(handle, text.encode())
        os.fsync(handle)
    finally:
        os.close(handle)


def _read_salts(path: Path) -> dict[str, bytes]:
    try:
        stored = cast("dict[str, str]", json.loads(path.read_text("utf-8")))
        salts = {role: bytes.fromhex(text) for role, text in stored.items()}
    except (OSError, ValueError, AttributeError, TypeError):
        salts = {}
    if not salts or any(len(salt) != _SALT_BYTES for salt in salts.values()):
        raise BadLedger(
            f"{path.parent.name}/{path.name} cannot be read, so the protected rows cannot be "
            "matched with their commitments; start a new study with a new ledger."
        )
    return salts


def _read_answers(directory: Path) -> tuple[tuple[str, Category], ...]:
    path = directory / _ANSWERS
    if not path.exists():
        return ()
    answers: list[tuple[str, Category]] = []
    for line in path.read_text("utf-8", errors="replace").splitlines():
        try:
            entry: Any = json.loads(line)
            law, category = str(entry["law"]), entry["category"]
        except (ValueError, KeyError, TypeError):
            continue  # a torn last line: that answer was never given
        if category in _CATEGORIES:
            answers.append((law, category))
    return tuple(answers)
