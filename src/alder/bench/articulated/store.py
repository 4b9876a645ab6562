"""Outcomes on disk, by content: the same model, world, probe and code are never simulated twice."""

import hashlib
import os
import sqlite3
import zlib
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import final

import numpy as np

import alder.expr.operators
from alder.arrays import FloatArray
from alder.kernel import pointwise, solve

FOLDER = "ALDER_CACHE"
"""The variable of the environment that names another folder for outcomes."""

_WAIT = 120.0
# What decides an outcome: the scene, the loop, the grasp and the forces of laws.
_SOURCES = ("scene.py", "compiled.py", "leading.py", "rig.py", "grasp.py", "execution.py")


def default_folder() -> Path:
    """Return where outcomes are kept unless the environment says otherwise."""
    named = os.environ.get(FOLDER)
    if named:
        return Path(named)
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "alder"


@cache
def code_version() -> str:
    """Return a digest of the sources and packages that decide an outcome."""
    digest = hashlib.sha256()
    for package in ("mujoco", "robosuite", "numpy"):
        digest.update(f"{package}=={version(package)}\n".encode())
    others = [Path(str(m.__file__)) for m in (alder.expr.operators, pointwise, solve)]
    for path in (*(Path(__file__).with_name(name) for name in _SOURCES), *others):
        digest.update(path.read_bytes())
    return digest.hexdigest()


@final
class Store:
    """Arrays by key in one SQLite file that several processes share."""

    def __init__(self, folder: Path) -> None:
        """Open the file, or make it."""
        folder.mkdir(parents=True, exist_ok=True)
        self._connection = sqlite3.connect(
            folder / "articulated.sqlite", timeout=_WAIT, isolation_level=None
        )
        self._connection.execute("PRAGMA journal_mode = WAL")
        # A line lost with the power is simulated again.
        self._connection.execute("PRAGMA synchronous = OFF")
        self._connection.execute(
            "CREATE TABLE IF NOT EXISTS outcomes "
            "(key TEXT PRIMARY KEY, n_columns INTEGER NOT NULL, numbers BLOB NOT NULL)"
        )

    def get(self, key: str) -> FloatArray | None:
        """Return the table kept under a key, or None."""
        found = self._connection.execute(
            "SELECT n_columns, numbers FROM outcomes WHERE key = ?", (key,)
        ).fetchone()
        if found is None:
            return None
        return np.frombuffer(zlib.decompress(found[1]), dtype=np.float64).reshape(-1, found[0])

    def put(self, key: str, table: FloatArray) -> None:
        """Keep a table of numbers; one that is there already stays."""
        numbers = zlib.compress(np.ascontiguousarray(table).tobytes(), 1)
        self._connection.execute(
            "INSERT OR IGNORE INTO outcomes VALUES (?, ?, ?)", (key, table.shape[1], numbers)
        )

    def close(self) -> None:
        """Give the file back."""
        self._connection.close()


def key_of(*parts: object) -> str:
    """Return the key of what these parts decide, under this version of the code."""
    return hashlib.sha256("\n".join((code_version(), *map(repr, parts))).encode()).hexdigest()
