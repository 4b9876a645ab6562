"""What can be plugged in: protocols of one to three methods, which receive values only."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias, final, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.records.evidence import Candidate, Choice, Evidence
from alder.records.experiment import Experiment, FailedRun, Pool, Setting, Trajectory
from alder.records.glimpse import Glimpse
from alder.records.law import Law
from alder.records.motion import Motion
from alder.records.problem import Problem
from alder.records.proposal import Proposal
from alder.records.verdict import Commitment, Verdict


@final
@dataclass(frozen=True, slots=True, eq=False)
class Submission:
    """What a proposer offers in one round.

    `source` is a proposal, or whatever a model or an agent wrote, to be read as hostile input.
    `rivals` are other structures that explain the rows about as well; selection needs them.
    `front` may hold the most accurate structure of each size that it came across; where it does
    not, the front of a study is made of what the study itself has fitted.
    `tokens`, `money` and `fits` say what it took to find them: tokens of a model, what it asks for
    them in US dollars, structures fitted.
    `problems` say why there is nothing to read, where an agent wrote nothing that may be read.
    """

    source: Proposal | str | bytes
    rivals: tuple[Proposal, ...] = ()
    tokens: int = 0
    fits: int = 0
    front: tuple[Proposal, ...] = ()
    money: float = 0.0
    problems: tuple[Problem, ...] = ()


@runtime_checkable
class Proposer(Protocol):
    """A Law Revision Agent."""

    def propose(self, evidence: Evidence, rng: np.random.Generator) -> Submission | None:
        """Return the next structure to submit, or None where nothing new is left to say."""
        ...


Listen: TypeAlias = Callable[[Glimpse], None]
"""Is told from time to time how far a proposer is."""


@runtime_checkable
class Watchable(Protocol):
    """A proposer that can say how far it is while it looks.

    Optional: without it, nothing is known of a proposer until it has proposed.
    """

    def watched(self, listen: Listen) -> Proposer:
        """Return a proposer that tells `listen` how far it is, and proposes the very same."""
        ...


@runtime_checkable
class Named(Protocol):
    """A proposer or selector that says under which name a configuration knows it.

    Optional: without it, the name of its class is used. A study resumes only under the same name.
    """

    @property
    def name(self) -> str:
        """The name, one line without secrets."""
        ...


@final
@dataclass(frozen=True, slots=True)
class Message:
    """One message to a language model: instructions from Alder, or the brief."""

    role: Literal["system", "user"]
    text: str


@final
@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """What a reply must look like: a JSON Schema, the same as GBNF, and the most tokens of it.

    A model that cannot be held to a form may ignore it: replies are read as hostile input anyway.
    `seed` follows from the seed of the study; a model that draws its words draws them with it.
    """

    schema: Mapping[str, object]
    gbnf: str
    at_most: int
    seed: int | None = None


@final
@dataclass(frozen=True, slots=True)
class Reply:
    """What a language model wrote, what it read and wrote in tokens, and its price.

    `money` is in US dollars, None where the price is not known.
    """

    text: str
    input_tokens: int = 0
    output_tokens: int = 0
    money: float | None = 0.0


@runtime_checkable
class Model(Protocol):
    """A language model, wherever it runs."""

    @property
    def name(self) -> str:
        """Which model this is, without secrets; it is written to the ledger."""
        ...

    def reply(self, messages: Sequence[Message], form: Form) -> Reply:
        """Return what the model writes; raise `ModelFailed` where no reply came."""
        ...


@runtime_checkable
class Forecast(Protocol):
    """What may be known about experiments before they are run."""

    def pool(self) -> Pool:
        """Return every experiment on offer, with cost and safety; never an outcome."""
        ...

    def predict(self, law: Law, experiments: NDArray[np.intp]) -> FloatArray:
        """Return what a law says these experiments would show, (experiments, outputs)."""
        ...


@runtime_checkable
class Outlook(Protocol):
    """A forecast that can say more than the target of single rows, for limits on what it shows.

    Optional: without it, the target and the settings of an experiment are what is foreseen.
    """

    def foreseen(self) -> Sequence[str]:
        """Name the columns that are foreseen along a whole experiment; none where none are."""
        ...

    def outlook(self, law: Law, experiments: NDArray[np.intp]) -> Mapping[str, FloatArray]:
        """Return those columns as a law has them, each (experiments, rows), along the whole path.

        A path that diverges holds numbers beyond 1e100, or none.
        """
        ...


@runtime_checkable
class Rehearsing(Protocol):
    """A world in which a law can be followed from any settings, not only from those on offer.

    Optional: `alder.plan` needs it to choose settings that nobody has listed.
    """

    @property
    def own_horizon(self) -> float:
        """How long an experiment is whose settings do not say so."""
        ...

    def rehearse(self, law: Law, settings: Mapping[str, Setting]) -> Mapping[str, FloatArray]:
        """Return the columns a law forecasts along one experiment, its start and end included."""
        ...


@runtime_checkable
class Moving(Protocol):
    """A world whose target is the rate at which one of its variables changes.

    Optional: the verifier then follows a law in time along protected trajectories.
    """

    def motion(self) -> Motion | None:
        """Say which variable the target is the rate of; None where rows do not hold it."""
        ...


@runtime_checkable
class Plant(Protocol):
    """The world itself. Each run is charged; nothing is run speculatively."""

    def run(self, experiments: Sequence[Experiment]) -> Sequence[Trajectory | FailedRun]:
        """Run safe experiments in order; one that fails is an answer, not an exception."""
        ...


@runtime_checkable
class World(Forecast, Plant, Protocol):
    """A plant with its forecast."""


@runtime_checkable
class Selector(Protocol):
    """An Active Rollout Selector."""

    def select(
        self,
        candidates: Sequence[Candidate],
        evidence: Evidence,
        forecast: Forecast,
        n: int,
        rng: np.random.Generator,
    ) -> tuple[Choice, ...]:
        """Return up to n distinct safe experiments not yet run, best first, with reasons.

        An empty answer means that no safe experiment separates the candidates.
        """
        ...


@runtime_checkable
class Verifier(Protocol):
    """Holds protected rows and answers with one category."""

    def commitments(self) -> tuple[Commitment, ...]:
        """Return salted digests of the protected rows."""
        ...

    def submit(self, law: Law) -> Verdict:
        """Judge one law; every call is counted."""
        ...


@runtime_checkable
class Criterion(Protocol):
    """One test of a law against protected rows, run inside the vault.

    Add it to a study with `Criteria(own=[...])`. The vault makes it again from the name of its
    class and the fields of its dataclass, so it must be importable; what it prints goes nowhere.
    """

    def violated(self, law: Law, rows: Mapping[str, FloatArray], role: str) -> bool:
        """Say whether the law fails on the rows of this role ("admission" or a shift).

        `rows` has the variables and the target, with error bars, group and time where the study
        has them; they are read-only.
        """
        ...


@runtime_checkable
class Store(Protocol):
    """An append-only list of events; the whole storage contract."""

    def append(self, kind: str, content: Mapping[str, object]) -> str:
        """Add one event durably and return its digest."""
        ...

    def events(self) -> Sequence["Event"]:
        """Return all events in order."""
        ...


@final
@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """One entry of the ledger: its number, kind, content, and digest over all before it.

    `content` is JSON apart from arrays, which are stored compactly beside it.
    """

    number: int
    kind: str
    content: Mapping[str, object]
    digest: str
