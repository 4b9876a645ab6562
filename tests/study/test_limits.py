"""Limits on what experiments may show, in whole studies."""

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from study.problems import GRAMMAR, GUESSES, outcome_of, request, run
from worlds.problems import law

import alder
from alder.arrays import FloatArray
from alder.cli.audit import _reselect
from alder.cli.main import main
from alder.errors import BadLedger, BadStudy
from alder.ledger import entries
from alder.ledger.audit import audit
from alder.ledger.events import Replayed, replay
from alder.ledger.store import read_events
from alder.records.budget import Budget
from alder.records.evidence import Candidate, Evidence
from alder.records.experiment import Setting, Trajectory
from alder.records.grammar import Grammar
from alder.records.limits import Limits
from alder.records.roles import Roles
from alder.records.variable import Variable
from alder.selection.registry import SELECTORS
from alder.selection.safety import Shown, permitted
from alder.study.parts import Safe, limits_to_json
from alder.study.stages import select
from alder.study.study import Study
from alder.worlds.function import FunctionWorld
from alder.worlds.log import LogWorld
from alder.worlds.manual import ManualWorld
from alder.worlds.ode import ODEWorld
from alder.worlds.pairwise import PairwiseWorld
from alder.worlds.pool import PoolWorld
from alder.worlds.system import Rate, Sampling, System

HIGH = 6.0
POOL = {
    "x": np.random.default_rng(3).uniform(0.5, 3.0, 40).round(6),
    "v": np.random.default_rng(4).uniform(0.5, 3.0, 40).round(6),
}


def pool_of(ran: list[int]) -> PoolWorld:
    def query(rows: "np.ndarray[tuple[int], np.dtype[np.intp]]") -> list[float]:
        ran.extend(rows.tolist())
        return [outcome_of({"x": POOL["x"][i], "v": POOL["v"][i]}) for i in rows.tolist()]

    return PoolWorld(POOL, query=query)


def worst(candidates: tuple[Candidate, ...], settings: dict[str, Setting], k: float) -> float:
    """Return the largest forecast of any candidate, k standard errors up."""
    point = {name: np.array([float(value)]) for name, value in settings.items()}
    return max(
        float((c.law.predict(point) + k * c.law.standard_error(point))[0]) for c in candidates
    )


@pytest.mark.parametrize("name", SELECTORS)
def test_no_experiment_is_run_that_any_surviving_law_takes_beyond_the_limit(name: str) -> None:
    ran: list[int] = []
    seen: list[float] = []

    def watch(kind: str, state: Replayed) -> None:
        if kind == "choice":
            settings = dict(state.choices[-1].experiment.settings)
            seen.append(worst(state.candidates, settings, 0.9 * 2.0))

    run(pool_of(ran), watch, selector=name, limits={"y": (-math.inf, HIGH)})
    assert len(ran) == len(seen) == 2
    assert max(seen) <= HIGH


def test_without_limits_the_same_study_would_have_gone_beyond_them() -> None:
    seen: list[float] = []

    def watch(kind: str, state: Replayed) -> None:
        if kind == "choice":
            seen.append(worst(state.candidates, dict(state.choices[-1].experiment.settings), 0.0))

    run(pool_of([]), watch)
    assert max(seen) > HIGH


def test_where_nothing_keeps_the_limit_the_refusal_names_it_and_nothing_was_run() -> None:
    ran: list[int] = []
    outcome = run(pool_of(ran), guesses=GUESSES[:1], limits={"y": (-1.0, 0.5)})
    assert ran == []
    assert outcome.refusal is not None
    assert outcome.refusal.cause == "no-safe-experiment"
    assert "-1 <= y <= 0.5" in outcome.refusal.reason


def test_a_function_is_named_in_the_configuration_and_in_the_refusal(tmp_path: Path) -> None:
    def too_gentle(shown: Shown) -> bool:
        return bool(shown["y"].max() < 0.0)

    ledger = tmp_path / "run.alder"
    outcome = run(pool_of([]), guesses=GUESSES[:1], limits=too_gentle, ledger=ledger)
    assert outcome.refusal is not None
    assert "`too_gentle`" in outcome.refusal.reason
    state = replay(read_events(ledger))
    assert state.configuration is not None
    assert "too_gentle" in str(state.configuration.limits["predicate"])


def test_limits_are_part_of_what_a_ledger_resumes_with(tmp_path: Path) -> None:
    ledger = tmp_path / "run.alder"
    limits = {"y": (0.0, HIGH)}
    first = run(pool_of([]), ledger=ledger, limits=limits)
    again = run(pool_of([]), ledger=ledger, limits=Limits(limits))
    assert first.digest == again.digest
    for other in (None, {"y": (0.0, 7.0)}, Limits(limits, sigmas=3.0)):
        with pytest.raises(BadLedger, match="another limits"):
            run(pool_of([]), ledger=ledger, limits=other)


