"""Commands are ended at their limits, nothing of them survives, and none runs without a sandbox."""

import os
import secrets
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

import pytest
from proposers.evidence import evidence
from sandboxes import (
    PYTHON,
    needs_bubblewrap,
    needs_git,
    needs_python_inside,
    processes_with,
)

from alder.errors import BadStudy, SandboxFailed
from alder.proposers.casefolder import case_folder
from alder.proposers.jail import View, require_narrow
from alder.proposers.launch import Allowance, sandbox_owner
from alder.proposers.sandbox import run_confined
from alder.proposers.seccomp import require_known_machine

# Written to be ended in a fraction of a second, and to end by itself where nothing ends it.
SHARED_MEMORY = """
import mmap, sys, time
memory = mmap.mmap(-1, 200 << 20)
for i in range(0, len(memory), 4096): memory[i] = 1
time.sleep(float(sys.argv[1]))
"""
MEMORY_OF_CHILDREN = """
import os, sys, time
for i in range(6):
    if os.fork() == 0:
        kept = b"x" * (30 << 20)
        time.sleep(float(sys.argv[1])); os._exit(0)
time.sleep(float(sys.argv[1]))
"""
MANY_FILES = "for i in range(300): open(f'file-{i}', 'w').close()"
MUCH_ON_DISK = "for i in range(8): open(f'file-{i}', 'wb').write(bytes(1 << 20))"
CLOSED_FOLDER = """
import os
os.mkdir("closed")
for i in range(4): open(f"closed/file-{i}", "wb").write(bytes(1 << 20))
os.chmod("closed", 0)
"""
DEEP_FOLDER = """
import os
for _ in range(1200):
    os.mkdir("deep-deep"); os.chdir("deep-deep")
"""
SOURCE = str(Path(__file__).parents[2] / "src")
FEW = Allowance(seconds=20.0)


@pytest.fixture
def folder() -> Generator[Path]:
    with case_folder(evidence(), owner=sandbox_owner()) as case:
        yield case.folder


@pytest.fixture
def traversable() -> Generator[Path]:
    """Return a folder that the user of a sandbox can reach, which one of pytest's is not."""
    folder = Path(tempfile.mkdtemp(prefix="alder-test-"))
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder)


@needs_bubblewrap
def test_a_command_is_told_its_words_and_its_answers_are_kept(folder: Path) -> None:
    ended = run_confined(["sh", "-c", "cat; echo no >&2; exit 3"], View(folder), words=b"hello")
    assert (ended.how, ended.status, ended.output, ended.errors) == ("exited", 3, b"hello", b"no\n")


@needs_bubblewrap
@needs_git
def test_the_case_is_a_repository_that_git_can_read(folder: Path) -> None:
    script = "git fsck --full --strict && git log --format=%s; git status --short; echo x > new; "
    script += "echo >> rows.csv; git status --short; git show HEAD:try | cmp - try"
    ended = run_confined(["sh", "-c", script], View(folder, sealed=(".git",)))
    assert ended.output == b"Round 1\n M rows.csv\n?? new\n", ended


LIMITS = [
    ("time", "sleep 30", Allowance(seconds=0.2)),
    ("cpu", "while :; do :; done", replace(FEW, cpu_seconds=0.2)),
    ("output", "yes", replace(FEW, output_bytes=2**20)),
]


@needs_bubblewrap
@pytest.mark.parametrize(("how", "script", "allowance"), LIMITS, ids=[one[0] for one in LIMITS])
def test_what_would_go_on_for_ever_is_ended(
    how: str, script: str, allowance: Allowance, folder: Path
) -> None:
    assert run_confined(["sh", "-c", script], View(folder), allowance).how == how
    with subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE) as free:
        assert free.poll() is None, "without a sandbox it goes on"
        free.kill()


HUNGRY = [
    ("memory", "shared-memory", SHARED_MEMORY, replace(FEW, memory=64 * 2**20)),
    ("memory", "memory-of-children", MEMORY_OF_CHILDREN, replace(FEW, memory=100 * 2**20)),
    ("disk", "many-files", MANY_FILES, replace(FEW, n_entries=200)),
    ("disk", "much-on-disk", MUCH_ON_DISK, replace(FEW, folder_bytes=4 * 2**20)),
    ("disk", "in-a-closed-folder", CLOSED_FOLDER, replace(FEW, folder_bytes=2 * 2**20)),
    ("disk", "in-deep-folders", DEEP_FOLDER, FEW),
]


@needs_bubblewrap
@needs_python_inside
@pytest.mark.parametrize(
    ("how", "code", "allowance"),
    [(how, code, allowance) for how, _, code, allowance in HUNGRY],
    ids=[one[1] for one in HUNGRY],
)
def test_what_uses_too_much_is_ended_and_removed(how: str, code: str, allowance: Allowance) -> None:
    with case_folder(evidence(), owner=sandbox_owner()) as case:
        words = [PYTHON, "-I", "-c", code, "20"]
        assert run_confined(words, View(case.folder), allowance).how == how
    assert not case.folder.parent.exists()
    with case_folder(evidence()) as case:
        free = [PYTHON, "-I", "-c", code, "0"]
        assert subprocess.run(free, cwd=case.folder, check=False).returncode == 0


