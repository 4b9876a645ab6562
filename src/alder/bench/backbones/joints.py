"""The twelve joints: the study of `alder bench drawer` and `door` with any proposer."""

from collections.abc import Iterator
from pathlib import Path

from alder.bench.articulated.case import Case
from alder.bench.articulated.discovery import (
    JointOutcome,
    JointSettings,
    grammar,
    vocabulary,
)
from alder.bench.articulated.lab import Lab
from alder.bench.articulated.packages import missing_packages
from alder.bench.articulated.scene import KINDS, Kind
from alder.bench.articulated.scoring import optional_terms
from alder.bench.articulated.store import Store, default_folder
from alder.bench.articulated.worlds import case_names
from alder.bench.backbones.proposers import Subject, proposer
from alder.bench.benchmark import Job, Row
from alder.ledger.events import replay
from alder.ledger.store import read_events
from alder.records.budget import Spent

_PLAIN = (
    "a*v + b",
    "a*v + b*q + c",
    "a*v + b*v*abs(v) + c",
    "a*v + b*sign(v) + c*q + d",
    "a*v + b*u + c",
    "a*v + b*v*abs(v) + c*q + d",
    "a*v + b*sign(v) + c*v*abs(v) + d*q + e",
    "a*v + b*sign(v) + c*q + d*u + e",
)
"""What everybody would try first for the force of a joint; as many as there are proposals."""

_FIRST = case_names()[:4]
_SECOND = case_names()[4:8]

JOINTS = (
    *(f"drawer-{name}" for name in (*_FIRST, *_SECOND[:2])),
    *(f"door-{name}" for name in (*_FIRST, *_SECOND[2:])),
)
"""Six worlds of each joint: each of the four families is there three times."""


def missing_joint(case: str) -> str | None:
    """Say in one sentence what a joint needs that is not installed here."""
    return missing_packages() if case in JOINTS else None


def subject_of(settings: JointSettings) -> Subject:
    """Return what proposers must know of a joint: the built-in one has declared terms."""
    return Subject(grammar(), vocabulary(settings), _PLAIN, _PLAIN)


def measure_joint(job: Job) -> Iterator[Row]:
    """Run the study of one joint with each proposer."""
    kind, _, name = job.case.partition("-")
    lab = Lab(_kind(kind), Store(default_folder()))
    case = Case(lab, name, int(job.settings["seed"]), job.folder)
    for method in job.methods:
        ledger = job.folder / "ledgers" / f"{job.case}-{method.replace(':', '-')}.alder"
        subject = subject_of(case.settings)
        found = case.discover(ledger, proposer(method, job.settings, subject))
        yield {**_about(case), **summed_up(found, ledger, case.world.terms)}


def summed_up(found: JointOutcome, ledger: Path, truth: frozenset[str]) -> Row:
    """Return the row of a study; `truth` are the terms there are beside a bias and velocity."""
    state = replay(read_events(ledger))
    outcome = found.outcome
    spent = Spent() if outcome is None else outcome.spent
    return {
        "admitted": found.law is not None,
        "support": found.law is not None and optional_terms(found.terms) == truth,
        "law": None if found.law is None else str(found.law),
        "terms": sorted(found.terms),
        "refusal": found.refusal,
        "proposals": spent.proposals,
        "queries": found.n_queries,
        "tokens": spent.tokens,
        "fits": spent.fits,
        "invalid": sum(bool(attempt.problems) for attempt in state.attempts),
        "ledger": state.digest,
    }


def _about(case: Case) -> Row:
    joint = case.world.joint
    hidden = {name: getattr(joint, name) for name in ("damping", "friction", "stiffness")}
    return {"family": case.world.family, "world": hidden}


def _kind(name: str) -> Kind:
    return next(kind for kind in KINDS if kind == name)
