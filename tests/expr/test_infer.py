import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import TAME_NUMBERS, exprs

from alder.expr.composition import misnested, misplaced_angles, misplaced_indicators
from alder.expr.infer import Inference, UnitMode, infer_units, pointer
from alder.expr.nodes import Apply, Const, Expr, Param, Var
from alder.expr.text import parse
from alder.units import PURE, Unit, format_unit, parse_unit

UNITS = {
    "r": parse_unit("m"),
    "d": parse_unit("cm"),
    "v": parse_unit("m/s"),
    "t": parse_unit("s"),
    "theta": parse_unit("deg"),
    "n": PURE,
    "x": None,
}
NAMES = tuple(UNITS)


def infer(text: str, target: str | None = None, mode: UnitMode = "absorb") -> Inference:
    unit = None if target is None else parse_unit(target)
    return infer_units(parse(text, NAMES), UNITS, unit, mode=mode)


def said(text: str, target: str | None = None, mode: UnitMode = "absorb") -> list[str]:
    return [problem.message for problem in infer(text, target, mode).problems]


PARAMETERS = ("k", "c", "p")
TREES = exprs(NAMES, PARAMETERS)
TAME_TREES = exprs(("r", "v", "t", "n", "x"), PARAMETERS, numbers=TAME_NUMBERS)


def test_parameters_get_the_unit_that_makes_the_law_fit() -> None:
    inference = infer("k*r^-1.5 - c*v", "m/s^2")
    written = {name: format_unit(unit) for name, unit in inference.parameters.items()}
    assert not inference.problems
    assert written == {"k": "m^2.5/s^2", "c": "1/s"}


def test_a_parameter_has_one_unit_throughout() -> None:
    assert said("exp(k*r)*(k + r)") == ["`add` adds m to 1/m (`k` is in 1/m by its other uses)."]
    assert said("k*r + k*v") == ["`add` adds m/s times the unit of `k` to m times the unit of `k`."]


def test_shared_parameters_are_solved_jointly() -> None:
    inference = infer("k*c*r + k*v/c", "m/s")
    assert not inference.problems
    assert inference.parameters["c"] == parse_unit("s^-0.5")
    assert inference.parameters["k"] == parse_unit("s^-0.5")


def test_a_parameter_known_only_in_a_product_has_no_unit() -> None:
    assert infer("k*c*r", "m/s").parameters == {}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("r + v", "`add` adds m/s to m."),
        ("v - r", "`sub` subtracts m from m/s."),
        ("r + d", "`add` adds cm to m: same dimension, different scale (factor 100)."),
        ("r + 1", "`add` adds a pure number to m."),
        ("max(r, t)", "`max` compares m with s."),
        ("where(x, r, t)", "`where` chooses between m and s."),
        ("exp(r)", "`exp` takes a pure number, but its argument is in m."),
        (
            "sin(theta)",
            "`sin` takes an angle in rad, but its argument is in deg: same dimension, "
            "different scale (factor 57.3).",
        ),
    ],
)
def test_a_contradiction_names_both_units(text: str, sentence: str) -> None:
    assert said(text) == [sentence]


def test_a_law_in_another_unit_than_its_target_is_wrong() -> None:
    assert said("r", "m/s") == ["The law is in m; its target is in m/s."]


@pytest.mark.parametrize(
    "text",
    ["r + 0", "max(v, 0)", "sin(k*theta)", "x + r", "x*x + exp(x) + v*x", "sign(r)*n", "k + r",
     "where(r, n, 2)", "sqrt(r*r) + abs(r)", "k*r^p", "(r/d)^2*k", "-r + r"],
)  # fmt: skip
def test_what_fits_is_no_problem(text: str) -> None:
    assert said(text) == []


def test_strict_parameters_are_pure_numbers() -> None:
    assert said("k*r", "m/s", "strict") == ["The law is in m; its target is in m/s."]
    assert said("k*r", "m", "strict") == []
    assert infer("k*r", "m", "strict").parameters == {"k": PURE}


def test_a_parameter_exponent_is_pure_and_its_power_unknown() -> None:
    assert infer("k*r^p", "m").parameters == {"p": PURE}
    assert len(said("r^p + k + exp(p*v)")) == 1


def test_a_parameter_power_of_a_pure_number_is_pure() -> None:
    assert said("r + n^p") == ["`add` adds a pure number to m."]
    assert len(said("(k*r)^p + r*exp(k*r)")) == 1


def test_one_mistake_is_told_once() -> None:
    assert len(said("(r + v)*(r + v)*n + r", "m")) == 2


def test_the_place_of_a_mistake_is_its_node() -> None:
    (problem,) = infer("n*exp(k*r + r)").problems
    assert pointer(problem.path) == "/args/1"