DAEMON = "(trap '' TERM HUP INT; setsid sleep {time} & setsid setsid sleep {time} &) ; sleep 0.05;"


@needs_bubblewrap
@pytest.mark.parametrize("last", ["exit 0", "sleep 30"], ids=["its-end", "its-timeout"])
def test_no_daemon_survives_its_round(last: str, folder: Path) -> None:
    word = f"600.{secrets.randbelow(10**9)}"
    script = DAEMON.format(time=word) + last
    run_confined(["sh", "-c", script], View(folder), Allowance(seconds=0.3))
    assert processes_with(word) == []
    free = subprocess.Popen(["sh", "-c", script], start_new_session=True)
    try:
        free.wait(0.5)
    except subprocess.TimeoutExpired:
        free.kill()
        free.wait()
    left = processes_with(word)
    assert left, "without a sandbox they do"
    for pid in left:
        os.kill(pid, 9)


HARNESS = """
import sys
from pathlib import Path
from alder.proposers.jail import View
from alder.proposers.sandbox import run_confined
run_confined(["sh", "-c", f"echo > started; exec sleep {sys.argv[2]}"], View(Path(sys.argv[1])))
"""


@needs_bubblewrap
def test_a_command_ends_with_the_harness_that_is_killed(folder: Path) -> None:
    word = f"600.{secrets.randbelow(10**9)}"
    os.mkfifo(folder / "started")
    (folder / "started").chmod(0o666)
    harness = subprocess.Popen(
        [sys.executable, "-c", HARNESS, str(folder), word], env={**os.environ, "PYTHONPATH": SOURCE}
    )
    with (folder / "started").open() as started:
        started.read()  # returns once the command runs
    running = [os.pidfd_open(pid) for pid in processes_with(word) if pid != harness.pid]
    assert running
    harness.kill()
    harness.wait()
    for handle in running:
        assert select.select([handle], [], [], 20.0)[0], "it outlived its harness"
        os.close(handle)


@needs_bubblewrap
@needs_python_inside
def test_a_model_is_reached_by_its_socket_and_nothing_else_is(
    folder: Path, traversable: Path
) -> None:
    shown, other = traversable / "model.sock", traversable / "other.sock"
    code = (
        "import socket, os\n"
        "one = socket.socket(socket.AF_UNIX); one.connect(os.environ['ALDER_ENDPOINT'])\n"
        f"print(one.recv(16).decode(), os.path.exists({str(other)!r}), os.listdir('/run'))"
    )
    with socket.socket(socket.AF_UNIX) as model, socket.socket(socket.AF_UNIX) as second:
        for one, path in ((model, shown), (second, other)):
            one.bind(str(path))
            path.chmod(0o666)
            one.listen()
        answering = threading.Thread(target=_answer, args=(model,))
        answering.start()
        ended = run_confined([PYTHON, "-I", "-c", code], View(folder, endpoint=shown), FEW)
        answering.join()
    assert ended.output == b"hello False ['model.sock']\n", ended


def _answer(model: socket.socket) -> None:
    with model.accept()[0] as asking:
        asking.sendall(b"hello")


@needs_bubblewrap
def test_a_hidden_part_of_a_shown_folder_is_empty(folder: Path, traversable: Path) -> None:
    package = traversable / "alder"
    package.mkdir()
    (package / "laws.py").write_text("secret", "utf-8")
    traversable.chmod(0o755)
    script = [
        "sh",
        "-c",
        f"ls {traversable} {package}; cat {package}/laws.py; echo x > {package}/y",
    ]
    view = View(folder, reads=[traversable])
    assert b"secret" in run_confined(script, view).output
    ended = run_confined(script, replace(view, hidden=[package]))
    assert b"secret" not in ended.output
    assert b"laws.py" not in ended.output
    assert b"Read-only" in ended.errors


def test_without_bubblewrap_a_sentence_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SandboxFailed, match="apt install bubblewrap"):
        run_confined(["true"], View(tmp_path))


def test_a_processor_with_other_system_calls_is_refused() -> None:
    with pytest.raises(SandboxFailed, match="not of aarch64"):
        require_known_machine("aarch64")


@needs_bubblewrap
def test_a_sandbox_that_cannot_be_made_says_why(folder: Path) -> None:
    with pytest.raises(SandboxFailed, match="no-such-folder"):
        run_confined(["true"], View(folder, reads=[Path("/no-such-folder")]))


def test_the_folder_of_the_study_is_never_shown(tmp_path: Path) -> None:
    study = tmp_path / "study"
    study.mkdir()
    with pytest.raises(BadStudy, match="where the study is"):
        require_narrow([tmp_path], [study])
    require_narrow([study], [tmp_path])
