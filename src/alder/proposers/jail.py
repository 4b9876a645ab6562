"""What a sandboxed command can see: the arguments of bubblewrap.

A read-only system, a private `/tmp`, and the case folder, which alone can be written to. Paths of
the computer outside are not told: the arguments travel by a file descriptor, so that `/proc/1` in
the sandbox does not show them.
"""

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import final

from alder.errors import BadStudy, SandboxFailed

CASE = "/case"
"""Where a command finds its case; it starts there."""

ENDPOINT = "/run/model.sock"
"""Where the socket of a model stands in the sandbox, when there is one."""

# Merged in /usr on most systems; a folder of its own is shown as it is.
_TOP = ("bin", "lib", "lib64", "lib32", "sbin")
# What the dynamic linker and Debian's choice of programs need; no names of users or hosts.
_SYSTEM = ("/etc/ld.so.cache", "/etc/alternatives")
_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/tmp", "LANG": "C.UTF-8"}
_INSIDE_ID = 1000


@final
@dataclass(frozen=True, slots=True)
class View:
    """What is shown to a command besides the system.

    `case` is the folder it may write to, but for `sealed`, parts of it that it may only read.
    `reads` are folders shown read-only under their own path, `hidden` what is left out of all
    that is shown, `endpoint` the unix socket of a model, `desk` a folder of ours at /run/desk.
    """

    case: Path
    sealed: Sequence[str] = ()
    reads: Sequence[Path] = ()
    hidden: Sequence[Path] = ()
    endpoint: Path | None = None
    desk: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict[str, str])


def require_bubblewrap() -> str:
    """Return the path of bubblewrap; raise `SandboxFailed` where it is not installed."""
    found = shutil.which("bwrap")
    if found is None:
        raise SandboxFailed(
            "A coding agent runs only inside bubblewrap, which is not installed: "
            "apt install bubblewrap (or dnf, pacman, zypper); there is no way without it."
        )
    return found


def bubblewrap_arguments(view: View, tmp_bytes: int) -> list[str]:
    """Return the arguments, without the command, for a view."""
    flags = ["--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"]
    flags += ["--unshare-cgroup-try", "--die-with-parent", "--new-session", "--clearenv"]
    flags += ["--cap-drop", "ALL", "--hostname", "alder"]
    flags += ["--uid", str(_INSIDE_ID), "--gid", str(_INSIDE_ID)]
    environment = {**_ENVIRONMENT, **view.environment}
    if view.endpoint is not None:
        environment["ALDER_ENDPOINT"] = ENDPOINT
    for name, value in environment.items():
        flags += ["--setenv", name, value]
    return [*flags, *_mounts(view, tmp_bytes), "--chdir", CASE]


def _mounts(view: View, tmp_bytes: int) -> list[str]:
    mounts = [*_system(), "--proc", "/proc", "--dev", "/dev"]
    mounts += ["--size", str(tmp_bytes), "--tmpfs", "/tmp"]
    for folder in view.reads:
        mounts += ["--ro-bind", str(folder), str(folder)]
    shown = [Path("/usr"), *view.reads]
    for path in view.hidden:
        if any(path.is_relative_to(folder) for folder in shown):
            mounts += ["--size", "4096", "--tmpfs", str(path), "--remount-ro", str(path)]
    mounts += ["--bind", str(view.case), CASE]
    for name in view.sealed:
        mounts += ["--ro-bind", str(view.case / name), f"{CASE}/{name}"]
    if view.desk is not None:
        mounts += ["--ro-bind", str(view.desk), "/run/desk"]
    if view.endpoint is not None:
        mounts += ["--ro-bind", str(view.endpoint), ENDPOINT]
    return [*mounts, "--remount-ro", "/dev", "--remount-ro", "/"]


def _system() -> list[str]:
    mounts = ["--ro-bind", "/usr", "/usr"]
    for name in _TOP:
        path = Path("/", name)
        if path.is_symlink():
            mounts += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            mounts += ["--ro-bind", str(path), str(path)]
    for path in _SYSTEM:
        mounts += ["--ro-bind-try", path, path]
    return mounts


def require_narrow(reads: Sequence[Path], private: Sequence[Path]) -> None:
    """Refuse to show a folder that holds what must stay private, such as where a study is run."""
    for folder in reads:
        # A path in a folder that is closed to us is refused like one that is not there.
        if not folder.is_absolute() or not os.access(folder, os.R_OK):
            raise BadStudy(f"reads={folder}: name a folder that exists, by its whole path.")
        inside = next((one for one in private if one.is_relative_to(folder.resolve())), None)
        if inside is not None:
            raise BadStudy(
                f"reads={folder} would show the agent {inside}, where the study is; name only the "
                "folder of the agent's own program."
            )