@given(TREES, st.sampled_from(("absorb", "strict")))
def test_any_tree_is_inferred(tree: Expr, mode: UnitMode) -> None:
    for problem in infer_units(tree, UNITS, parse_unit("m/s^2"), mode=mode).problems:
        assert problem.message.endswith(".")


@given(TREES)
def test_without_units_nothing_is_wrong(tree: Expr) -> None:
    assert not infer_units(tree, {}, None).problems


def _rescaled(unit: Unit | None, factors: tuple[float, float]) -> Unit | None:
    """Measure the same quantity in a system whose metre and second are other ones."""
    if unit is None:
        return None
    metre, second = factors
    scale = unit.scale * metre ** unit.exponents[0] * second ** unit.exponents[2]
    return Unit(unit.exponents, scale, unit.is_angle)


@given(
    TAME_TREES,
    st.tuples(st.sampled_from((1e3, 1e-2, 0.3048)), st.sampled_from((60.0, 1e-3))),
    st.sampled_from(("absorb", "strict")),
)
def test_a_change_of_units_changes_no_verdict(
    tree: Expr, factors: tuple[float, float], mode: UnitMode
) -> None:
    target = parse_unit("m/s^2")
    before = infer_units(tree, UNITS, target, mode=mode)
    units = {name: _rescaled(unit, factors) for name, unit in UNITS.items()}
    after = infer_units(tree, units, _rescaled(target, factors), mode=mode)
    assert [p.path for p in before.problems] == [p.path for p in after.problems]
    assert {n: u.exponents for n, u in before.parameters.items()} == {
        n: u.exponents for n, u in after.parameters.items()
    }


@given(TAME_TREES)
def test_the_units_found_make_the_law_strictly_consistent(tree: Expr) -> None:
    """Measured parameters are variables: with the units found for them nothing is wrong."""
    found = infer_units(tree, UNITS, None)
    if not found.problems:
        units = {**UNITS, **found.parameters}
        again = infer_units(_parameters_as_variables(tree), units, None)
        assert not again.problems


def _parameters_as_variables(tree: Expr) -> Expr:
    match tree:
        case Param(name):
            return Var(name)
        case Apply(operator, (base, Param(name))) if operator.name == "powp":
            return Apply(operator, (_parameters_as_variables(base), Param(name)))
        case Apply(operator, arguments):
            return Apply(operator, tuple(map(_parameters_as_variables, arguments)))
        case Const() | Var():
            return tree


ANGLES = {"theta", "phi"}


def stray(text: str, *, may_be_angle: bool = False) -> list[str]:
    tree = parse(text, ["theta", "phi", "r"])
    return [pointer(m.path) for m in misplaced_angles(tree, ANGLES, may_be_angle=may_be_angle)]


@pytest.mark.parametrize(
    "text", ["sin(theta)", "k*cos(2*theta - phi/3)", "sin(k*r*theta + w)", "r", "cos(-theta)"]
)
def test_sums_and_multiples_of_angles_stand_under_trigonometry(text: str) -> None:
    assert stray(text) == []


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("k*theta", "/args/1"),
        ("exp(theta)", "/args/0"),
        ("sin(theta^2)", "/args/0/args/0"),
        ("sin(r/theta)", "/args/0/args/1"),
        ("sin(theta) + phi", "/args/1"),
    ],
)
def test_angles_elsewhere_are_found(text: str, place: str) -> None:
    assert stray(text) == [place]


def test_a_product_of_angles_is_no_angle() -> None:
    assert stray("sin(theta*phi)") == ["/args/0/args/0", "/args/0/args/1"]


def test_a_law_for_an_angle_may_be_one() -> None:
    assert stray("theta + k*r", may_be_angle=True) == []


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("k*on", []),
        ("-on*r", []),
        ("on/r", []),
        ("gate(k*(on - 0.5))", []),
        ("where(on - 0.5, r, 2)", []),
        ("on", [""]),
        ("r + on", ["/args/1"]),
        ("r/on", ["/args/1"]),
        ("where(r, on, 2)", ["/args/1"]),
        ("exp(on)*r", ["/args/0/args/0"]),
    ],
)
def test_indicators_stand_only_as_factors_gates_and_conditions(
    text: str, places: list[str]
) -> None:
    tree = parse(text, ["on", "r"])
    assert [pointer(m.path) for m in misplaced_indicators(tree, {"on"})] == places


def test_nesting_counts_anywhere_below() -> None:
    tree = parse("exp(k*sin(exp(r)) + exp(r))", ["r"])
    assert [m.path for m in misnested(tree, outer="exp", inner="exp", at_most=1)] == [()]
    assert not list(misnested(tree, outer="exp", inner="exp", at_most=2))
    assert [m.path for m in misnested(tree, outer="sin", inner="exp", at_most=0)] == [(0, 0, 1)]
