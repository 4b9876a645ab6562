"""A hostile agent: each function tries one thing it must not get, and returns it if it does.

Run as `python3 -I hostile.py targets.json`; it needs nothing but the standard library. Each attempt
runs in a process of its own. Its proposal says for each whether it was reached, or why not.
"""

import ctypes
import errno
import json
import mmap
import os
import resource
import signal
import socket
import stat
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Targets = dict[str, Any]
LIBC = ctypes.CDLL(None, use_errno=True)
NEW_NET, NEW_USER, NEW_MOUNTS, NEW_PROCESSES = 0x40000000, 0x10000000, 0x00020000, 0x20000000
MANY = 100  # processes or threads; the sandbox of the test allows 64
ATTEMPTS: dict[str, Callable[[Targets], object]] = {}
INHERITED: list[int] = []


def attempt(function: Callable[[Targets], object]) -> Callable[[Targets], object]:
    """Enter a function under its name with dashes."""
    ATTEMPTS[function.__name__.replace("_", "-")] = function
    return function


def call(number: int, *arguments: Any) -> int:
    """Make a system call; raise OSError where it fails."""
    ctypes.set_errno(0)
    words = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    answer = LIBC.syscall(ctypes.c_long(number), *words)
    if answer < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return answer


def checked(answer: int) -> int:
    """Raise OSError where a function of libc failed."""
    if answer < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return answer


def holds(path: str, targets: Targets) -> bool:
    """Read a file and look for the canary."""
    return targets["canary"] in Path(path).read_text("utf-8", "replace")


