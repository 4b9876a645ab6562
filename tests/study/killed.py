"""One study, killed after its first event, then after its second, and so on to its end.

`python -m study.killed LEDGER` prints how often it was killed. Each sitting is a process of its
own, forked so that only the first waits for imports.
"""

import os
import signal
import sys
from pathlib import Path

from study.problems import run

from alder.kernel.ready import ensure
from alder.ledger.events import Replayed

_MOST_EVENTS = 100


def sit(ledger: Path, last: int) -> None:
    """Go on with the study until the ledger would hold so many events."""

    def kill(_kind: str, state: Replayed) -> None:
        if state.n_events == last:
            os.kill(os.getpid(), signal.SIGKILL)

    run(ledger=ledger, watch=kill)


def main(ledger: Path) -> int:
    """Return after how many kills the study had ended."""
    ensure()
    for last in range(1, _MOST_EVENTS):
        child = os.fork()
        if child == 0:
            sit(ledger, last)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status):
            assert os.waitstatus_to_exitcode(status) == 0
            return last - 1
    raise AssertionError("The study never ended.")


if __name__ == "__main__":
    sys.stdout.write(str(main(Path(sys.argv[1]))))
