"""A round leaves nothing for the next one, for Git, or on the computer."""

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
from proposers.evidence import evidence
from sandboxes import cases_left, needs_bubblewrap, needs_git

from alder.ports import Submission
from alder.proposers.agent import Agent
from alder.proposers.casefolder import case_folder

pytestmark = needs_bubblewrap

POISON = """
for place in /case /tmp /case/.git /case/.git/hooks /run/desk /usr/local/bin /dev/shm "$HOME"; do
  echo 'touch poisoned' > $place/poison-file
  echo 'touch poisoned' > $place/.poison-hidden
done 2> /dev/null
echo 'exit 0' > try
echo '[]' > attempts.json
"""
LOOK = "find / -name '*poison*' 2> /dev/null; sha256sum try attempts.json"


def round_of(script: str) -> Submission:
    submission = Agent(("sh", "-c", script)).propose(evidence(), np.random.default_rng(0))
    assert submission is not None
    return submission


def test_files_left_in_one_round_are_not_there_in_the_next(tmp_path: Path) -> None:
    look = f"({LOOK}) > listing; cp listing proposal.json"
    clean = round_of(look).source
    assert round_of(f"{POISON} {look}").source != clean, "in the same round they are"
    assert round_of(look).source == clean


def test_the_same_folder_twice_would_carry_them_over() -> None:
    with case_folder(evidence()) as case:
        for script in ("echo x > poison-file", "ls > proposal.json"):
            subprocess.run(["sh", "-c", script], cwd=case.folder, check=True)
        assert "poison-file" in (case.folder / "proposal.json").read_text("utf-8")


@needs_git
def test_no_git_runs_on_what_an_agent_wrote(tmp_path: Path) -> None:
    sprung = tmp_path / "sprung"
    trap = f"""
    mkdir -p inner/.git/objects inner/.git/refs inner/.git/hooks
    echo 'ref: refs/heads/main' > inner/.git/HEAD
    printf '[core]\\n\\tfsmonitor = "touch {sprung}; false"\\n' > inner/.git/config
    printf '* filter=x\\n' > .gitattributes
    printf 'k*x' > proposal.json
    """
    assert round_of(trap).source == b"k*x"
    assert not sprung.exists()
    with case_folder(evidence()) as case:
        subprocess.run(["sh", "-c", trap], cwd=case.folder, check=True)
        inner = case.folder / "inner"
        git = shutil.which("git") or "git"
        subprocess.run([git, "-C", str(inner), "status"], capture_output=True, check=False)
        assert sprung.exists(), "Git on such a folder springs the trap"


def test_ten_rounds_leave_no_process_mount_file_or_handle() -> None:
    round_of("true")  # what is opened once and kept
    before = _traces()
    for number in range(10):
        endings = (
            "echo k > proposal.json",
            "sleep 300 & exit 1",
            "kill -9 $$",
            "mkfifo proposal.json",
        )
        round_of(endings[number % len(endings)])
    assert _traces() == before


def _traces() -> dict[str, object]:
    """Return what a sandbox could leave: handles, children, mounts, folders, control groups."""
    me = os.getpid()
    children = Path(f"/proc/{me}/task/{me}/children").read_text("utf-8").split()
    groups = [path for path in Path("/sys/fs/cgroup").glob("**/*alder*") if path.is_dir()]
    return {
        "handles": len(list(Path("/proc/self/fd").iterdir())),
        "children": children,
        "mounts": Path("/proc/self/mounts").read_text("utf-8").count("\n"),
        "cases": cases_left(),
        "groups": groups,
    }
