"""What does a sandboxed round cost, and what does it leave? One hundred rounds of an agent.

Run with `python benchmarks/sandbox.py`, and with a number of rounds as its argument. The goals: a
round adds under 150 ms to the command itself, and no process, mount, file, handle or control group
is left after all of them.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np
from rich.console import Console

from alder.proposers.agent import Agent
from alder.records.budget import Budget
from alder.records.evidence import Evidence
from alder.records.experiment import Trajectory
from alder.records.grammar import Grammar
from alder.records.roles import Roles
from alder.records.variable import Variable

GOAL_MS = 150.0
N_ROUNDS = 100
N_ROWS = 200
# Ends well, leaves a daemon, ends badly, and leaves what is no file.
SCRIPTS = (
    "echo 'k*x' > proposal.json",
    "sleep 600 & echo 'k*x' > proposal.json",
    "kill -9 $$",
    "mkfifo proposal.json; mkdir -p a/b/c; chmod 0 a",
)
CONSOLE = Console(highlight=False)


def known() -> Evidence:
    """Return evidence of two hundred rows."""
    rng = np.random.default_rng(0)
    rows = {name: rng.normal(size=N_ROWS) for name in ("x", "v", "y")}
    grammar = Grammar([Variable("x"), Variable("v")], target=Variable("y"))
    return Evidence(grammar, Roles(), Budget(), Trajectory(rows))


def traces() -> dict[str, object]:
    """Return what rounds could leave behind."""
    me, temporary = os.getpid(), Path(tempfile.gettempdir())
    return {
        "handles": len(list(Path("/proc/self/fd").iterdir())),
        "children": Path(f"/proc/{me}/task/{me}/children").read_text("utf-8"),
        "sleepers": _n_sleepers(),
        "mounts": Path("/proc/self/mounts").read_text("utf-8").count("\n"),
        "folders": sorted(path.name for path in temporary.glob("alder-case-*")),
        "groups": sorted(map(str, Path("/sys/fs/cgroup").glob("**/*alder*"))),
    }


def _n_sleepers() -> int:
    found = subprocess.run(["pgrep", "-fc", "^sleep 600$"], capture_output=True, check=False)
    return int(found.stdout or b"0")


def plain_ms(script: str) -> float:
    """Return what the command itself takes, in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        begin = perf_counter()
        subprocess.run(["sh", "-c", script], cwd=folder, check=False)
        return 1e3 * (perf_counter() - begin)


def main() -> None:
    """Measure rounds, and compare what was there before and after."""
    n_rounds = int(sys.argv[1]) if len(sys.argv) > 1 else N_ROUNDS
    evidence, rng = known(), np.random.default_rng(0)
    agents = [Agent(("sh", "-c", script)) for script in SCRIPTS]
    agents[0].propose(evidence, rng)
    before = traces()
    plain = float(np.median([plain_ms(SCRIPTS[0]) for _ in range(10)]))
    took: list[float] = []
    for number in range(n_rounds):
        begin = perf_counter()
        agents[number % len(agents)].propose(evidence, rng)
        took.append(1e3 * (perf_counter() - begin))
    after = traces()
    added = np.array(took) - plain
    CONSOLE.print(
        f"{n_rounds} rounds add {np.median(added):.0f} ms each (90 % under "
        f"{np.quantile(added, 0.9):.0f} ms) to a command of {plain:.1f} ms; "
        f"the goal is {GOAL_MS:.0f} ms."
    )
    left = [name for name in before if before[name] != after[name]]
    CONSOLE.print(f"Left behind: {', '.join(left) or 'nothing'}.")
    sys.exit(bool(left))


if __name__ == "__main__":
    main()
