"""Forward models inverted: within the budget, never unsafe, to the tolerance."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alder.arrays import FloatArray
from alder.control.inverse import invert
from alder.control.problem import Forward, Inversion
from alder.errors import BadParameter
from alder.records.limits import Limits
from alder.records.plan import Prediction

unit = st.floats(-1.0, 1.0)


class Counted:
    """A forward model that counts how often it is asked, and follows y = g(u) * share of time."""

    def __init__(self, end: Callable[[float], float]) -> None:
        self.end = end
        self.calls = 0

    def __call__(self, actions: FloatArray, horizon: float) -> Prediction:
        self.calls += 1
        reached = self.end(float(actions[0, 0])) * horizon
        return Prediction({"x": reached * np.linspace(0.0, 1.0, 9), "u": actions[:, 0]})


def cubic(a: float, b: float, c: float) -> Callable[[float], float]:
    return lambda u: a * u + b * u**2 + c * u**3


def increasing(a: float, b: float, kind: int) -> Callable[[float], float]:
    def f(u: float) -> float:
        shapes = (math.tanh(3.0 * u), math.sinh(3.0 * u), u**3, u)
        return a * shapes[kind] + b * u

    return f


@given(st.floats(0.1, 5.0), st.floats(0.01, 5.0), st.integers(0, 3), st.floats(0.001, 0.999), unit)
def test_a_root_of_a_monotone_function_is_found_to_tolerance(
    a: float, b: float, kind: int, share: float, sign: float
) -> None:
    f = increasing(math.copysign(a, sign), math.copysign(b, sign), kind)
    target = f(-1.0) + share * (f(1.0) - f(-1.0))
    model = Counted(f)
    plan = invert([model], Inversion({"x": target}, {"u": (-1.0, 1.0)}))
    assert plan.status == "reached", plan
    assert abs(f(plan.first["u"]) - target) <= 1e-4
    assert plan.error <= 1e-4
    assert model.calls == plan.evaluations <= 48


@given(st.lists(st.tuples(unit, unit, unit), min_size=1, max_size=5), unit, st.data())
def test_no_budget_is_exceeded_and_nothing_unsafe_is_returned(
    coefficients: list[tuple[float, float, float]], target: float, data: st.DataObject
) -> None:
    models = [Counted(cubic(*three)) for three in coefficients]
    budget = data.draw(st.integers(len(models), 60))
    low = data.draw(st.floats(-1.0, -0.05))
    high = data.draw(st.floats(0.05, 1.0))
    horizons = data.draw(st.lists(st.floats(0.2, 2.0), min_size=1, max_size=3))
    problem = Inversion(
        {"x": target},
        {"u": (-1.0, 1.0)},
        horizons=tuple(horizons),
        limits=Limits({"x": (low, high)}),
        evaluations=budget,
    )
    plan = invert(models, problem)
    assert sum(model.calls for model in models) == plan.evaluations <= budget
    if plan.refused:
        assert plan.reason
        assert plan.actions.shape == (0, 1)
        return
    assert -1.0 <= plan.first["u"] <= 1.0
    ends = [model.end(plan.first["u"]) * plan.horizon for model in models]
    assert all(low <= end <= high for end in ends)
    assert plan.lowest["x"] == pytest.approx(min(ends))
    assert plan.highest["x"] == pytest.approx(max(ends))
    assert (plan.status == "reached") == (plan.error <= 1e-4)


def arm(bend: float) -> Forward:
    """A point that two inputs move in a plane, move after move."""

    def forward(actions: FloatArray, horizon: float) -> Prediction:
        x = np.cumsum(horizon * (np.sin(actions[:, 0]) + bend * actions[:, 1] ** 2))
        y = np.cumsum(horizon * (actions[:, 1] + bend * actions[:, 0]))
        return Prediction({"x": np.append(0.0, x), "y": np.append(0.0, y)})

    return forward


@settings(max_examples=40)
@given(unit, unit, st.floats(-0.3, 0.3), st.integers(1, 4), st.integers(2, 60))
def test_vector_targets_keep_to_the_same_rules(
    x: float, y: float, bend: float, moves: int, budget: int
) -> None:
    calls = [0]

    def counted(model: Forward) -> Forward:
        def forward(actions: FloatArray, horizon: float) -> Prediction:
            calls[0] += 1
            assert actions.shape == (moves, 2)
            assert (np.abs(actions) <= 1.0 + 1e-12).all()
            return model(actions, horizon)

        return forward

    models = [counted(arm(bend)), counted(arm(0.8 * bend))]
    problem = Inversion(
        {"x": x, "y": y},
        {"u": (-1.0, 1.0), "w": (-1.0, 1.0)},
        moves=moves,
        limits=Limits({"x": (-0.9, 0.9)}),
        evaluations=budget,
    )
    plan = invert(models, problem)
    assert calls[0] == plan.evaluations <= budget
    if not plan.refused:
        for model in models:
            assert (np.abs(model(plan.actions, plan.horizon).path["x"]) <= 0.9).all()


@pytest.mark.parametrize("moves", [1, 3])
def test_a_vector_target_within_reach_is_reached(moves: int) -> None:
    problem = Inversion({"x": 0.4, "y": -0.6}, {"u": (-1.0, 1.0), "w": (-1.0, 1.0)}, moves=moves)
    plan = invert([arm(0.1)], problem)
    assert plan.status == "reached"
    assert plan.evaluations <= 48
    end = arm(0.1)(plan.actions, plan.horizon).end
    assert (end["x"], end["y"]) == pytest.approx((0.4, -0.6), abs=1e-4)


def test_horizons_are_tried_in_order() -> None:
    problem = Inversion({"x": 0.5}, {"u": (0.0, 1.0)}, horizons=(0.1, 2.0, 1.0))
    assert invert([Counted(lambda u: u)], problem).horizon == 2.0


def test_a_second_root_is_taken_where_the_first_is_unsafe() -> None:
    def forward(actions: FloatArray, _horizon: float) -> Prediction:
        u = float(actions[0, 0])
        return Prediction({"x": np.array([0.0, u * u - 0.25]), "heat": np.array([u])})

    limits = Limits({"heat": (-math.inf, 0.0)})
    plan = invert([forward], Inversion({"x": 0.0}, {"u": (-0.9, 1.0)}, limits=limits))
    assert plan.status == "reached"
    assert plan.first["u"] == pytest.approx(-0.5, abs=1e-3)


def test_an_unreachable_target_gives_the_closest_safe_action_and_says_so() -> None:
    plan = invert([Counted(lambda u: u)], Inversion({"x": 3.0}, {"u": (-1.0, 1.0)}))
    assert (plan.status, plan.first["u"], plan.error) == ("closest", 1.0, 2.0)
    assert "reaches the target" in plan.reason


def test_without_a_safe_action_the_plan_is_a_refusal_with_its_reason() -> None:
    problem = Inversion({"x": 0.5}, {"u": (0.4, 1.0)}, limits=Limits({"x": (-1.0, 0.1)}))
    plan = invert([Counted(lambda u: u)], problem)
    assert plan.refused
    assert plan.first == {}
    assert "its limits are -1 to 0.1" in plan.reason


def test_leaving_the_scope_of_a_law_is_unsafe_and_named() -> None:
    def forward(actions: FloatArray, _horizon: float) -> Prediction:
        return Prediction({"x": np.array([0.0, actions[0, 0]])}, scope={"x": (-0.2, 0.2)})

    plan = invert([forward], Inversion({"x": 0.5}, {"u": (0.4, 1.0)}))
    assert plan.refused
    assert "the law was fitted on -0.2 to 0.2" in plan.reason


def test_a_limit_may_be_a_function_of_the_predicted_path() -> None:
    def slow(path: object) -> bool:
        assert isinstance(path, dict) or hasattr(path, "keys")
        return bool(np.max(path["x"]) < 0.3)  # type: ignore[index]

    plan = invert([Counted(lambda u: u)], Inversion({"x": 0.5}, {"u": (0.0, 1.0)}, limits=slow))
    assert plan.status == "closest"
    assert plan.predicted["x"] < 0.3


def test_a_prediction_that_diverges_is_never_chosen() -> None:
    def forward(actions: FloatArray, _horizon: float) -> Prediction:
        u = float(actions[0, 0])
        return Prediction({"x": np.array([0.0, 1e100 if u > 0.5 else u])})

    plan = invert([forward], Inversion({"x": 0.45}, {"u": (-1.0, 1.0)}))
    assert plan.status == "reached"
    assert invert([forward], Inversion({"x": 0.8}, {"u": (0.6, 1.0)})).refused


def test_several_laws_need_a_budget_that_can_ask_them_all() -> None:
    problem = Inversion({"x": 0.1}, {"u": (-1.0, 1.0)}, evaluations=2)
    with pytest.raises(BadParameter, match="3 laws must agree"):
        invert([Counted(lambda u: u)] * 3, problem)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"target": {}}, "needs a target"),
        ({"target": {"x": math.nan}}, "finite number"),
        ({"bounds": {"u": (1.0, 0.0)}}, "the lower first"),
        ({"horizons": (-1.0,)}, "above zero"),
        ({"moves": 0}, "at least one move"),
        ({"tolerance": 0.0}, "tolerance above zero"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_a_sentence(
    options: dict[str, object], words: str
) -> None:
    whole = {"target": {"x": 0.1}, "bounds": {"u": (0.0, 1.0)}, **options}
    with pytest.raises(BadParameter, match=words):
        Inversion(**whole)  # type: ignore[arg-type]


def test_a_target_that_no_model_predicts_is_misuse() -> None:
    with pytest.raises(BadParameter, match="does not predict"):
        invert([Counted(lambda u: u)], Inversion({"y": 0.1}, {"u": (-1.0, 1.0)}))
