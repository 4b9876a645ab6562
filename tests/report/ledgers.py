"""Small real studies, run by the loop with real stages, for the tests of the report."""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from alder.arrays import FloatArray
from alder.expr.text import parse
from alder.ledger import entries
from alder.ledger.configuration import Configuration
from alder.ledger.entries import Entry
from alder.ledger.events import Replayed, advance
from alder.ledger.store import SqliteStore
from alder.loop import Stages, run
from alder.ports import Event, Forecast
from alder.proposers.guesses import Guesses
from alder.records.budget import Budget
from alder.records.effort import Tally
from alder.records.evidence import Candidate, Choice, Evidence
from alder.records.experiment import Trajectory
from alder.records.grammar import Grammar
from alder.records.law import Law
from alder.records.proposal import Proposal
from alder.records.roles import Roles
from alder.records.variable import Variable
from alder.records.verdict import Commitment, Verdict
from alder.selection.candidates import refit
from alder.selection.registry import selector
from alder.worlds.function import FunctionWorld

NOISE = 0.02
VARIABLES = (
    Variable("r", unit="m", description="distance"),
    Variable("v", unit="m/s", description="speed"),
    Variable("u", unit="N", description="action"),
)
TARGET = Variable("a", unit="m/s^2", description="acceleration")
GUESSES = (
    "-k*r^-2 - c*v + b*u",
    "-k*r^-p - c*v + b*u",
    "-k*exp(-r/l) - c*v + b*u",
    "-k*r^-p - c*v + b*u/(s + abs(u))",
    "-k*r^-p - c*v + b*atan(u/s)",
    "-k*exp(-r/l) - c*v + b*tanh(u/s)",
    "-k*r^-p - c*v + b*tanh(u/s)",
)

Columns = dict[str, FloatArray]


def true_a(r: FloatArray, v: FloatArray, u: FloatArray) -> FloatArray:
    return -2.4 * r**-1.5 - 0.35 * v + 1.8 * np.tanh(u / 1.6)


def draw(seed: int, n: int, box: Mapping[str, tuple[float, float]]) -> Columns:
    rng = np.random.default_rng(seed)
    return {name: rng.uniform(*ends, n) for name, ends in box.items()}


def measured(columns: Columns, seed: int) -> Columns:
    noise = np.random.default_rng(seed).normal(0.0, NOISE, len(columns["r"]))
    return {**columns, "a": true_a(**columns) + noise}


NARROW = {"r": (0.9, 1.4), "v": (-1.0, 1.0), "u": (-0.35, 0.35)}
WIDE = {"r": (0.6, 4.0), "v": (-2.5, 2.5), "u": (-4.0, 5.0)}
PROTECTED = measured(draw(5, 40, WIDE), 6)


@dataclass
class Memory:
    """The ledger as the loop sees it, over a real file."""

    store: SqliteStore
    state: Replayed = field(default_factory=Replayed)

    def write(self, entry: Entry) -> None:
        digest = self.store.append(*entry)
        self.state = advance(self.state, Event(self.state.n_events + 1, *entry, digest))

    @contextmanager
    def together(self) -> Generator[None, None, None]:
        yield


@dataclass
class Judge:
    """A small real verifier: accepts a law whose error on kept rows is near the noise."""

    limit: float
    answers: list[str] = field(default_factory=list[str])

    def commitments(self) -> tuple[Commitment, ...]:
        return (Commitment("admission", 40, "ab" * 32),)

    def submit(self, law: Law) -> Verdict:
        self.answers.append(law.digest)
        rms = float(np.sqrt(np.mean(np.square(PROTECTED["a"] - law.predict(PROTECTED)))))
        if rms > self.limit:
            return Verdict("inaccurate", len(self.answers))
        return Verdict("accept", len(self.answers), 1.2 * rms, 0.95)


class Chooser:
    """Disagreement, and coverage where one law is left."""

    def select(
        self,
        candidates: Sequence[Candidate],
        evidence: Evidence,
        forecast: Forecast,
        n: int,
        rng: np.random.Generator,
    ) -> tuple[Choice, ...]:
        name = "disagreement" if len(candidates) > 1 else "coverage"
        return selector(name).select(candidates, evidence, forecast, n, rng)


@dataclass(frozen=True)
class Plan:
    """What differs between the example studies."""

    guesses: Sequence[str] = GUESSES
    limit: float = 1.3 * NOISE
    budget: Budget = field(default_factory=lambda: Budget(proposals=9, queries=24, batch=6))
    unsafe: bool = False


def write_study(path: Path, plan: Plan = Plan()) -> Path:  # noqa: B008 - it is frozen
    """Write the ledger of a study that ran to its end, and return its path."""
    path.write_bytes(_ledger(plan))
    return path


@cache
def _ledger(plan: Plan) -> bytes:
    """Run a study, once for all tests that look at it."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "run.alder"
        _run_study(path, plan)
        return path.read_bytes()


def _run_study(path: Path, plan: Plan) -> None:
    grammar = Grammar(VARIABLES, TARGET)
    pool = draw(3, 160, WIDE)
    noise = iter(np.random.default_rng(4).normal(0.0, NOISE, 1000))

    def experiment(s: Mapping[str, object]) -> float:
        inputs = {name: np.array([float(str(s[name]))]) for name in NARROW}
        return float(true_a(**inputs)[0] + next(noise))

    world = FunctionWorld(
        experiment, experiments=pool, is_safe=(lambda _: False) if plan.unsafe else None
    ).bind(grammar)
    proposals = [Proposal(parse(text, list(NARROW))) for text in plan.guesses]

    def again(evidence: Evidence, rng: np.random.Generator, tally: Tally) -> tuple[Candidate, ...]:
        del rng
        return refit(proposals, evidence, tally=tally)

    with SqliteStore(path) as store:
        journal = Memory(store)
        asked = Configuration(grammar, Roles(), plan.budget, 19, "guesses", "disagreement")
        judge = Judge(plan.limit)
        journal.write(entries.configuration(asked))
        journal.write(entries.commitments(judge.commitments()))
        journal.write(entries.initial(Trajectory(measured(draw(1, 40, NARROW), 2))))
        stages = Stages(Guesses(proposals), judge, again, Chooser(), world)
        run(stages, journal, _ticks())


def _ticks() -> Callable[[], float]:
    """A clock that does not depend on the machine: a tenth of a second a look."""
    ticks = iter(range(1_000_000))
    return lambda: next(ticks) / 10.0
