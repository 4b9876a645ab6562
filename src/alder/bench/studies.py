"""What the studies of benchmarks share: a ledger that begins anew, and a seed for each case."""

import shutil
from pathlib import Path

import numpy as np


def fresh_ledger(ledger: Path) -> Path:
    """Return the path after removing what a stopped run left of it and of its verifier's folder."""
    ledger.parent.mkdir(parents=True, exist_ok=True)
    for leftover in ledger.parent.glob(f"{ledger.name}*"):
        if leftover.is_dir():
            shutil.rmtree(leftover)
        else:
            leftover.unlink()
    return ledger


def study_seed(seed: int, number: int) -> int:
    """Return the seed of the studies of one case."""
    return int(np.random.SeedSequence([seed, number]).generate_state(1)[0] % 2**31)
