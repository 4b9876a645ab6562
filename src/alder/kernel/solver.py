"""Is the solver of systems compiled? The first use on a computer takes a while; say so."""

import sys
from collections.abc import Callable
from typing import Final

from alder.kernel.compiled import is_cached
from alder.kernel.flow import flow

TYPICAL_SECONDS: Final = 20
"""What compiling takes on an ordinary laptop core, for the message to the user."""


def _say(message: str) -> None:
    sys.stderr.write(message + "\n")
    sys.stderr.flush()


def announce(report: Callable[[str], None] = _say) -> None:
    """Say that the first solution on this computer waits for a compilation, where it does."""
    if not flow.signatures and not is_cached(flow):
        report(f"Compiling the solver, once on this computer (about {TYPICAL_SECONDS} s) ...")
