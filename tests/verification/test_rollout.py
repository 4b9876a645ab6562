"""Laws of rates, followed in time along protected trajectories."""

import numpy as np
import pytest

import alder
from alder.arrays import FloatArray
from alder.fitting import fit
from alder.ports import Moving
from alder.records.grammar import Grammar
from alder.records.law import Law
from alder.records.motion import Motion, motion_by_name
from alder.records.protected import Protected
from alder.records.variable import Variable
from alder.verification.admit import Sealed, admit
from alder.verification.criteria import Reference
from alder.verification.rollout import diverges, trajectories
from alder.verification.terms import Terms
from alder.worlds.binding import bind
from alder.worlds.ode import ODEWorld
from alder.worlds.system import Sampling, System
from verification.cases import law_of

Rows = dict[str, FloatArray]
TIMES = np.linspace(0.0, 20.0, 81)


def decay(starts: tuple[float, ...] = (1.0, -2.0, 3.0)) -> Rows:
    """Trajectories of ds/dt = -s."""
    s = np.concatenate([start * np.exp(-TIMES) for start in starts])
    g = np.repeat(np.arange(float(len(starts))), len(TIMES))
    return {"s": s, "rate": -s, "t": np.tile(TIMES, len(starts)), "g": g}


def law(text: str, values: dict[str, float], variables: tuple[str, ...] = ("s",)) -> Law:
    return law_of(text, values, target="rate", variables=variables)


def oscillation() -> Rows:
    """A pendulum that loses energy: dx/dt = v, dv/dt = -x - 0.1 v."""
    x = np.exp(-0.05 * TIMES) * np.cos(TIMES)
    v = np.gradient(x, TIMES)
    return {"x": x, "v": v, "rate": -x - 0.1 * v, "t": TIMES}


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        ("-a*s", {"a": 1.0}, False),
        ("-a*s", {"a": 1e5}, False),  # stiff, not unstable
        ("-a*sign(s)", {"a": 1.0}, False),  # slides along zero
        ("a", {"a": 0.2}, False),  # wrong, but goes nowhere fast
        ("-a*s + b*s^3", {"a": 1.0, "b": 0.2}, True),  # blows up from 3, not from 1
        ("a*s", {"a": 1.0}, True),
    ],
)
def test_a_law_that_leaves_its_trajectories_far_behind_diverges(
    text: str, values: dict[str, float], expected: bool
) -> None:
    assert diverges(law(text, values), decay(), Motion("s"), "t", "g") is expected


def test_other_states_move_along_where_their_rates_are_known() -> None:
    rows = oscillation()
    names = ("x", "v")
    kinematics = Motion("v", {"x": "v"})
    right = law("-a*x - b*v", {"a": 1.0, "b": 0.1}, names)
    repelled = law("a*x - b*v", {"a": 1.0, "b": 0.1}, names)
    assert not diverges(right, rows, kinematics, "t")
    assert diverges(repelled, rows, kinematics, "t")
    # With x read from the rows it is no more than an input, under which v stays small.
    assert not diverges(repelled, rows, Motion("v"), "t")


def test_a_plant_that_feedback_holds_in_place_is_no_fault_of_its_law() -> None:
    # ds/dt = 2 s + u, held near zero by u = -4 s: followed without feedback it leaves at once.
    t = np.linspace(0.0, 60.0, 601)
    s = np.exp(-2.0 * t) + 0.1 * np.sin(t)
    u = np.gradient(s, t) - 2.0 * s
    rows = {"s": s, "u": u, "rate": 2.0 * s + u, "t": t}
    assert not diverges(law("a*s + u", {"a": 2.001}, ("s", "u")), rows, Motion("s"), "t")
    assert diverges(
        law("a*s + u + b*s^3", {"a": 2.0, "b": 400.0}, ("s", "u")), rows, Motion("s"), "t"
    )


def test_trajectories_end_where_the_time_goes_back_or_the_group_changes() -> None:
    time = np.array([0.0, 1.0, 2.0, 0.0, 1.0, 5.0])
    assert [list(run) for run in trajectories(time, None)] == [[0, 1, 2], [3, 4, 5]]
    group = np.array([0.0, 0.0, 1.0, 1.0, 1.0, 1.0])
    assert [list(run) for run in trajectories(time, group)] == [[0, 1], [3, 4, 5]]


def test_a_law_without_variables_goes_nowhere() -> None:
    assert not diverges(law("a", {"a": 1.0}, ()), decay(), Motion("s"), "t")


def test_a_law_that_fits_every_row_and_blows_up_is_unstable() -> None:
    rng = np.random.default_rng(0)
    rows = decay((1.0, -1.5, 2.0, 0.5))
    rows["rate"] = rows["rate"] + 0.05 * rng.normal(size=len(rows["s"]))
    terms = Terms(("s",), "rate", (Reference(0.0),), group="g", time="t", motion=Motion("s"))
    right = fit("-a*s", rows, target="rate").law
    # It differs where hardly a row is: beside the starts, which are the largest values.
    wrong = law("-a*s + b*max(abs(s) - 1.9, 0)*s", {"a": 1.0, "b": 30.0})
    assert admit(Sealed({"admission": rows}, terms), right, []).category == "accept"
    assert admit(Sealed({"admission": rows}, terms), wrong, []).category == "unstable"


def test_names_may_say_what_the_target_is_the_rate_of() -> None:
    state, other = Variable("x", role="state"), Variable("u", role="action")
    assert motion_by_name(Grammar([state, other], Variable("dx_dt"))) == Motion("x")
    assert motion_by_name(Grammar([state, other], Variable("a"))) is None
    assert motion_by_name(Grammar([Variable("x")], Variable("dx_dt"))) is None


def test_a_world_of_differential_equations_says_what_its_target_is_the_rate_of() -> None:
    system = System({"x": "v", "v": lambda t, p: -p["x"]}, columns={"v": "a"})
    world = ODEWorld(system, experiments={"x": [1.0], "v": [0.0]}, sampling=Sampling(1.0))
    both = bind(world, Grammar([Variable("x"), Variable("v")], Variable("a")))
    assert isinstance(both, Moving)
    assert both.motion() == Motion("v", {"x": "v"})
    only = bind(world, Grammar([Variable("x")], Variable("a")))
    assert isinstance(only, Moving)
    assert only.motion() is None


def test_a_study_of_trajectories_admits_the_law_that_stays() -> None:
    system = System({"s": lambda t, p: -p["s"]}, columns={"s": "rate"})
    starts = {"s": [0.5, 1.0, 1.5, 2.0]}
    world = ODEWorld(system, experiments=starts, sampling=Sampling(5.0, n_rows=20))
    rng = np.random.default_rng(0)

    def noisy(rows: Rows) -> Rows:
        return {**rows, "rate": rows["rate"] + 0.02 * rng.normal(size=len(rows["s"]))}

    outcome = alder.discover(
        world,
        Grammar([Variable("s")], Variable("rate")),
        initial=noisy(decay((0.7, -1.3))),
        protected=Protected(noisy(decay((1.1, -0.4)))),
        guesses=["-k*s"],
        budget=alder.Budget(proposals=1, queries=0),
        proposer="guesses",
        time_column="t",
    )
    assert outcome.law is not None
