"""What an agent leaves in the place of its proposal is refused in a sentence, and never waited for.

One round in the sandbox leaves a file of each kind. The control reads it as any program would.
"""

import os
import stat
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest
from proposers.evidence import evidence
from sandboxes import PYTHON, needs_bubblewrap, needs_python_inside

from alder.checking.decode import MAX_JSON
from alder.proposers import proposalfile
from alder.proposers.casefolder import case_folder
from alder.proposers.jail import View
from alder.proposers.launch import Allowance, sandbox_owner
from alder.proposers.proposalfile import read_proposal_file
from alder.proposers.sandbox import run_confined
from alder.records.problem import Problem

pytestmark = [needs_bubblewrap, needs_python_inside]

LEAVE = f"""
import os, socket
from pathlib import Path
os.symlink(Path("secret-path").read_text(), "link")
os.symlink("loop", "loop")
os.symlink("/dev/zero", "endless")
Path("plain").write_text("{{}}")
os.link("plain", "hard")
os.mkfifo("pipe")
os.mkdir("folder")
Path("large").write_bytes(b" " * {MAX_JSON + 1})
with open("sparse", "wb") as file: file.truncate(1 << 23)
socket.socket(socket.AF_UNIX).bind("socket")
Path("good").write_text("k*x")
"""


def _reads_on(path: Path) -> bool:
    with path.open("rb") as file:
        return len(file.read(2**20)) == 2**20


READS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "link": ("is a symbolic link", lambda path: b"canary" in path.read_bytes()),
    "loop": ("is a symbolic link", lambda path: path.is_symlink()),  # nobody can read a loop
    "endless": ("is a symbolic link", _reads_on),
    "hard": ("has 2 names", lambda path: path.read_bytes() == b"{}"),
    # A plain open would wait for ever, so the control only shows that one is there to wait for.
    "pipe": ("is a pipe", lambda path: stat.S_ISFIFO(path.stat().st_mode)),
    "folder": ("is a folder", lambda path: list(path.iterdir()) == []),
    "large": (f"holds {MAX_JSON + 1} bytes", lambda path: len(path.read_bytes()) > MAX_JSON),
    "sparse": ("holds 8388608 bytes", lambda path: len(path.read_bytes()) == 2**23),
    "socket": ("is a socket", lambda path: path.is_socket()),  # nobody can read one as a file
}


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> Generator[Path]:
    secret = tmp_path_factory.mktemp("vault") / "secret"
    secret.write_text("canary", "utf-8")
    with case_folder(evidence(), owner=sandbox_owner()) as case:
        (case.folder / "secret-path").write_text(str(secret), "utf-8")
        (case.folder / "secret-path").chmod(0o644)
        ended = run_confined(
            [PYTHON, "-I", "-c", LEAVE], View(case.folder), Allowance(seconds=30.0)
        )
        assert (ended.how, ended.status) == ("exited", 0), ended
        yield case.folder


@pytest.mark.parametrize("name", READS)
def test_what_is_no_plain_file_of_its_own_is_refused(name: str, left: Path) -> None:
    found = read_proposal_file(left, name)
    assert isinstance(found, Problem)
    assert READS[name][0] in found.message
    assert READS[name][1](left / name), "any other reader would have taken it"


def test_a_plain_file_is_read(left: Path) -> None:
    assert read_proposal_file(left, "good") == b"k*x"


def test_a_file_that_is_not_there_is_a_problem(left: Path) -> None:
    found = read_proposal_file(left, "nothing")
    assert isinstance(found, Problem)
    assert found.message == "nothing was not written."


def test_a_folder_replaced_by_a_link_is_not_entered(left: Path, tmp_path: Path) -> None:
    (tmp_path / "case").symlink_to(left)
    found = read_proposal_file(tmp_path / "case", "good")
    assert isinstance(found, Problem)
    assert (tmp_path / "case" / "good").read_bytes() == b"k*x"


@pytest.mark.parametrize("change", ["grows", "shrinks", "is-written-over"])
def test_a_file_that_changes_while_it_is_read_is_refused(
    change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "proposal.json"
    path.write_bytes(b"k*x + c")
    os.utime(path, ns=(0, 0))
    read = os.read

    def meanwhile(handle: int, n: int) -> bytes:
        content = read(handle, n)
        path.write_bytes(
            {"grows": b"k*x + c*x", "shrinks": b"k*x", "is-written-over": b"q*x + c"}[change]
        )
        return content

    stand_in: Any = type("os_that_is_slow", (), {**vars(os), "read": staticmethod(meanwhile)})
    monkeypatch.setattr(proposalfile, "os", stand_in)
    found = read_proposal_file(tmp_path)
    assert isinstance(found, Problem)
    assert "changed while it was read" in found.message
