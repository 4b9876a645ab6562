"""Long arrays inside the SQLite file, each once, under the SHA-256 of its bytes."""

import hashlib
import sqlite3
import zlib

from alder.arrays import FloatArray
from alder.errors import BadLedger
from alder.ledger.content import array_of, bytes_of

# Parts keep every blob far below SQLite's limit of one gigabyte and the memory of a write bounded.
_PART = 16 * 2**20

# Compression is tried on a sample: measured columns hardly shrink, grids and repeats do. Below this
# share of the size it pays for the slower read.
_SAMPLE = 2**16
_PAYS = 0.7


def save_array(connection: sqlite3.Connection, digest: str, array: FloatArray) -> None:
    """Store an array in parts, unless it is there already."""
    key = bytes.fromhex(digest)
    if connection.execute("SELECT 1 FROM arrays WHERE digest = ? LIMIT 1", (key,)).fetchone():
        return
    numbers = memoryview(bytes_of(array))
    for part, start in enumerate(range(0, max(len(numbers), 1), _PART)):
        piece = numbers[start : start + _PART]
        sample = piece[:_SAMPLE]
        shrinks = len(zlib.compress(sample, 1)) < _PAYS * len(sample)
        connection.execute(
            "INSERT INTO arrays (digest, part, coding, bytes) VALUES (?, ?, ?, ?)",
            (key, part, "zlib", zlib.compress(piece, 1)) if shrinks else (key, part, "raw", piece),
        )


def load_array(connection: sqlite3.Connection, digest: str, *, verified: bool) -> FloatArray:
    """Return an array, flat; raise `BadLedger` where it is missing or, if asked, changed."""
    rows = connection.execute(
        "SELECT coding, bytes FROM arrays WHERE digest = ? ORDER BY part", (bytes.fromhex(digest),)
    ).fetchall()
    if not rows or not all(isinstance(piece, bytes) for _, piece in rows):
        raise BadLedger(f"The ledger misses an array ({digest[:12]}); restore it from a copy.")
    try:
        pieces = [zlib.decompress(piece) if coding == "zlib" else piece for coding, piece in rows]
    except zlib.error:
        raise BadLedger(f"An array of the ledger ({digest[:12]}) is damaged.") from None
    numbers = pieces[0] if len(pieces) == 1 else b"".join(pieces)
    if len(numbers) % 8 or (verified and hashlib.sha256(numbers).hexdigest() != digest):
        raise BadLedger(
            f"An array of the ledger ({digest[:12]}) does not match its digest: the file was "
            "changed or damaged."
        )
    return array_of(numbers)
