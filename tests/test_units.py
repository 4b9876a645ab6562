import math
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from alder.errors import BadUnit
from alder.units import PURE, Unit, _from_pint, _registry, _symbol, format_unit, parse_unit

SYMBOLS = ("m", "kg", "s", "A", "K", "mol", "N", "J", "Pa", "V", "km", "mm", "us", "h", "g", "L")
powers = st.sampled_from((-3.0, -2.0, -1.0, -0.5, 0.5, 1.0, 1.5, 2.0, 1 / 3))


@st.composite
def units(draw: st.DrawFn) -> Unit:
    unit = PURE
    for name in draw(st.lists(st.sampled_from(SYMBOLS), max_size=4)):
        unit = unit * parse_unit(name) ** draw(powers)
    return unit


@st.composite
def unit_texts(draw: st.DrawFn) -> str:
    terms = draw(
        st.lists(
            st.tuples(st.sampled_from(SYMBOLS), st.sampled_from((-3, -2, -1, 1, 2, 3))),
            min_size=1,
            max_size=4,
        )
    )
    text = ""
    for i, (name, power) in enumerate(terms):
        join = draw(st.sampled_from(("*", "/", " ", " * "))) if i else ""
        text += f"{join}{name}" + (f"^{power}" if power != 1 else "")
    return text


@given(units())
def test_a_written_unit_reads_back(unit: Unit) -> None:
    assert parse_unit(format_unit(unit)) == unit


@given(unit_texts())
def test_pint_reads_a_unit_the_same(text: str) -> None:
    registry: Any = _registry()
    expected = registry.Quantity(1.0, registry.parse_units(text)).to_base_units()
    unit = parse_unit(text)
    assert math.isclose(unit.scale, expected.magnitude, rel_tol=1e-9)
    names = ("meter", "kilogram", "second", "ampere", "kelvin", "mole", "candela")
    parts = dict(expected.units._units)
    assert unit.exponents == tuple(float(parts.get(name, 0.0)) for name in names)


@pytest.mark.parametrize("prefix", ["", "k", "M", "G", "m", "u", "µ", "n", "c", "d", "h", "da"])
@pytest.mark.parametrize(
    "symbol",
    ["m", "g", "s", "A", "K", "mol", "N", "J", "W", "Pa", "Hz", "C", "V", "ohm", "F", "T", "Wb",
     "H", "L", "l", "eV", "rad"],
)  # fmt: skip
def test_the_own_table_agrees_with_pint(prefix: str, symbol: str) -> None:
    own, other = _symbol(prefix + symbol), _from_pint(prefix + symbol)
    assert own == other
    assert own is not None
    assert own.is_angle == other.is_angle


@pytest.mark.parametrize("name", ["min", "h", "day", "deg", "°", "%", "°C", "degC"])
def test_names_without_prefix_agree_with_pint(name: str) -> None:
    assert _symbol(name) == _from_pint(name)


@given(units(), units(), units())
def test_multiplication_is_associative_and_commutative(a: Unit, b: Unit, c: Unit) -> None:
    assert (a * b) * c == a * (b * c)
    assert a * b == b * a


@given(units(), units())
def test_division_undoes_multiplication(a: Unit, b: Unit) -> None:
    assert a * b / b == a


@given(units())
def test_equal_units_have_equal_hashes(unit: Unit) -> None:
    assert hash((unit**3.0) ** (1 / 3)) == hash(unit)
    assert (unit**3.0) ** (1 / 3) == unit


@given(st.text(max_size=30))
@example("m^9999999")
@example("(" * 100)
@example("9**9**9")
def test_any_text_is_a_unit_or_a_bad_unit(text: str) -> None:
    try:
        said = format_unit(parse_unit(text))
    except BadUnit as error:
        said = str(error)
    assert said.isprintable()


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("m/s^2", "m/s^2"),
        ("m s^-2", "m/s^2"),
        ("m·s⁻²", "m/s^2"),
        ("meter per second", "m/s"),
        ("kg*m/s**2", "N"),
        ("kg m^2/s^2", "J"),
        ("°C", "K"),
        ("km", "km"),
        ("km/h", "km/h"),
        ("g/cm^3", "g/cm^3"),
        ("1e3*kg*m^2.5", "1000*kg*m^2.5"),
        ("rpm", "0.10471975512/s"),
        ("m^(1/3)", "m^(1/3)"),
        ("W/(m^2 K)", "kg/(s^3*K)"),
        ("", "1"),
        ("1", "1"),
        ("%", "%"),
        ("rad", "rad"),
        ("deg", "deg"),
        ("1/s", "1/s"),
    ],
)
def test_units_are_written_as_people_write_them(text: str, written: str) -> None:
    assert format_unit(parse_unit(text)) == written


def test_an_angle_equals_a_pure_number_and_remembers_that_it_is_one() -> None:
    assert parse_unit("rad") == PURE
    assert parse_unit("rad").is_angle
    assert (parse_unit("deg") * Unit(scale=2.0)).is_angle
    assert not (parse_unit("rad") / parse_unit("rad")).is_angle
    assert not (parse_unit("rad") * parse_unit("m")).is_angle


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("meterr", "Did you mean `meter`?"),
        ("Kg", "Did you mean `kg`?"),
        ("W/m2", "Write m^2"),
        ("dB", "logarithmic"),
        ("m^1/2", "may only stand first"),
        ("m+s", "Cannot read"),
        ("(m", "`)` is missing"),
        ("m/", "ends too early"),
        ("m^x", "exponent must be a number"),
        ("m^(1/0)", "finite"),
        ("m^(1", "`)` is missing"),
        ("m)", "left over"),
        ("pixel", "no combination of SI"),
        ("m" * 300, "at most 200"),
    ],
)
def test_a_bad_unit_says_what_to_do(text: str, said: str) -> None:
    with pytest.raises(BadUnit) as caught:
        parse_unit(text)
    assert said in str(caught.value)
