"""A hostile agent in the sandbox gets nothing; without the sandbox the same attempts succeed.

All attempts are made in one round of the real proposer, and once more by a plain process. Where an
attempt cannot succeed even there, the table says why.
"""

import contextlib
import ctypes
import errno
import json
import os
import secrets
import shutil
import socket
import subprocess
import threading
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
import pytest
from adversarial.hostile import ATTEMPTS
from proposers.evidence import evidence
from sandboxes import PYTHON, needs_bubblewrap, needs_python_inside

import alder
from alder.proposers.agent import Agent
from alder.proposers.casefolder import case_folder
from alder.proposers.launch import Allowance

pytestmark = [needs_bubblewrap, needs_python_inside]

HERE = Path(__file__).parent
SOURCE = Path(str(alder.__file__)).parent
LIBC = ctypes.CDLL(None, use_errno=True)
MEMORY = 512 * 2**20
ALLOWANCE = Allowance(
    seconds=120.0, memory=MEMORY, processes=64, file_bytes=2**20, tmp_bytes=8 * 2**20
)

# Who is not root cannot do these anyway, so the control is made as root only.
ROOT_ONLY = {
    "open-a-packet-socket", "open-a-raw-socket", "enter-a-namespace", "change-its-root",
    "become-root", "make-a-device", "load-a-program-into-the-kernel", "read-the-log-of-the-kernel",
    "write-to-the-system", "write-to-the-settings-of-the-system", "write-to-the-root",
    "rename-the-computer",
}  # fmt: skip
# Kernels are built or set without these; then the control says so.
UNSUPPORTED = {"ENOSYS", "EAFNOSUPPORT", "EPERM", "EACCES", "EIO", "ENOENT", "EOPNOTSUPP"}
STOPPED_BESIDES = (
    "nothing there", "ModuleNotFoundError", "RuntimeError", "MemoryError", "ValueError",
)  # fmt: skip
KERNEL_PERMITTING = {
    "open-a-socket-to-the-hypervisor": "the kernel may have no vsock",
    "open-a-socket-to-kernel-cryptography": "the kernel may have no AF_ALG",
    "handle-faults-itself": "vm.unprivileged_userfaultfd may forbid it",
    "count-events-of-the-processor": "kernel.perf_event_paranoid or the machine may forbid it",
    "queue-calls-past-the-filter": "kernel.io_uring_disabled may forbid it",
    "type-into-a-terminal": "dev.tty.legacy_tiocsti may be off, as on new kernels",
    "keep-a-secret-in-a-keyring": "the kernel, or the filter of a container, may have no keyrings",
    "load-a-program-into-the-kernel": "the kernel may have no bpf",
    "look-at-control-groups": "a container may show no control groups",
    "make-a-user-namespace-by-clone3": "the filter of a container may hide clone3",
    "rename-the-computer": "a container may show /proc/sys read-only",
}


@final
@dataclass(frozen=True)
class Answers:
    """What became of each attempt, in the sandbox and without it."""

    inside: dict[str, str]
    outside: dict[str, str]


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Generator[Answers]:
    folder = tmp_path_factory.mktemp("red-team")
    with contextlib.ExitStack() as stack:
        targets = _prizes(folder, stack)
        inside = _inside(folder, targets)
        outside = _outside(folder, targets, stack)
        yield Answers(inside, outside)


def _inside(folder: Path, targets: dict[str, Any]) -> dict[str, str]:
    path = folder / "targets.json"
    path.write_text(json.dumps({**targets, "desk": "/run/desk", "tmp": "/tmp"}), "utf-8")
    agent = Agent(
        (PYTHON, "-I", "hostile.py", "targets.json"), ALLOWANCE, files=(HERE / "hostile.py", path)
    )
    submission = agent.propose(evidence(), np.random.default_rng(0))
    assert submission is not None
    assert isinstance(submission.source, bytes), submission
    return json.loads(submission.source)


def _outside(folder: Path, targets: dict[str, Any], stack: contextlib.ExitStack) -> dict[str, str]:
    """Make the same attempts in a copy of a case, as a plain process of ours."""
    case = stack.enter_context(case_folder(evidence()))
    os.mkfifo(case.desk / "ask")
    shutil.copy(HERE / "hostile.py", case.folder)
    (case.folder / "targets.json").write_text(
        json.dumps({**targets, "desk": str(case.desk), "tmp": str(folder)}), "utf-8"
    )
    subprocess.run(
        [PYTHON, "-I", "hostile.py", "targets.json"],
        cwd=case.folder,
        env={**os.environ, "ALDER_CANARY": targets["canary"]},
        pass_fds=[targets["handle"]],
        check=True,
        timeout=120,
    )
    return json.loads((case.folder / "proposal.json").read_bytes())


