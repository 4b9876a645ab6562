"""What a user knows of a motion, and imitations that a log alone would let pass."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

import alder
from alder.arrays import FloatArray
from alder.expr.text import parse
from alder.fitting.flows import Flow
from alder.fitting.samples import Samples

Log = dict[str, FloatArray]


def record(
    rates: Sequence[str], columns: tuple[str, ...], starts: FloatArray, noise: float, span: float
) -> Log:
    """Sample solutions from several starts, with noise."""
    rng, t = np.random.default_rng(1), np.linspace(0.0, span, 40)
    flow = Flow.of([parse(rate, columns) for rate in rates], columns)
    blank = Samples.of([(t, np.zeros((len(t), len(columns)))) for _ in starts])
    states = flow.solve(blank, starts, {}).states
    states = states + noise * rng.normal(size=states.shape)
    log = {name: states[:, i] for i, name in enumerate(columns)}
    return {**log, "t": blank.times, "run": blank.segment_of().astype(np.float64)}


def starts_in(low: float, high: float, n: int = 8, seed: int = 0) -> FloatArray:
    return np.random.default_rng(seed).uniform(low, high, (n, 2))


def discover(log: Log, states: Sequence[str], **wishes: object) -> alder.StatesOutcome:
    asked = {"states": list(states), "group": "run", **wishes}
    return alder.discover_states(log, **asked)  # pyright: ignore[reportArgumentType]


def energy(mass: float) -> Callable[[FloatArray, FloatArray], FloatArray]:
    return lambda x, v: 0.5 * v**2 - mass * np.cos(x)


def test_a_conserved_quantity_is_kept_exactly() -> None:
    log = record(["v", "-6*sin(x)"], ("x", "v"), starts_in(-2.0, 2.0), 0.02, 2.0)
    free = discover(log, ["x", "v"], known={"x": "v"})
    kept = discover(log, ["x", "v"], known={"x": "v"}, conserved=["v^2/2 - 6*cos(x)"])
    assert kept.refusal is None
    assert kept.dynamics is not None
    assert kept.laws["v"].predict({"x": [1.0], "v": [0.3]}) == pytest.approx(-6 * np.sin(1.0))
    path = kept.dynamics.rollout({"x": 1.5, "v": 0.0}, np.linspace(0.0, 20.0, 50))
    stays = energy(6.0)(path["x"], path["v"])
    assert np.ptp(stays) < 1e-6
    assert free.refusal is None
    assert free.horizon == pytest.approx(2.0)
    assert [c.role for c in kept.commitments] == ["admission"]


def test_what_friction_takes_is_not_said_to_be_conserved() -> None:
    log = record(["v", "-6*sin(x) - 0.8*v"], ("x", "v"), starts_in(-2.0, 2.0), 0.01, 2.0)
    outcome = discover(log, ["x", "v"], known={"x": "v"}, conserved=["v^2/2 - 6*cos(x)"])
    assert outcome.refusal is not None
    assert "said to be conserved is not" in outcome.refusal.advice


def test_a_mirrored_system_has_odd_rates_only() -> None:
    log = record(["v", "x - x^3 - 0.3*v"], ("x", "v"), starts_in(-1.5, 1.5), 0.03, 3.0)
    outcome = discover(log, ["x", "v"], mirrored=["x", "v"])
    rows = {"x": np.array([0.4, 1.2]), "v": np.array([-0.7, 0.5])}
    turned = {name: -column for name, column in rows.items()}
    for law in outcome.laws.values():
        assert law.predict(turned) == pytest.approx(-law.predict(rows))


def test_what_one_state_loses_and_another_gains_is_one_number() -> None:
    log = record(["-0.7*x*y", "0.7*x*y - 0.4*y"], ("x", "y"), starts_in(0.3, 2.5), 0.01, 3.0)
    outcome = discover(log, ["x", "y"])
    assert outcome.refusal is None
    assert len(outcome.shared) == 1
    assert "one number in dx_dt and dy_dt, with opposite signs" in outcome.shared[0]
    one, other = (outcome.laws[name].predict({"x": 2.0, "y": 1.0}) for name in ("x", "y"))
    plain = outcome.laws["y"].predict({"x": 0.0, "y": 1.0})
    assert other - plain == pytest.approx(-one, rel=1e-12)


def swings_into_a_stop(seed: int) -> Log:
    """Record a pendulum from wide starts, whose speed a stop cuts off at 8."""
    rng, dt, parts = np.random.default_rng(seed), 0.01, list[Log]()
    for run in range(12):
        u = rng.uniform(-2.0, 2.0)
        x, v = np.pi + rng.uniform(-3.14, 3.14), rng.uniform(-1.0, 1.0)
        path: list[tuple[float, float]] = []
        for _ in range(240):
            after = float(np.clip(v + dt * (15.0 * np.sin(x) + 3.0 * u), -8.0, 8.0))
            path.append((x, (v + after) / 2.0))
            x, v = x + dt * after, after
        clean = np.array(path)[::4]
        noise = [sigma * rng.normal(size=len(clean)) for sigma in (0.02, 0.05)]
        part = {"x": clean[:, 0] + noise[0], "v": clean[:, 1] + noise[1]}
        t = np.linspace(0.0, 2.36, len(clean))
        parts.append({**part, "t": t, "u": np.full(len(t), u), "run": np.full(len(t), float(run))})
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


@pytest.mark.parametrize("seed", [1, 2])
def test_many_terms_that_imitate_a_stop_are_refused(seed: int) -> None:
    # With these seeds six and eight terms were once admitted. The first follow what was held back
    # and miss public samples; the second miss one of the trajectories that were held back.
    outcome = discover(swings_into_a_stop(seed), ["x", "v"], inputs=["u"], known={"x": "v"})
    assert outcome.refusal is not None
    assert outcome.error == {}


@pytest.mark.parametrize(
    ("wishes", "words"),
    [
        ({"conserved": ["a*x"]}, "uses `a`, which is no state; x, v are"),
        ({"conserved": ["x"], "discrete": True}, "Leave out `conserved`"),
        ({"mirrored": ["w"]}, "`w` is not a column of states and inputs"),
    ],
)
def test_a_wrong_constraint_is_told_in_one_sentence(wishes: dict[str, object], words: str) -> None:
    log = record(["v", "-x"], ("x", "v"), starts_in(-1.0, 1.0, n=2), 0.01, 1.0)
    with pytest.raises(alder.AlderError, match=words):
        discover(log, ["x", "v"], **wishes)