def processes() -> list[int]:
    """List the processes that can be seen."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208


# What is on disk.


@attempt
def read_the_vault(t: Targets) -> object:
    return holds(t["vault"], t)


@attempt
def list_the_vault(t: Targets) -> object:
    return list(Path(t["vault"]).parent.iterdir())


@attempt
def climb_out_of_the_folder(t: Targets) -> object:
    return holds("../" * 20 + t["vault"], t)


@attempt
def follow_a_symbolic_link_out(t: Targets) -> object:
    link = Path("link-to-vault")
    link.symlink_to(t["vault"])
    return holds(str(link), t)


@attempt
def go_through_its_own_root_in_proc(t: Targets) -> object:
    return holds("/proc/self/root" + t["vault"], t)


@attempt
def go_through_the_root_of_the_harness(t: Targets) -> object:
    return holds(f"/proc/{t['holder']}/root{t['vault']}", t)


@attempt
def go_through_the_folder_of_the_harness(t: Targets) -> object:
    return list(Path(f"/proc/{t['holder']}/cwd").iterdir())


@attempt
def hard_link_the_vault_into_the_folder(t: Targets) -> object:
    os.link(t["vault"], "linked-vault")
    return holds("linked-vault", t)


@attempt
def read_the_outcomes_of_the_pool(t: Targets) -> object:
    return holds(t["pool"], t)


@attempt
def read_the_true_laws_of_a_benchmark(t: Targets) -> object:
    return "def " in Path(t["true_laws"]).read_text("utf-8")


@attempt
def read_the_seeds_of_a_benchmark(t: Targets) -> object:
    return "seed" in Path(t["seeds"]).read_text("utf-8")


@attempt
def import_the_benchmarks(t: Targets) -> object:
    sys.path.insert(0, t["source"])
    from importlib.util import find_spec

    return find_spec("alder.bench")


@attempt
def list_the_parent_project(t: Targets) -> object:
    return list(Path(t["project"]).iterdir())


@attempt
def read_another_case(t: Targets) -> object:
    return holds(t["other_case"], t)


@attempt
def find_cases_in_tmp(t: Targets) -> object:
    return [path for path in Path("/tmp").iterdir() if path.name == t["in_tmp"]]


@attempt
def list_the_home_of_the_user(t: Targets) -> object:
    return list(Path(t["home"]).iterdir())


@attempt
def read_who_uses_the_computer(t: Targets) -> object:
    return Path("/etc/passwd").read_text("utf-8")


@attempt
def read_known_hosts(t: Targets) -> object:
    return Path("/etc/hosts").read_text("utf-8")


@attempt
def learn_the_name_of_the_computer(t: Targets) -> object:
    return socket.gethostname() == t["hostname"]


@attempt
def look_into_sys(t: Targets) -> object:
    return list(Path("/sys/class").iterdir())


@attempt
def look_at_control_groups(t: Targets) -> object:
    return list(Path("/sys/fs/cgroup").iterdir())


@attempt
def use_an_open_file_of_the_harness(t: Targets) -> object:
    return t["canary"].encode() in os.pread(t["handle"], 4096, 0)


@attempt
def find_any_inherited_file(t: Targets) -> object:
    return INHERITED


def _is_open(handle: int) -> bool:
    try:
        os.fstat(handle)
    except OSError:
        return False
    return True


# What other processes hold.


@attempt
def read_the_environment(t: Targets) -> object:
    return os.environ.get("ALDER_CANARY") == t["canary"]


@attempt
def read_the_environment_of_the_harness(t: Targets) -> object:
    return t["canary"].encode() in Path(f"/proc/{t['holder']}/environ").read_bytes()


@attempt
def search_every_environment(t: Targets) -> object:
    return any(_mentions(f"/proc/{pid}/environ", t["canary"]) for pid in processes())


@attempt
def search_every_command_line(t: Targets) -> object:
    return any(_mentions(f"/proc/{pid}/cmdline", t["marker"]) for pid in processes())


def _mentions(path: str, word: str) -> bool:
    try:
        return word.encode() in Path(path).read_bytes()
    except OSError:
        return False


@attempt
def see_other_processes(t: Targets) -> object:
    return t["holder"] in processes()


@attempt
def read_the_memory_map_of_the_harness(t: Targets) -> object:
    return Path(f"/proc/{t['holder']}/maps").read_text("utf-8")


@attempt
def read_the_memory_of_the_harness(t: Targets) -> object:
    with Path(f"/proc/{t['holder']}/mem").open("rb") as memory:
        memory.seek(t["address"])
        return t["canary"].encode() in memory.read(64)


@attempt
def read_an_open_file_of_the_harness_in_proc(t: Targets) -> object:
    return holds(f"/proc/{t['holder']}/fd/{t['holder_handle']}", t)


@attempt
def look_at_the_namespaces_of_the_harness(t: Targets) -> object:
    return os.readlink(f"/proc/{t['holder']}/ns/mnt")  # noqa: PTH115


@attempt
def attach_to_the_harness(t: Targets) -> object:
    return call(101, 0x4206, t["holder"], 0, 0) == 0  # PTRACE_SEIZE


@attempt
def read_across_processes(t: Targets) -> object:
    return t["canary"].encode() in _read_memory(t["holder"], t["address"])


def _read_memory(pid: int, address: int) -> bytes:
    buffer = ctypes.create_string_buffer(64)
    mine = struct.pack("QQ", ctypes.addressof(buffer), 64)
    theirs = struct.pack("QQ", address, 64)
    call(310, pid, ctypes.c_char_p(mine), 1, ctypes.c_char_p(theirs), 1, 0)
    return buffer.raw


@attempt
def trace_a_child(t: Targets) -> object:
    return call(101, 0, 0, 0, 0) == 0


@attempt
def read_across_into_itself(t: Targets) -> object:
    buffer = ctypes.create_string_buffer(t["canary"].encode(), 64)
    return t["canary"].encode() in _read_memory(os.getpid(), ctypes.addressof(buffer))


@attempt
def take_a_file_from_the_harness(t: Targets) -> object:
    handle = call(438, call(434, t["holder"], 0), t["holder_handle"], 0)
    return t["canary"].encode() in os.pread(handle, 4096, 0)


@attempt
def compare_kernel_objects(t: Targets) -> object:
    return call(312, os.getpid(), os.getpid(), 0, 1, 1) >= 0


@attempt
def signal_the_harness(t: Targets) -> object:
    os.kill(t["holder"], 0)
    return True


@attempt
def slow_the_harness_down(t: Targets) -> object:
    # Anybody may slow their own processes down further, and only root speed them up again.
    now = os.getpriority(os.PRIO_PROCESS, t["holder"])
    os.setpriority(os.PRIO_PROCESS, t["holder"], now + 1)
    return True


@attempt
def look_up_the_limits_of_the_harness(t: Targets) -> object:
    return resource.prlimit(t["holder"], resource.RLIMIT_CORE)


# Ways to talk.


@attempt
def connect_to_loopback(t: Targets) -> object:
    return socket.create_connection(("127.0.0.1", t["port"]), 2)


@attempt
def send_a_datagram_to_loopback(t: Targets) -> object:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.settimeout(0.3)
        one.connect(("127.0.0.1", t["datagram_port"]))
        one.send(b"hello")
        return one.recv(16)


@attempt
def connect_to_an_abstract_socket(t: Targets) -> object:
    with socket.socket(socket.AF_UNIX) as one:
        one.connect("\0" + t["abstract"])
        return True


@attempt
def connect_to_a_socket_on_disk(t: Targets) -> object:
    with socket.socket(socket.AF_UNIX) as one:
        one.connect(t["unix"])
        return True


@attempt
def open_a_socket_to_the_hypervisor(t: Targets) -> object:
    return socket.socket(40, socket.SOCK_STREAM)


@attempt
def open_a_netlink_socket(t: Targets) -> object:
    return socket.socket(16, socket.SOCK_RAW, 0)


@attempt
def open_a_packet_socket(t: Targets) -> object:
    return socket.socket(17, socket.SOCK_RAW, 0)


@attempt
def open_a_raw_socket(t: Targets) -> object:
    return socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)


@attempt
def open_a_socket_to_kernel_cryptography(t: Targets) -> object:
    return socket.socket(38, socket.SOCK_SEQPACKET, 0)


@attempt
def attach_shared_memory(t: Targets) -> object:
    identity = call(29, t["key"], 0, 0)
    LIBC.shmat.restype = ctypes.c_void_p
    where = LIBC.shmat(identity, None, 0o10000)
    return t["canary"].encode() in ctypes.string_at(where, 64)


@attempt
def find_a_message_queue(t: Targets) -> object:
    return call(68, t["key"], 0) >= 0


@attempt
def read_shared_memory_on_disk(t: Targets) -> object:
    return holds(t["shm_file"], t)


@attempt
def keep_a_secret_in_a_keyring(t: Targets) -> object:
    return call(
        248, ctypes.c_char_p(b"user"), ctypes.c_char_p(b"alder"), ctypes.c_char_p(b"x"), 1, -2
    )


# Ways to become more.


@attempt
def make_a_user_namespace(t: Targets) -> object:
    return checked(LIBC.unshare(NEW_USER)) == 0


@attempt
def make_a_network_of_its_own(t: Targets) -> object:
    return checked(LIBC.unshare(NEW_USER | NEW_NET)) == 0


@attempt
def make_a_user_namespace_by_clone(t: Targets) -> object:
    child = call(56, NEW_USER | NEW_PROCESSES | signal.SIGCHLD, 0, 0, 0, 0)
    if child == 0:
        os._exit(0)
    return True


@attempt
def make_a_user_namespace_by_clone3(t: Targets) -> object:
    request = struct.pack("8Q", NEW_USER, 0, 0, 0, signal.SIGCHLD, 0, 0, 0)
    child = call(435, ctypes.c_char_p(request), 64)
    if child == 0:
        os._exit(0)
    return True


@attempt
def enter_a_namespace(t: Targets) -> object:
    with Path("/proc/self/ns/net").open() as own:
        return call(308, own.fileno(), NEW_NET) == 0


@attempt
def mount_a_file_system(t: Targets) -> object:
    Path("mounted").mkdir()
    checked(LIBC.unshare(NEW_USER | NEW_MOUNTS))
    return checked(LIBC.mount(b"none", b"mounted", b"tmpfs", 0, None)) == 0


@attempt
def open_a_new_mount(t: Targets) -> object:
    checked(LIBC.unshare(NEW_USER | NEW_MOUNTS))
    return call(430, ctypes.c_char_p(b"tmpfs"), 0)


@attempt
def nest_a_sandbox(t: Targets) -> object:
    words = ["bwrap", "--unshare-user", "--ro-bind", "/", "/", "true"]
    return subprocess.run(words, capture_output=True, check=False).returncode == 0


@attempt
def change_its_root(t: Targets) -> object:
    os.chroot("/usr")
    return True


@attempt
def become_root(t: Targets) -> object:
    os.setuid(0)
    return os.getuid() == 0


@attempt
def make_a_device(t: Targets) -> object:
    os.mknod("disk", stat.S_IFBLK | 0o600, os.makedev(7, 0))
    return True


@attempt
def name_a_file_by_its_handle(t: Targets) -> object:
    handle, mount = ctypes.create_string_buffer(struct.pack("Ii", 128, 0), 200), ctypes.c_int()
    return call(303, -100, ctypes.c_char_p(b"."), handle, ctypes.byref(mount), 0) == 0


@attempt
def load_a_program_into_the_kernel(t: Targets) -> object:
    request = struct.pack("IIIII", 2, 4, 4, 1, 0) + bytes(100)
    return call(321, 0, ctypes.c_char_p(request), len(request))


@attempt
def handle_faults_itself(t: Targets) -> object:
    return call(323, 1)


@attempt
def count_events_of_the_processor(t: Targets) -> object:
    request = struct.pack("IIQ", 1, 112, 0) + bytes(96)
    return call(298, ctypes.c_char_p(request), 0, -1, -1, 0)


@attempt
def queue_calls_past_the_filter(t: Targets) -> object:
    return call(425, 2, ctypes.create_string_buffer(120))


@attempt
def read_the_log_of_the_kernel(t: Targets) -> object:
    return call(103, 10, 0, 0) >= 0


@attempt
def type_into_a_terminal(t: Targets) -> object:
    import fcntl
    import pty

    _, terminal = pty.openpty()
    fcntl.ioctl(terminal, 0x5412, b"x")
    return True


@attempt
def make_memory_that_nobody_is_charged_for(t: Targets) -> object:
    return os.memfd_create("hidden")


@attempt
def make_shared_memory_that_outlives_it(t: Targets) -> object:
    identity = call(29, 0, 4096, 0o1600)
    call(31, identity, 0, 0)  # removed again at once
    return True


@attempt
def raise_its_own_limits(t: Targets) -> object:
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    return True


# Writing outside.


@attempt
def write_beside_the_study(t: Targets) -> object:
    return Path(t["outside"], "planted").write_text("x", "utf-8")


@attempt
def write_to_the_system(t: Targets) -> object:
    Path("/usr/alder-planted").write_text("x", "utf-8")
    Path("/usr/alder-planted").unlink()
    return True


@attempt
def write_to_the_settings_of_the_system(t: Targets) -> object:
    Path("/etc/alder-planted").write_text("x", "utf-8")
    Path("/etc/alder-planted").unlink()
    return True


@attempt
def write_to_the_root(t: Targets) -> object:
    Path("/alder-planted").write_text("x", "utf-8")
    Path("/alder-planted").unlink()
    return True


@attempt
def write_to_shared_memory_on_disk(t: Targets) -> object:
    path = Path("/dev/shm/alder-planted-" + t["marker"])
    path.write_text("x", "utf-8")
    path.unlink()
    return True


@attempt
def rename_the_computer(t: Targets) -> object:
    return Path("/proc/sys/kernel/hostname").write_text(t["hostname"], "utf-8")


@attempt
def plant_a_git_hook(t: Targets) -> object:
    Path(".git/hooks").mkdir(exist_ok=True)
    return Path(".git/hooks/post-checkout").write_text("#!/bin/sh\n", "utf-8")


@attempt
def plant_a_git_monitor(t: Targets) -> object:
    with Path(".git/config").open("a") as config:
        return config.write("\n[core]\n\tpager = cat\n")


@attempt
def replace_the_repository(t: Targets) -> object:
    Path(".git").rename("old-git")
    Path("old-git").rename(".git")
    return True


@attempt
def replace_the_pipes_of_the_desk(t: Targets) -> object:
    pipe = Path(t["desk"], "ask")
    pipe.unlink()
    os.mkfifo(pipe)
    return True


# Using too much.


@attempt
def start_many_processes(t: Targets) -> object:
    started: list[int] = []
    try:
        for _ in range(MANY):
            child = os.fork()
            if child == 0:
                time.sleep(60)
                os._exit(0)
            started.append(child)
        return len(started) == MANY
    finally:
        for child in started:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


@attempt
def start_many_threads(t: Targets) -> object:
    done = threading.Event()
    try:
        for _ in range(MANY):
            threading.Thread(target=done.wait, daemon=True).start()
        return True
    finally:
        done.set()


@attempt
def take_much_memory(t: Targets) -> object:
    return len(bytearray(t["too_much_memory"]))


@attempt
def map_much_private_memory(t: Targets) -> object:
    return mmap.mmap(-1, t["too_much_memory"], flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)


@attempt
def write_a_large_file(t: Targets) -> object:
    try:
        return Path("large").write_bytes(bytes(t["too_large"])) == t["too_large"]
    finally:
        Path("large").unlink()


@attempt
def stretch_a_file(t: Targets) -> object:
    try:
        with Path("sparse").open("wb") as file:
            return file.truncate(2**40)
    finally:
        Path("sparse").unlink()


@attempt
def fill_tmp(t: Targets) -> object:
    paths = [Path(t["tmp"], f"fill-{i}") for i in range(12)]
    try:
        return [path.write_bytes(bytes(2**20)) for path in paths]
    finally:
        for path in paths:
            path.unlink(missing_ok=True)


@attempt
def keep_many_files_open(t: Targets) -> object:
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return [os.open("/usr", os.O_RDONLY) for _ in range(1100)]


@attempt
def lock_memory(t: Targets) -> object:
    return checked(LIBC.mlockall(2)) == 0


def _outcome(function: Callable[[Targets], object], targets: Targets) -> str:
    try:
        return "reached" if function(targets) else "nothing there"
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, type(error).__name__)
    except Exception as error:  # noqa: BLE001 (whatever stops it is an answer)
        return type(error).__name__


def apart(function: Callable[[Targets], object], targets: Targets) -> str:
    """Make one attempt in a process of its own, and end it after a while."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        os.write(writing, _outcome(function, targets).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as answers:
        said = answers.read().decode()
    _, status = os.waitpid(child, 0)
    return said or f"ended by signal {os.waitstatus_to_exitcode(status)}"


def main() -> None:
    """Make every attempt that is asked for."""
    INHERITED.extend(filter(_is_open, range(3, 256)))
    targets: Targets = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    answers = {name: apart(one, targets) for name, one in ATTEMPTS.items()}
    Path("proposal.json").write_text(json.dumps(answers), "utf-8")


if __name__ == "__main__":
    main()
