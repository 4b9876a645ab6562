# Broken parts have no types worth checking: the kits must say what is wrong with them at run time.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
"""The checks of contracts: our own parts pass, and broken ones are told how they break."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from selection.worlds import GRAMMAR, draw_pool, make_evidence, proposals, some_candidates

from alder.arrays import FloatArray
from alder.expr.text import parse
from alder.ledger.store import SqliteStore
from alder.ports import Event, Forecast, Proposer, Selector, Store, Submission
from alder.proposers.guesses import Guesses
from alder.proposers.search.proposer import Search
from alder.records.evidence import Candidate, Choice, Evidence
from alder.records.experiment import Experiment, FailedRun, Pool, Trajectory
from alder.records.law import Law
from alder.records.proposal import Proposal
from alder.records.protected import Protected
from alder.records.verdict import Commitment, Verdict
from alder.selection.registry import SELECTORS
from alder.testing import (
    BrokenContract,
    check_criterion,
    check_forecast,
    check_proposer,
    check_selector,
    check_store,
    check_verifier,
    check_world,
    fingerprint,
)
from alder.verification.criteria import Reference
from alder.verification.terms import Terms
from alder.verification.vault import Vault
from alder.worlds.function import FunctionWorld
from alder.worlds.log import LogWorld
from alder.worlds.manual import ManualWorld
from alder.worlds.ode import ODEWorld
from alder.worlds.pairwise import PairwiseWorld
from alder.worlds.pool import PoolWorld
from alder.worlds.system import Disturbance, Sampling, System

POOL = {"x": [0.0, 1.0, 2.0, 3.0], "y": [0.5, 0.5, -1.0, 2.0]}
SAFE = [True, True, False, True]


def settle(settings: Mapping[str, Any]) -> float:
    return float(settings["x"]) + 2.0 * float(settings["y"])


# Our own parts keep their contracts.


@pytest.mark.parametrize("name", SELECTORS)
def test_our_selectors_keep_their_contract(name: str) -> None:
    check_selector(
        SELECTORS[name],
        candidates=some_candidates(),
        evidence=make_evidence(),
        forecast=draw_pool(0),
    )


@pytest.mark.parametrize("make", [Search, lambda: Guesses(proposals(("k*x + c*y", "k*x*y + c")))])
def test_our_proposers_keep_their_contract(make: Any) -> None:
    small = replace(GRAMMAR, operators=("add", "mul", "tanh"), max_nodes=9)
    check_proposer(make, evidence=replace(make_evidence(), grammar=small))


def test_our_store_keeps_its_contract(tmp_path: Path) -> None:
    check_store(SqliteStore, tmp_path)


def test_our_vault_keeps_its_contract() -> None:
    evidence = make_evidence(width=3.0)
    rows = make_evidence(seed=1, width=3.0).rows()
    terms = Terms(("x", "y"), "a", (Reference(float(np.mean(evidence.rows()["a"]))),))
    with Vault.seal(Protected(admission=rows), terms) as vault:
        check_verifier(lambda: vault, laws=[candidate.law for candidate in some_candidates()])


def test_our_worlds_keep_their_contract() -> None:
    check_world(lambda: FunctionWorld(settle, experiments=POOL, is_safe=SAFE), grammar=GRAMMAR)
    outcomes = np.arange(4.0)
    check_world(lambda: PoolWorld(POOL, query=outcomes.__getitem__, safe=SAFE), grammar=GRAMMAR)


def test_our_simulated_worlds_keep_their_contract() -> None:
    system = System({"x": "y", "y": lambda _t, p: -p["x"]}, columns={"y": "a"})
    noise = Disturbance(process={"y": 0.1}, observation={"a": 0.1})
    check_world(
        lambda: ODEWorld(
            system, experiments=POOL, sampling=Sampling(1.0, 5), is_safe=SAFE, disturbance=noise
        ),
        grammar=GRAMMAR,
    )
    scenes = [{"place": [0.0, 1.0]}, {"place": [0.0, 2.0]}]
    check_world(
        lambda: PairwiseWorld(
            lambda scene: scene["place"],
            scenes=scenes,
            features=lambda i, j: {"x": i["place"], "y": j["place"]},
        ),
        grammar=GRAMMAR,
    )


def test_our_worlds_without_a_plant_keep_the_contract_of_forecasts() -> None:
    check_forecast(lambda: ManualWorld(POOL), grammar=GRAMMAR)
    check_forecast(LogWorld, grammar=GRAMMAR)


# Broken parts are told how they break.


@dataclass(frozen=True)
class Chooser:
    """A selector made of one function of the pool, the evidence and the number asked for."""

    choose: Any

    def select(
        self,
        candidates: Sequence[Candidate],
        evidence: Evidence,
        forecast: Forecast,
        n: int,
        rng: np.random.Generator,
    ) -> tuple[Choice, ...]:
        return self.choose(forecast.pool(), evidence, n, rng)


def _open(pool: Pool, evidence: Evidence) -> list[Choice]:
    return [
        Choice(pool.experiment(row), 0.0, "open")
        for row in np.flatnonzero(pool.safe).tolist()
        if pool.ids[row] not in evidence.done
    ]


def select_breaches(choose: Any) -> str:
    with pytest.raises(BrokenContract) as broken:
        check_selector(
            lambda: Chooser(choose),
            candidates=(),
            evidence=make_evidence(),
            forecast=draw_pool(0),
        )
    return str(broken.value)


def _global_draw(pool: Pool, evidence: Evidence, n: int, _rng: object) -> tuple[Choice, ...]:
    np.random.random()  # noqa: NPY002 (what a careless selector does)
    return tuple(_open(pool, evidence)[:n])


def _tamper(pool: Pool, evidence: Evidence, n: int, _rng: object) -> tuple[Choice, ...]:
    return tuple(
        replace(choice, experiment=replace(choice.experiment, cost=0.0))
        for choice in _open(pool, evidence)[:n]
    )


def _all(pool: Pool) -> list[Choice]:
    return [Choice(pool.experiment(i), 0.0, "all") for i in range(len(pool))]


SELECTIONS: list[tuple[Any, str]] = [
    (lambda p, e, n, r: tuple(_open(p, e)), "at most 4 were asked for"),
    (lambda p, e, n, r: tuple(_open(p, e)[:1] * 2)[:n], "twice"),
    (lambda p, e, n, r: tuple(_all(p)[:n]), "unsafe"),
    (lambda p, e, n, r: tuple(_all(p)[:n]), "run before"),
    (lambda p, e, n, r: (Choice(Experiment("mine", {}), 0.0, "own"),), "not in the pool"),
    (lambda p, e, n, r: _open(p, e)[:n], "a tuple of choices"),
    (lambda p, e, n, r: tuple(replace(c, score=np.nan) for c in _open(p, e)[:n]), "score of nan"),
    (lambda p, e, n, r: tuple(replace(c, reason="") for c in _open(p, e)[:n]), "no reason"),
    (_tamper, "changed the settings or the cost"),
    (_global_draw, "global randomness"),
]


@pytest.mark.parametrize(("choose", "words"), SELECTIONS)
def test_a_broken_selector_is_told_how(choose: Any, words: str) -> None:
    assert words in select_breaches(choose)


def test_a_selector_that_ignores_its_seed_is_told_so() -> None:
    fresh = np.random.default_rng(0)

    def choose(pool: Pool, evidence: Evidence, n: int, _rng: object) -> tuple[Choice, ...]:
        some = _open(pool, evidence)
        return tuple(replace(choice, score=float(fresh.random())) for choice in some[:n])

    assert "two different answers" in select_breaches(choose)


@dataclass(frozen=True)
class Speaker:
    """A proposer made of one function."""

    speak: Any

    def propose(self, evidence: Evidence, rng: np.random.Generator) -> Submission | None:
        return self.speak(evidence, rng)


def _say(text: str, *names: str) -> Submission:
    return Submission(Proposal(parse(text, names)))


PROPOSALS: list[tuple[Any, str]] = [
    (lambda e, r: _say("k*q", "q"), "no law of the grammar: unknown-variable"),
    (lambda e, r: _say("k*x", "x"), "just refused"),
    (lambda e, r: "k*x", "a str; a Submission or None"),
    (lambda e, r: replace(_say("k*x", "x"), tokens=-1), "-1 tokens"),
]


@pytest.mark.parametrize(("speak", "words"), PROPOSALS)
def test_a_broken_proposer_is_told_how(speak: Any, words: str) -> None:
    with pytest.raises(BrokenContract, match=words):
        check_proposer(lambda: Speaker(speak), evidence=make_evidence())


@dataclass(frozen=True)
class Frame:
    """A world made of a pool and two functions."""

    offered: Pool
    say: Any
    act: Any

    def pool(self) -> Pool:
        return self.offered

    def predict(self, law: Law, experiments: Any) -> FloatArray:
        return self.say(experiments)

    def run(self, experiments: Sequence[Experiment]) -> Sequence[Trajectory | FailedRun]:
        return self.act(experiments)


TWO = np.array([1.0, 2.0])
OFFERED = Pool(("a", "b"), {"x": TWO, "y": TWO}, TWO, np.array([True, False]))


def _zeros(experiments: Any) -> FloatArray:
    return np.zeros((len(experiments), 1))


def _row(experiment: Experiment, **columns: float) -> Trajectory:
    return Trajectory({name: np.array([value]) for name, value in columns.items()}, experiment.id)


WORLDS: list[tuple[Any, str]] = [
    (lambda: Frame(replace(OFFERED, ids=("a", "a")), _zeros, list), "the same id"),
    (lambda: Frame(replace(OFFERED, columns={"a": TWO}), _zeros, list), "shows the target"),
    (lambda: Frame(replace(OFFERED, cost=-TWO), _zeros, list), "negative cost"),
    (lambda: Frame(replace(OFFERED, cost=TWO[:1]), _zeros, list), "1 values for 2"),
    (lambda: Frame(OFFERED, lambda e: np.zeros(len(e)), list), "has the shape"),
    (lambda: Frame(OFFERED, lambda e: np.full((len(e), 1), np.nan), list), "not finite"),
    (lambda: Frame(OFFERED, lambda e: np.arange(len(e))[:, None], list), "order in which"),
    (
        lambda: Frame(OFFERED, _zeros, lambda es: [_row(e, x=1.0, y=0.0, a=1.0) for e in es]),
        "ran an unsafe experiment",
    ),
    (lambda: Frame(OFFERED, _zeros, lambda es: []), "one for each experiment"),
    (lambda: Frame(OFFERED, _zeros, lambda es: [_row(e, x=1.0) for e in es]), "no column `a`"),
    (
        lambda: Frame(OFFERED, _zeros, lambda es: [FailedRun(e.id, "") for e in es]),
        "one line of words",
    ),
]


@pytest.mark.parametrize(("make", "words"), WORLDS)
def test_a_broken_world_is_told_how(make: Any, words: str) -> None:
    with pytest.raises(BrokenContract, match=words):
        check_world(make, grammar=GRAMMAR)


def test_a_world_that_does_not_repeat_itself_is_told_so() -> None:
    rng = np.random.default_rng(0)

    def make() -> FunctionWorld:
        return FunctionWorld(lambda _: rng.random(), experiments=POOL)

    with pytest.raises(BrokenContract, match="shows something else"):
        check_world(make, grammar=GRAMMAR)
    check_world(make, grammar=GRAMMAR, repeatable=False)


@dataclass
class Judge:
    """A verifier that answers from a list."""

    answers: list[Verdict]
    committed: tuple[Commitment, ...] = (Commitment("admission", 3, "0" * 64),)

    def commitments(self) -> tuple[Commitment, ...]:
        return self.committed

    def submit(self, law: Law) -> Verdict:
        return self.answers.pop(0)


JUDGES: list[tuple[Any, str]] = [
    (lambda: Judge([Verdict("inaccurate", 2)]), "counted 2 submissions after 1"),
    (lambda: Judge([Verdict("inaccurate", 1, bound=0.1)]), "revealed a bound"),
    (lambda: Judge([Verdict("accept", 1)]), "comes with a bound"),
    (lambda: Judge([Verdict("accept", 1, 0.1, 1.5)]), "confidence between 0 and 1"),
    (lambda: Judge([Verdict("accept", 1, 0.1, 0.9)], ()), "commits to no rows"),
]


@pytest.mark.parametrize(("make", "words"), JUDGES)
def test_a_broken_verifier_is_told_how(make: Any, words: str) -> None:
    with pytest.raises(BrokenContract, match=words):
        check_verifier(make, laws=[some_candidates()[0].law])


@dataclass(frozen=True)
class Rule:
    """A criterion made of one function."""

    test: Any

    def violated(self, law: Law, rows: Mapping[str, FloatArray], role: str) -> bool:
        return self.test(law, rows)


RULES: list[tuple[Any, str]] = [
    (lambda law, rows: 1.0, "a float; True or False"),
    (lambda law, rows: bool(rows["x"][0] > rows["x"][-1]), "order of the rows"),
]


@pytest.mark.parametrize(("test", "words"), RULES)
def test_a_broken_criterion_is_told_how(test: Any, words: str) -> None:
    law, rows = some_candidates()[0].law, make_evidence().rows()
    with pytest.raises(BrokenContract, match=words):
        check_criterion(lambda: Rule(test), law=law, rows=rows)


def test_a_sound_criterion_passes() -> None:
    law, rows = some_candidates()[0].law, make_evidence().rows()

    def large(law: Law, rows: Mapping[str, FloatArray]) -> bool:
        return bool(np.abs(law.predict(rows) - rows["a"]).max() > 1.0)

    check_criterion(lambda: Rule(large), law=law, rows=rows)


class Forgetful:
    """A store that keeps its events in memory only."""

    def __init__(self, _path: Path) -> None:
        self.kept: list[Event] = []

    def append(self, kind: str, content: Mapping[str, object]) -> str:
        digest = fingerprint((kind, content))
        self.kept.append(Event(len(self.kept), kind, content, digest))
        return digest

    def events(self) -> Sequence[Event]:
        return tuple(self.kept)


def test_a_broken_store_is_told_how(tmp_path: Path) -> None:
    with pytest.raises(BrokenContract) as broken:
        check_store(Forgetful, tmp_path)
    assert "opened again, its events are others" in str(broken.value)
    assert "does not cover the events before" in str(broken.value)
    assert "lost where the store is not closed" in str(broken.value)


def test_parts_of_the_kits_have_the_types_of_their_ports(tmp_path: Path) -> None:
    assert isinstance(Chooser(None), Selector)
    assert isinstance(Speaker(None), Proposer)
    assert isinstance(Forgetful(tmp_path), Store)
