"""Studies whose targets are sums of the law over pairs of objects."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fitting.bodies import CLOSEST, newton, scenes

from alder.arrays import FloatArray
from alder.errors import BadStudy, BadTable, BadWorld
from alder.fitting import fit
from alder.ledger.events import replay
from alder.ledger.store import SqliteStore
from alder.records.budget import Budget
from alder.records.grammar import Grammar
from alder.records.outcome import Outcome
from alder.records.protected import Protected
from alder.records.roles import Roles
from alder.records.variable import Variable
from alder.segments import Segments
from alder.study.discover import discover
from alder.study.rows import RowReader, prepare
from alder.study.stages import verify
from alder.worlds.pairwise import PairwiseWorld, Scene

GRAMMAR = Grammar(
    [Variable("r"), Variable("m")],
    Variable("a"),
    operators=("add", "mul", "div", "neg", "pow", "powp", "exp"),
    max_nodes=15,
)
NOISE = 0.03
BUDGET = Budget(proposals=2, queries=2, batch=2)
READER = RowReader(Grammar(GRAMMAR.variables, GRAMMAR.target), Roles(sums="o"))


def features(receiver: Mapping[str, float], source: Mapping[str, float]) -> dict[str, float]:
    away = np.hypot(source["x"] - receiver["x"], source["y"] - receiver["y"])
    return {"r": float(away), "m": source["mass"], "v": receiver["v"]}


def draw(n_scenes: int, n_bodies: int, seed: int) -> list[dict[str, FloatArray]]:
    rng = np.random.default_rng([seed, n_bodies])
    found: list[dict[str, FloatArray]] = []
    while len(found) < n_scenes:
        x, y = rng.uniform(-3.0, 3.0, (2, n_bodies))
        apart = np.hypot(x[:, None] - x, y[:, None] - y)[np.triu_indices(n_bodies, 1)]
        if apart.min() >= CLOSEST:
            mass, v = rng.uniform(0.5, 3.0, n_bodies), rng.normal(size=n_bodies)
            found.append({"x": x, "y": y, "mass": mass, "v": v})
    return found


def pulled(scene: Scene, drag: float = 0.0) -> FloatArray:
    """What an instrument shows of a scene: the same noise each time it is asked."""
    x, y, mass = scene["x"], scene["y"], scene["mass"]
    rng = np.random.default_rng(np.frombuffer(x.tobytes(), np.uint32))
    total = -drag * scene["v"] + NOISE * rng.normal(size=len(x))
    for i in range(len(x)):
        others = np.arange(len(x)) != i
        r = np.hypot(x[others] - x[i], y[others] - y[i])
        total[i] += np.sum(newton(r, mass[others]))
    return total


def study(n_bodies: int, guess: str, **changes: Any) -> Outcome:
    world = PairwiseWorld(pulled, scenes=draw(12, n_bodies, 2), features=features)
    known = draw(56, n_bodies, 1)
    request: dict[str, Any] = {
        "initial": world.rows(known, [pulled(scene) for scene in known], "a"),
        "sums": "receiver",
        "proposer": "guesses",
        "guesses": [guess],
        "budget": BUDGET,
    }
    return discover(world, GRAMMAR, **{**request, **changes})


@pytest.mark.parametrize("n_bodies", [3, 4])
def test_a_law_of_pairs_is_admitted_from_sums(n_bodies: int) -> None:
    law = study(n_bodies, "k*m*r^p").law
    assert law is not None
    assert law.values == pytest.approx({"k": 2.0, "p": -2.0}, rel=0.02)
    assert law.noise.additive == pytest.approx(NOISE, rel=0.3)
    pair = {"r": np.array([1.0, 2.0]), "m": np.ones(2)}
    np.testing.assert_allclose(law.predict(pair), [2.0, 0.5], rtol=0.02)  # of a pair, not a sum


@pytest.mark.parametrize("guess", ["k*m/r", "k*m*exp(-r/L)"])
def test_a_wrong_law_of_pairs_is_refused(guess: str) -> None:
    outcome = study(3, guess, budget=Budget(proposals=1, queries=0))
    assert outcome.law is None
    assert outcome.refusal is not None


def test_rivals_of_a_wrong_law_of_pairs_are_fitted_to_sums_too() -> None:
    law = study(3, "k*m/r").law
    assert law is not None
    pair = {"r": np.array([1.0, 2.0]), "m": np.ones(2)}
    np.testing.assert_allclose(law.predict(pair), [2.0, 0.5], rtol=0.02)


def test_what_an_object_does_by_itself_is_fitted_along() -> None:
    grammar = Grammar([*GRAMMAR.variables, Variable("v"), Variable("share")], GRAMMAR.target)
    world = PairwiseWorld(
        lambda scene: pulled(scene, drag=0.7), scenes=draw(4, 3, 2), features=features
    )
    known = [*draw(16, 3, 1), *draw(12, 4, 1)]
    rows = world.rows(known, [pulled(scene, drag=0.7) for scene in known], "a")
    outcome = discover(
        world, grammar, initial=rows, sums="receiver", proposer="guesses",
        guesses=["k*m/r^2 + c*v*share"], budget=BUDGET,
    )  # fmt: skip
    assert outcome.law is not None
    assert outcome.law.values == pytest.approx({"k": 2.0, "c": -0.7}, rel=0.05)


def test_the_role_is_in_the_ledger_and_a_study_goes_on_with_it(tmp_path: Path) -> None:
    ledger, none = tmp_path / "run.alder", Budget(proposals=1, queries=0)
    first = study(3, "k*m/r", ledger=ledger, budget=none)
    again = study(3, "k*m/r", ledger=ledger, budget=BUDGET)
    whole = study(3, "k*m/r", budget=BUDGET)
    store = SqliteStore(ledger)
    state = replay(store.events())
    store.close()
    assert state.configuration is not None
    assert state.configuration.roles == Roles(sums="receiver")
    assert first.law is None
    assert again.law is not None
    assert whole.law is not None
    assert again.law.values == whole.law.values


def test_protected_rows_are_split_off_as_whole_observations() -> None:
    rows = scenes(newton, 20, 3, noise=NOISE)
    parts = prepare(READER, rows, None, None, 0)
    public, hidden = parts.initial.columns["o"], parts.protected["admission"]["o"]
    assert not set(public) & set(hidden)
    assert len(set(hidden)) == 15
    assert len(public) + len(hidden) == len(rows["o"])
    assert Segments.of(hidden).total(np.ones(len(hidden))).tolist() == [2.0] * 15


def test_copies_of_an_observation_are_on_one_side() -> None:
    rows = scenes(newton, 20, 3, noise=NOISE)
    backwards = {name: column[::-1] for name, column in rows.items()}
    backwards["o"] = backwards["o"] + 1000.0
    twice = {name: np.concatenate([rows[name], backwards[name]]) for name in rows}
    parts = prepare(READER, twice, None, None, 0)
    hidden = set(parts.protected["admission"]["o"])
    assert {o % 1000.0 for o in hidden} == {o for o in hidden if o < 1000.0}
    assert 2 * len({o % 1000.0 for o in hidden}) == len(hidden)


def test_a_protected_sum_that_is_public_is_refused_whatever_its_name() -> None:
    rows = scenes(newton, 20, 3, noise=NOISE)
    renamed = {**rows, "o": rows["o"] + 500.0}
    with pytest.raises(BadTable, match="also public"):
        prepare(READER, rows, None, Protected(renamed), 0)


def test_a_sum_with_a_missing_row_is_left_out() -> None:
    rows = scenes(newton, 20, 3, noise=NOISE)
    r = rows["r"].copy()
    r[5] = np.nan
    columns, n_dropped = READER.read({**rows, "r": r}, "the rows")
    assert n_dropped == 2
    assert rows["o"][5] not in columns["o"]


def test_sums_are_counted_as_such_where_rows_are_too_few() -> None:
    rows = scenes(newton, 4, 4, noise=NOISE)
    assert len(rows["o"]) == 48
    few = {name: column[: 15 * 3] for name, column in rows.items()}
    with pytest.raises(BadStudy, match="15 rows are too few"):
        prepare(READER, few, None, None, 0)


def test_a_world_of_sums_asks_for_the_word() -> None:
    with pytest.raises(BadWorld, match='sums="receiver"'):
        study(3, "k*m*r^p", sums=None)


def test_a_law_is_verified_on_sums() -> None:
    public, new = (scenes(newton, 24, 3, noise=NOISE, seed=seed) for seed in (1, 2))
    right, wrong = (fit(law, public, target="a", sums="o").law for law in ("k*m*r^p", "k*m/r"))
    verdicts = [
        verify(law, Protected(new), public=public, sums="o").accepted for law in (right, wrong)
    ]
    assert verdicts == [True, False]
    assert not verify(right, Protected(new), public=public).accepted