def test_the_ledger_says_under_which_limits_each_experiment_was_chosen(tmp_path: Path) -> None:
    ledger = tmp_path / "run.alder"
    run(pool_of([]), ledger=ledger, limits={"y": (0.0, HIGH)})
    choices = replay(read_events(ledger)).choices
    assert choices
    assert all("keeps 0 <= y <= 6 under" in choice.reason for choice in choices)


def gentle(shown: Shown) -> bool:
    return bool(shown["y"].max() < HIGH)


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"y": (0.0, HIGH)}, "1 selections replayed"),
        (gentle, "not replayed: limits are a Python function"),
    ],
)
def test_an_audit_chooses_again_within_the_limits_of_the_ledger(
    limits: Safe, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ledger, pool = tmp_path / "run.alder", tmp_path / "pool.csv"
    run(pool_of([]), ledger=ledger, limits=limits)
    rows = [f"{x!r},{v!r}" for x, v in zip(POOL["x"].tolist(), POOL["v"].tolist(), strict=True)]
    pool.write_text("\n".join(["x,v", *rows]) + "\n", encoding="utf-8")
    assert main(["audit", str(ledger), "--pool", str(pool)]) == 0
    assert words in " ".join(capsys.readouterr().out.split())


def test_the_report_says_what_every_experiment_had_to_keep(tmp_path: Path) -> None:
    ledger, page = tmp_path / "run.alder", tmp_path / "report.html"
    run(pool_of([]), ledger=ledger, limits={"y": (-math.inf, HIGH)})
    main(["report", str(ledger), "--out", str(page)])
    assert f"y &lt;= {HIGH:g}, with coefficients moved by 2 sd" in page.read_text("utf-8")


def test_an_audit_finds_a_choice_beyond_the_limits(tmp_path: Path) -> None:
    """A ledger that claims limits which its choices did not keep."""
    run(pool_of([]), ledger=tmp_path / "run.alder")
    events = read_events(tmp_path / "run.alder")
    state = replay(events[:1])
    assert state.configuration is not None
    limited = replace(state.configuration, limits=limits_to_json(Limits({"y": (0.0, HIGH)})))
    first = replace(events[0], content=entries.configuration(limited)[1])
    columns = ",".join(POOL)
    rows = [f"{x!r},{v!r}" for x, v in zip(POOL["x"].tolist(), POOL["v"].tolist(), strict=True)]
    (tmp_path / "pool.csv").write_text("\n".join([columns, *rows]) + "\n", encoding="utf-8")
    claimed = (first, *events[1:])
    again = _reselect(tmp_path / "pool.csv", replay(claimed))
    assert "selection" in {finding.code for finding in audit(claimed, reselect=again).findings}


def test_ask_offers_only_what_keeps_the_limit() -> None:
    with Study(pool_of([]), GRAMMAR, **request(limits={"y": (-math.inf, HIGH)})) as study:
        experiments = study.ask()
        state = study._opened.journal.state
        assert experiments
        for experiment in experiments:
            assert worst(state.candidates, dict(experiment.settings), 1.8) <= HIGH


@pytest.mark.parametrize("limits", [{"z": (0.0, 1.0)}, Limits({"z": (0.0, 1.0)})])
def test_a_limit_on_an_unknown_column_is_refused_before_anything_is_written(
    limits: object, tmp_path: Path
) -> None:
    with pytest.raises(BadStudy, match=r"`z` cannot be forecast.*y, x, v can"):
        run(pool_of([]), limits=limits, ledger=tmp_path / "run.alder")
    assert list(tmp_path.iterdir()) == []


def test_limits_of_another_kind_are_refused() -> None:
    with pytest.raises(BadStudy, match="limits is a mapping"):
        run(pool_of([]), limits=3.0)


def test_recorded_rows_alone_may_have_limits_too() -> None:
    assert run(LogWorld(), limits={"y": (0.0, HIGH)}).spent.queries == 0


def test_one_choice_among_given_laws_keeps_limits_as_a_study_does() -> None:
    rows = cast("dict[str, FloatArray]", request().get("initial"))
    laws = [alder.fit(text, rows, target="y").law for text in GUESSES]
    chosen = select(laws, pool_of([]), GRAMMAR, rows=rows, n=40, limits={"y": (0.0, HIGH)})
    assert 0 < len(chosen) < 40
    for choice in chosen:
        point = {name: np.array([float(x)]) for name, x in choice.experiment.settings.items()}
        assert max(float(one.predict(point)[0]) for one in laws) <= HIGH


SPRING = law("-4 * x", "x", target="a")
PULL = Grammar([Variable("x"), Variable("v")], Variable("a"))


def spring(*, is_known: bool = True) -> ODEWorld:
    """Half a swing: it begins and ends at rest, and is fast between."""

    def secret(_t: float, point: Mapping[str, float]) -> float:
        return point["v"]

    rates: dict[str, Rate] = {"x": "v" if is_known else secret, "v": SPRING}
    return ODEWorld(
        System(rates, columns={"v": "a"}),
        experiments={"x": [0.2, 1.0, 2.0], "v": [0.0, 0.0, 0.0]},
        sampling=Sampling(horizon=math.pi / 2, n_rows=3),
    )


def kept_in(world: ODEWorld, limits: Limits, *texts: str) -> list[int]:
    nothing = Trajectory({name: np.empty(0) for name in ("x", "v", "a")})
    evidence = Evidence(PULL, Roles(), Budget(), nothing)
    candidates = [Candidate(law(text, "x", "v"), 1.0, text) for text in texts]
    return permitted(limits, candidates, evidence, world.bind(PULL)).tolist()


def test_a_rollout_keeps_its_limits_along_the_whole_path() -> None:
    """The speed is within the limit where the path begins and where it ends, not between."""
    assert kept_in(spring(), Limits({"v": (-1.0, 1.0)}), "-4 * x") == [0]
    assert kept_in(spring(), Limits({"v": (-3.0, 3.0)}), "-4 * x") == [0, 1]


def test_a_path_between_two_rows_counts() -> None:
    """This spring swings once from row to row, so that at every row it is at rest."""
    assert kept_in(spring(), Limits({"v": (-0.1, 0.1)}), "-64 * x") == []


def test_a_rollout_that_diverges_is_never_safe() -> None:
    assert kept_in(spring(), Limits({"a": (-1e300, 1e300)}), "1e9 * x^3") == []
    assert kept_in(spring(), Limits({"a": (-1e300, 1e300)}), "-4 * x", "1e9 * x^3") == []


def test_a_law_that_cannot_be_followed_can_keep_no_limit() -> None:
    with pytest.raises(BadStudy, match="cannot be forecast along a whole experiment"):
        select(
            [SPRING, law("-5 * x", "x")],
            spring(is_known=False),
            PULL,
            rows={"x": [1.0], "v": [0.0], "a": [-4.0]},
            limits={"v": (-1.0, 1.0)},
        )


def test_inputs_along_a_path_are_held_against_limits() -> None:
    def path(settings: dict[str, Setting]) -> dict[str, list[float]]:
        top = float(settings["top"])
        return {"x": [0.0, top, 0.0], "v": [0.0, 0.0, 0.0]}

    world = FunctionWorld(
        lambda settings: {**path(settings), "a": [0.0, 0.0, 0.0]},
        experiments={"top": [0.5, 1.0, 3.0]},
        inputs=path,
    )
    laws = [law("-4 * x", "x"), law("-5 * x", "x")]
    rows = {"x": [1.0], "v": [0.0], "a": [-4.0]}
    for limits, n in (({"x": (-2.0, 2.0)}, 2), ({"a": (-3.0, 3.0)}, 1)):
        chosen = select(laws, world, PULL, rows=rows, n=3, limits=limits)
        assert len(chosen) == n


def test_experiments_for_a_person_keep_limits() -> None:
    world = ManualWorld({"x": [0.1, 0.5, 2.0], "v": [0.0, 0.0, 0.0]})
    laws = [law("-4 * x", "x"), law("-5 * x", "x")]
    rows = {"x": [1.0], "v": [0.0], "a": [-4.0]}
    chosen = select(laws, world, PULL, rows=rows, n=3, limits={"a": (-3.0, 3.0)})
    assert sorted(float(c.experiment.settings["x"]) for c in chosen) == [0.1, 0.5]


def test_the_sum_over_pairs_keeps_limits_for_every_object() -> None:
    def features(receiver: Mapping[str, float], sender: Mapping[str, float]) -> dict[str, float]:
        return {"d": sender["place"] - receiver["place"]}

    world = PairwiseWorld(
        lambda scene: scene["place"],
        scenes=[{"place": [0.0, far]} for far in (0.5, 1.0, 3.0)],
        features=features,
    )
    grammar = Grammar([Variable("d")], Variable("a"))
    laws = [law("2 * d", "d"), law("2.5 * d", "d")]
    rows = {"d": [1.0], "a": [2.0]}
    for limits, n in (({"a": (-2.6, 2.6)}, 2), ({"a": (-1.0, 9.0)}, 0), ({"a": (-9.0, 9.0)}, 3)):
        assert len(select(laws, world, grammar, rows=rows, n=3, limits=limits)) == n
