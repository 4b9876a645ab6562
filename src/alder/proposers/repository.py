"""Make a folder of files a Git repository with one commit, without running Git.

Git would bring the user's configuration, hooks and templates with it, and take longer than the
sandbox. The formats are those of gitformat-pack and gitformat-index, each in version 2.
"""

import hashlib
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias, final

Kind: TypeAlias = Literal["commit", "tree", "blob"]

_NUMBERS: Final = {"commit": 1, "tree": 2, "blob": 3}
_WHO: Final = "Alder <alder@localhost> 946684800 +0000"  # one moment, so that a case has one digest
_CONFIG: Final = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n"
_OFFSETS_BELOW: Final = 2**31  # a pack beyond it needs another table


@final
@dataclass(frozen=True, slots=True)
class _Object:
    kind: Kind
    content: bytes

    @property
    def digest(self) -> bytes:
        header = f"{self.kind} {len(self.content)}\0".encode()
        return hashlib.sha1(header + self.content, usedforsecurity=False).digest()

    def packed(self) -> bytes:
        """Write the kind and the length, seven bits at a time, and the content."""
        left = len(self.content)
        head = bytearray([_NUMBERS[self.kind] << 4 | left & 15])
        left >>= 4
        while left:
            head[-1] |= 128
            head.append(left & 127)
            left >>= 7
        return bytes(head) + zlib.compress(self.content, 1)


def make_repository(folder: Path, message: str) -> None:
    """Commit all files that stand in a folder, which has no folders in it."""
    paths = sorted(folder.iterdir(), key=lambda path: path.name.encode())
    blobs = {path: _Object("blob", path.read_bytes()) for path in paths}
    modes = {path: 0o100755 if path.stat().st_mode & 0o100 else 0o100644 for path in paths}
    tree = _Object(
        "tree",
        b"".join(b"%o %s\0%s" % (modes[p], p.name.encode(), blobs[p].digest) for p in paths),
    )
    words = f"tree {tree.digest.hex()}\nauthor {_WHO}\ncommitter {_WHO}\n\n{message}\n"
    commit = _Object("commit", words.encode())
    objects = {one.digest: one for one in (commit, tree, *blobs.values())}
    git = folder / ".git"
    for name in ("objects/pack", "refs"):
        (git / name).mkdir(parents=True)
    head, main = f"{commit.digest.hex()} refs/heads/main\n", "ref: refs/heads/main\n"
    for name, text in {"HEAD": main, "packed-refs": head, "config": _CONFIG}.items():
        (git / name).write_text(text, encoding="utf-8")
    _write_pack(git / "objects" / "pack", objects)
    index = {path.name: (modes[path], blobs[path].digest) for path in paths}
    (git / "index").write_bytes(_index(index))


def _write_pack(folder: Path, objects: Mapping[bytes, _Object]) -> None:
    """Write objects into a pack, and where each of them stands into its table."""
    pack = bytearray(struct.pack(">4sII", b"PACK", 2, len(objects)))
    places: dict[bytes, tuple[int, int]] = {}
    for digest, one in objects.items():
        packed = one.packed()
        places[digest] = (len(pack), zlib.crc32(packed))
        pack += packed
    assert len(pack) < _OFFSETS_BELOW, "a case of two gigabytes"
    digests = sorted(places)
    sealed = _sealed(bytes(pack))
    firsts = [sum(digest[0] <= first for digest in digests) for first in range(256)]
    table = b"".join(
        [
            struct.pack(">4sI256I", b"\xfftOc", 2, *firsts),
            *digests,
            *(struct.pack(">I", places[digest][1]) for digest in digests),
            *(struct.pack(">I", places[digest][0]) for digest in digests),
            sealed[-20:],
        ]
    )
    name = f"pack-{sealed[-20:].hex()}"
    (folder / f"{name}.pack").write_bytes(sealed)
    (folder / f"{name}.idx").write_bytes(_sealed(table))


def _index(entries: Mapping[str, tuple[int, bytes]]) -> bytes:
    """Write what is checked out; the times are left out, so that Git looks at the contents."""
    index = bytearray(struct.pack(">4sII", b"DIRC", 2, len(entries)))
    for name, (mode, digest) in entries.items():
        spelled = name.encode()
        entry = struct.pack(">10I20sH", 0, 0, 0, 0, 0, 0, mode, 0, 0, 0, digest, len(spelled))
        entry += spelled
        index += entry + bytes(8 - len(entry) % 8)
    return _sealed(bytes(index))


def _sealed(content: bytes) -> bytes:
    return content + hashlib.sha1(content, usedforsecurity=False).digest()
