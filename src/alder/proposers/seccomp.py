"""The system calls a sandboxed command may not make, as a program for the kernel's filter.

Bubblewrap takes away the file system, the network and the sight of other processes. What is left
to close are doors that namespaces do not cover: namespaces within the namespace, sockets to the
hypervisor, tracing, keyrings, and memory that no process is charged for.
"""

import platform
import struct
from typing import Final

from alder.errors import SandboxFailed

_ARCHITECTURE: Final = 0xC000003E  # AUDIT_ARCH_X86_64
_X32_CALLS: Final = 0x40000000
_NAMESPACES: Final = 0x7E020000  # every CLONE_NEW* flag of clone(2)
_FAMILIES: Final = (1, 2, 10)  # AF_UNIX, and AF_INET and AF_INET6 to a loopback of its own
_PUSH_INPUT: Final = (0x5412, 0x541C)  # TIOCSTI and TIOCLINUX type into a terminal

# Numbers of x86_64. What reads, moves or traces other processes, mounts, makes namespaces, loads
# code into the kernel, or keeps secrets outside files.
_FORBIDDEN: Final = {
    "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312,
    "pidfd_getfd": 438, "mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161,
    "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432,
    "fspick": 433, "mount_setattr": 442, "unshare": 272, "setns": 308, "keyctl": 250,
    "add_key": 248, "request_key": 249, "bpf": 321, "userfaultfd": 323, "perf_event_open": 298,
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "kexec_load": 246,
    "kexec_file_load": 320, "init_module": 175, "finit_module": 313, "delete_module": 176,
    "name_to_handle_at": 303, "open_by_handle_at": 304, "fanotify_init": 300, "quotactl": 179,
    "syslog": 103, "acct": 163, "swapon": 167, "swapoff": 168, "reboot": 169,
}  # fmt: skip
# Answered as if the kernel did not know them: clone3, whose flags a filter cannot read, so that
# libc takes clone instead; and shared memory that would be charged to nobody.
_UNKNOWN: Final = {"clone3": 435, "memfd_create": 319, "memfd_secret": 447, "shmget": 29}
_CLONE, _IOCTL, _SOCKET, _SOCKETPAIR = 56, 16, 41, 53

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL = 0x7FFF0000, 0x80000000
_EPERM, _ENOSYS, _NO_FAMILY = 0x00050001, 0x00050026, 0x00050061
_CALL, _ARCH, _FIRST, _SECOND = 0, 4, 16, 24  # offsets into struct seccomp_data


def require_known_machine(machine: str | None = None) -> None:
    """Raise `SandboxFailed` on a processor whose system calls have other numbers."""
    machine = platform.machine() if machine is None else machine
    if machine not in ("x86_64", "AMD64"):
        raise SandboxFailed(
            f"The sandbox of coding agents knows the system calls of x86_64, not of {machine}; "
            "use the built-in search, or run agents on an x86_64 machine."
        )


def program() -> bytes:
    """Return the filter as bubblewrap reads it from a file: an array of `struct sock_filter`."""
    steps = [
        _load(_ARCH), *_when(_EQUAL, _ARCHITECTURE, [], otherwise=[_end(_KILL)]),
        _load(_CALL), *_when(_AT_LEAST, _X32_CALLS, [_end(_KILL)]),
    ]  # fmt: skip
    for number in sorted(_FORBIDDEN.values()):
        steps += _when(_EQUAL, number, [_end(_EPERM)])
    for number in sorted(_UNKNOWN.values()):
        steps += _when(_EQUAL, number, [_end(_ENOSYS)])
    steps += _when(
        _EQUAL, _CLONE, [_load(_FIRST), *_when(_ANY_BIT, _NAMESPACES, [_end(_EPERM)]), _end(_ALLOW)]
    )
    pushes = [step for code in _PUSH_INPUT for step in _when(_EQUAL, code, [_end(_EPERM)])]
    steps += _when(_EQUAL, _IOCTL, [_load(_SECOND), *pushes, _end(_ALLOW)])
    families = [step for one in _FAMILIES for step in _when(_EQUAL, one, [_end(_ALLOW)])]
    for call in (_SOCKET, _SOCKETPAIR):
        steps += _when(_EQUAL, call, [_load(_FIRST), *families, _end(_NO_FAMILY)])
    return b"".join([*steps, _end(_ALLOW)])


def _load(offset: int) -> bytes:
    return struct.pack("=HBBI", _LOAD, 0, 0, offset)


def _end(answer: int) -> bytes:
    return struct.pack("=HBBI", _RETURN, 0, 0, answer)


def _when(
    test: int, value: int, then: list[bytes], *, otherwise: list[bytes] | None = None
) -> list[bytes]:
    """Run some steps where a test holds; else skip them, or run others that end the program."""
    if otherwise is not None:
        assert not then, "a test leads one way only"
        return [struct.pack("=HBBI", test, len(otherwise), 0, value), *otherwise]
    return [struct.pack("=HBBI", test, 0, len(then), value), *then]