def _prizes(folder: Path, stack: contextlib.ExitStack) -> dict[str, Any]:
    """Plant a canary wherever something secret of a study could be."""
    canary, marker = f"canary-{secrets.token_hex(8)}", f"marker-{secrets.token_hex(8)}"
    files = {
        name: folder / name / "secret.csv" for name in ("vault", "pool", "other_case", "outside")
    }
    for path in files.values():
        path.parent.mkdir(0o700)
        path.write_text(canary, "utf-8")
        path.chmod(0o600)
    in_tmp = Path("/tmp", f"alder-{marker}")
    in_tmp.mkdir()
    stack.callback(in_tmp.rmdir)
    handle = os.open(files["vault"], os.O_RDONLY)
    os.set_inheritable(handle, True)
    stack.callback(os.close, handle)
    return {
        "canary": canary,
        "marker": marker,
        **{name: str(path) for name, path in files.items()},
        "outside": str(files["outside"].parent),
        "in_tmp": in_tmp.name,
        "handle": handle,
        "true_laws": str(SOURCE / "bench" / "novellaw" / "targets.py"),
        "seeds": str(SOURCE / "bench" / "novellaw" / "cases.py"),
        "source": str(SOURCE.parent),
        "project": str(SOURCE.parents[1]),
        "home": str(Path.home()),
        "hostname": socket.gethostname(),
        "too_much_memory": MEMORY + 2**27,
        "too_large": 2**21,
        **_holder(files["vault"], canary, marker, stack),
        **_listeners(folder, marker, stack),
        **_shared(canary, marker, stack),
    }


def _holder(vault: Path, canary: str, marker: str, stack: contextlib.ExitStack) -> dict[str, int]:
    holder = stack.enter_context(
        subprocess.Popen(
            [PYTHON, "-I", str(HERE / "holder.py"), str(vault), marker],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={"ALDER_CANARY": canary},
            cwd=vault.parent,
        )
    )
    stack.callback(holder.kill)
    assert holder.stdout is not None
    return {"holder": holder.pid, **json.loads(holder.stdout.readline())}


def _listeners(folder: Path, marker: str, stack: contextlib.ExitStack) -> dict[str, object]:
    tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
    datagrams = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    datagrams.bind(("127.0.0.1", 0))
    threading.Thread(target=_echo, args=(datagrams,), daemon=True).start()
    abstract, on_disk = (stack.enter_context(socket.socket(socket.AF_UNIX)) for _ in range(2))
    abstract.bind("\0" + marker)
    # The path of a socket has at most 107 characters, and that of a test may have more.
    here = os.open(folder, os.O_RDONLY)
    stack.callback(os.close, here)
    on_disk.bind(f"/proc/self/fd/{here}/socket")
    for one in (abstract, on_disk):
        one.listen()
    return {
        "port": tcp.getsockname()[1],
        "datagram_port": datagrams.getsockname()[1],
        "abstract": marker,
        "unix": str(folder / "socket"),
    }


def _echo(datagrams: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while True:
            words, address = datagrams.recvfrom(64)
            datagrams.sendto(words, address)


def _shared(canary: str, marker: str, stack: contextlib.ExitStack) -> dict[str, object]:
    """Make System V memory, a queue and a file of shared memory that hold the canary."""
    key = secrets.randbits(30) | 1
    memory = LIBC.shmget(key, 4096, 0o1600)
    queue = LIBC.msgget(key, 0o1600)
    assert memory >= 0
    assert queue >= 0
    stack.callback(LIBC.shmctl, memory, 0, None)
    stack.callback(LIBC.msgctl, queue, 0, None)
    LIBC.shmat.restype = ctypes.c_void_p
    where = LIBC.shmat(memory, None, 0)
    ctypes.memmove(where, canary.encode(), len(canary))
    LIBC.shmdt(ctypes.c_void_p(where))
    file = Path("/dev/shm", f"alder-{marker}")
    file.write_text(canary, "utf-8")
    stack.callback(file.unlink)
    return {"key": key, "shm_file": str(file)}


def test_there_are_many_attempts() -> None:
    assert len(ATTEMPTS) >= 60
    assert set(ATTEMPTS) >= ROOT_ONLY | set(KERNEL_PERMITTING)


@pytest.mark.parametrize("name", ATTEMPTS)
def test_in_the_sandbox_this_fails(name: str, answers: Answers) -> None:
    stopped = answers.inside[name]
    assert stopped != "reached"
    # Stopped by the sandbox, and not by a mistake of the attempt itself.
    assert stopped in (*errno.errorcode.values(), *STOPPED_BESIDES)


@pytest.mark.parametrize("name", ATTEMPTS)
def test_without_the_sandbox_the_same_succeeds(name: str, answers: Answers) -> None:
    if name in ROOT_ONLY and os.geteuid() != 0:
        pytest.skip("only root can do this without a sandbox")
    if name in KERNEL_PERMITTING and answers.outside[name] in UNSUPPORTED:
        pytest.skip(f"{KERNEL_PERMITTING[name]}: {answers.outside[name]}")
    assert answers.outside[name] == "reached"
