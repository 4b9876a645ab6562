import copy
import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alder.expr.operators import OPERATORS, Floors, is_integer, operator, saturate

FLOORS = Floors()
EDGES = (0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 5e-324, -5e-324, 1e-200, -1e-160, 1e300, -1e300, 800.0)
EXPONENTS = (-3.0, -2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 60.0, -60.0, 1e10)
PAPER = Floors(denominator=1e-6, base=1e-6, exponent=30.0, saturation=1e6)
# Where each function of one argument bends, jumps or ends: differences are not taken across.
SWITCHES = {"abs": (0.0,), "sign": (0.0,), "sqrt": (0.0,), "log": (0.0,), "asin": (-1.0, 1.0)}
SWITCHES["acos"] = SWITCHES["asin"]

finite = st.floats(-1e300, 1e300)


def grid(name: str) -> tuple[np.ndarray, ...]:
    """Return every combination of awkward arguments, as columns."""
    arity = OPERATORS[name].arity
    return tuple(np.array(list(itertools.product(EDGES, repeat=arity))).T)


@pytest.mark.parametrize("floors", [FLOORS, PAPER])
@pytest.mark.parametrize("name", [name for name in OPERATORS if name != "pow"])
def test_every_operator_is_finite_on_finite_arguments(name: str, floors: Floors) -> None:
    arguments = grid(name)
    with np.errstate(all="ignore"):
        value = saturate(OPERATORS[name].value(arguments, floors), floors)
    assert np.isfinite(value).all()
    assert (np.abs(value) <= floors.saturation).all()


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_literal_powers_are_finite_on_finite_bases(exponent: float) -> None:
    base = np.array(EDGES)
    with np.errstate(all="ignore"):
        value = saturate(
            OPERATORS["pow"].value((base, np.full_like(base, exponent)), FLOORS), FLOORS
        )
    assert np.isfinite(value).all()


@given(st.floats(-50.0, 50.0), st.integers(-12, 12))
def test_integer_powers_are_exact_for_any_sign(base: float, n: int) -> None:
    value = OPERATORS["pow"].value((np.array([base]), np.array([float(n)])), FLOORS)[0]
    power = base ** abs(n)
    if n >= 0:
        assert value == pytest.approx(power, rel=1e-14)
    elif abs(power) > FLOORS.denominator:
        assert value == pytest.approx(1.0 / power, rel=1e-14)
    if n % 2 and base < 0:
        assert value <= 0


@given(finite, finite)
def test_division_keeps_the_sign_of_the_denominator(a: float, b: float) -> None:
    with np.errstate(all="ignore"):
        value = OPERATORS["div"].value((np.array([a]), np.array([b])), FLOORS)[0]
    if a and b and value:
        assert np.sign(value) == np.sign(a) * np.sign(b)
    if abs(b) >= FLOORS.denominator and abs(a) < 1e100 * abs(b):
        assert value == pytest.approx(a / b)


@pytest.mark.parametrize("name", [row.name for row in OPERATORS.values() if row.arity == 1])
def test_slopes_agree_with_differences(name: str) -> None:
    row = OPERATORS[name]
    x = np.concatenate([np.linspace(-3.0, 3.0, 41) + 0.013, [-40.0, 40.0]])
    h = 1e-6
    away = np.ones(len(x), dtype=bool)
    for switch in SWITCHES.get(name, ()):
        away &= np.abs(x - switch) > 1e-2
    value = row.value((x,), FLOORS)
    (slope,) = row.partials((x,), value, FLOORS)
    difference = (row.value((x + h,), FLOORS) - row.value((x - h,), FLOORS)) / (2 * h)
    scale = 1.0 + np.abs(slope) + np.abs(value)
    assert np.all((np.abs(slope - difference) < 1e-6 * scale)[away])


@pytest.mark.parametrize("name", [row.name for row in OPERATORS.values() if row.arity > 1])
def test_partial_derivatives_agree_with_differences(name: str) -> None:
    row = OPERATORS[name]
    rng = np.random.default_rng(1)
    exponents = (2.0, -3.0, 1.5) if name == "pow" else (0.0,)
    for exponent in exponents:
        arguments = [rng.uniform(0.4, 2.0, 50) for _ in range(row.arity)]
        if name == "pow":
            arguments[1] = np.full(50, exponent)
        value = row.value(tuple(arguments), FLOORS)
        partials = row.partials(tuple(arguments), value, FLOORS)
        # The literal exponent of a power is no variable.
        for slot in range(1 if name == "pow" else row.arity):
            steps = [1e-6 if index == slot else 0.0 for index in range(row.arity)]
            up = tuple(a + h for a, h in zip(arguments, steps, strict=True))
            down = tuple(a - h for a, h in zip(arguments, steps, strict=True))
            difference = (row.value(up, FLOORS) - row.value(down, FLOORS)) / 2e-6
            near = np.abs(arguments[0] - arguments[1]) < 1e-4
            assert np.all((np.abs(partials[slot] - difference) < 1e-6)[~near])


@pytest.mark.parametrize("name", list(OPERATORS))
def test_partial_derivatives_are_finite_where_values_are_moderate(name: str) -> None:
    row = OPERATORS[name]
    column = np.array([-2.0, -1.0, 0.0, 0.5, 1.0, 2.0])
    arguments = tuple(np.roll(column, shift) for shift in range(row.arity))
    if name == "pow":
        arguments = (column, np.full_like(column, -2.0))
    with np.errstate(all="ignore"):
        value = saturate(row.value(arguments, FLOORS), FLOORS)
        partials = row.partials(arguments, value, FLOORS)
    assert len(partials) == row.arity
    assert all(np.isfinite(partial).all() for partial in partials)


def test_larger_floors_bend_only_what_lies_below_them() -> None:
    x = np.array([1e-9, 1e-3, 0.5])
    tiny, paper = (OPERATORS["log"].value((x,), floors) for floors in (FLOORS, PAPER))
    assert tiny[0] == pytest.approx(np.log(1e-9))
    assert paper[0] == pytest.approx(np.log(1e-6))
    assert np.array_equal(tiny[1:], paper[1:])
    ones = np.ones(3)
    quotient = OPERATORS["div"].value((ones, -x), PAPER)
    assert quotient == pytest.approx(-1.0 / np.maximum(x, 1e-6))


def test_a_row_stays_one_object_when_copied_or_pickled() -> None:
    row = operator("mul")
    assert copy.deepcopy(row) is row
    assert pickle.loads(pickle.dumps(row)) is row  # noqa: S301 - our own bytes


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_integers_are_those_float64_holds_exactly(value: float) -> None:
    assert is_integer(value) == (value == int(value) and abs(value) < 2**53)


def test_every_template_has_one_place_for_each_argument() -> None:
    for row in OPERATORS.values():
        names = [f"<{index}>" for index in range(row.arity)]
        text = row.latex.format(*names)
        assert all(text.count(name) == 1 for name in names)
