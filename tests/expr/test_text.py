import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import ODD_NAMES, PARAMETERS, VARIABLES, exprs

from alder.errors import MalformedLaw
from alder.expr.evaluate import evaluate
from alder.expr.json import MAX_DEPTH
from alder.expr.nodes import Apply, Const, Expr, Param, Var, depth, variables
from alder.expr.operators import OPERATORS
from alder.expr.text import parse, to_display, to_text
from alder.expr.tokens import MAX_LENGTH

NAMES = ("r", "v", "m1", "m2", "x", "y")
SIGNS = [*"+-*/^()=,@`.eE0123456789 xk²[−·×", "**", "sin(", "max("]


def apply(name: str, *arguments: Expr) -> Expr:
    return Apply(OPERATORS[name], arguments)


X, Y, P = Var("x"), Var("y"), Param("p")


@given(exprs())
def test_text_round_trips(expr: Expr) -> None:
    assert parse(to_text(expr, VARIABLES), VARIABLES) == expr


@given(exprs(variables=VARIABLES + ODD_NAMES, parameters=PARAMETERS + ODD_NAMES))
def test_odd_names_round_trip(expr: Expr) -> None:
    names = VARIABLES + ODD_NAMES
    assert parse(to_text(expr, names), names) == expr


@given(exprs(variables=("x",), parameters=("x", "k")))
def test_a_parameter_named_like_a_variable_of_the_law_is_marked_without_declaring_it(
    expr: Expr,
) -> None:
    assert parse(to_text(expr), variables(expr)) == expr


@pytest.mark.parametrize(
    ("text", "expr"),
    [
        ("-2", Const(-2.0)),
        ("-x", apply("neg", X)),
        ("-2^2", apply("neg", apply("pow", Const(2.0), Const(2.0)))),
        ("-x^2", apply("neg", apply("pow", X, Const(2.0)))),
        ("(-2)^2", apply("pow", Const(-2.0), Const(2.0))),
        ("-x*y", apply("mul", apply("neg", X), Y)),
        ("x - y - x", apply("sub", apply("sub", X, Y), X)),
        ("x/y*x", apply("mul", apply("div", X, Y), X)),
        ("x^-1.5", apply("pow", X, Const(-1.5))),
        ("x**(3/2)", apply("pow", X, Const(1.5))),
        ("x^2^3", apply("pow", X, Const(8.0))),
        ("x^p", apply("powp", X, P)),
        ("x^-p", apply("div", Const(1.0), apply("powp", X, P))),
        ("x^(-p)", apply("div", Const(1.0), apply("powp", X, P))),
        ("pow(x, 2)", apply("pow", X, Const(2.0))),
        ("powp(x, p)", apply("powp", X, P)),
        ("ln(x) + arcsin(y)", apply("add", apply("log", X), apply("asin", Y))),
        ("sigmoid(x)", apply("gate", X)),
        ("max(x, y, p)", apply("max", apply("max", X, Y), P)),
        ("x − y·p × 2", apply("sub", X, apply("mul", apply("mul", Y, P), Const(2.0)))),
        ("+x + +2", apply("add", X, Const(2.0))),
        (".5e1*1.", apply("mul", Const(5.0), Const(1.0))),
        ("@x*x", apply("mul", Param("x"), X)),
        ("exp(exp)", apply("exp", Param("exp"))),
        ("sin (x)", apply("sin", X)),
        ("`flow ``rate`", Param("flow `rate")),
    ],
)
def test_a_law_means_what_mathematics_says(text: str, expr: Expr) -> None:
    assert parse(text, NAMES) == expr


def test_names_of_functions_and_of_constants_are_legal_variables() -> None:
    names = ("exp", "k", "c", "T", "E", "gamma")
    law = parse("exp(exp) + k*c - T/E + gamma", names)
    assert evaluate(law, {name: [1.0] for name in names}, {})[0] == pytest.approx(2.718281828 + 1.0)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("k*(r^(-1.5))*m2/(m1+m2)-(c*v)", "k*r^-1.5*m2/(m1 + m2) - c*v"),
        ("x + (y + x)", "x + (y + x)"),
        ("x - (-2)", "x - (-2)"),
        ("-(2)", "-(2)"),
        ("((x))*(1e-7)", "x*1e-07"),
        ("2.0*x", "2*x"),
        ("(x^2)^3", "(x^2)^3"),
    ],
)
def test_brackets_are_only_where_they_are_needed(text: str, shown: str) -> None:
    assert to_text(parse(text, NAMES)) == shown


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("k*r^", "The law `k*r^` ends where an exponent was expected (column 5)."),
        ("", "is empty"),
        ("y = k*x", "only the right-hand side of the law is expected (column 3)"),
        ("2x", "multiplication is always written with *, as in 2*x (column 2)"),
        ("k x", "multiplication is always written with *"),
        ("(x)(y)", "multiplication is always written with *"),
        ("k(x+1)", "calls `k`, which is not a function; to multiply, write * (column 1)"),
        ("sinn(x)", "did you mean `sin`?"),
        ("x^y", "write exp(y*log(x)) for x^y (column 2)"),
        ("x^(2*p)", "neither a number nor a parameter"),
        ("sin(x, y)", "gives `sin` 2 argument(s) where it takes 1"),
        ("max(x)", "gives `max` 1 argument(s) where it takes 2"),
        ("sin()", "has `)` where an argument was expected (column 5)"),
        ("(x", "has a bracket that is never closed (column 1)"),
        ("x)", "closes a bracket that was never opened (column 2)"),
        ("x, y", "has a comma outside the arguments of a function (column 2)"),
        ("x + * y", "has `*` where a term was expected (column 5)"),
        ("1e999", "has a number that float64 cannot hold"),
        ("`x", "opens a backquote that is never closed"),
        ("``*x", "has an empty name"),
        ("@ x", "not followed by the name of a parameter"),
        ("x²", "write a power with ^"),
        ("[x]", "use round brackets"),
        ("x + \x00", "U+0000"),
    ],
)
def test_a_mistake_is_told_in_one_sentence_with_its_column(text: str, sentence: str) -> None:
    with pytest.raises(MalformedLaw) as caught:
        parse(text, NAMES)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


@given(st.one_of(st.text(), st.lists(st.sampled_from(SIGNS)).map("".join)))
@example("x" * (MAX_LENGTH + 1))
@example("(" * 60_000)
@example("-" * 60_000 + "x")
@example("sin(" * 10_000)
@example("x" + "^x" * 10_000)
@example("x" + "^2" * 10_000)
@example("x" + "+x" * 30_000)
@example("1" * 60_000)
@example("x^(" + "1/" * 50 + "0)")
@example("0^(9^999)^9")
def test_any_text_is_a_law_or_malformed(text: str) -> None:
    try:
        law = parse(text, VARIABLES)
    except MalformedLaw:
        return
    assert parse(to_text(law, VARIABLES), VARIABLES) == law


def test_the_deepest_tree_round_trips() -> None:
    deep: Expr = X
    while depth(deep) < MAX_DEPTH:
        deep = apply("add", Const(-1.0), apply("neg", deep)) if depth(deep) + 1 < MAX_DEPTH else (
            apply("neg", deep)
        )  # fmt: skip
    assert parse(to_text(deep), ("x",)) == deep
    with pytest.raises(MalformedLaw, match="levels deep"):
        parse(f"sin({to_text(deep)})", ("x",))


def test_a_law_is_displayed_with_its_coefficients_rounded() -> None:
    law = parse("k*r^p - c*v + d", NAMES)
    coefficients = {"k": 1.234567, "p": -1.50001, "c": -2.0, "d": -1e-9}
    assert to_display(law, coefficients) == "1.235*r^-1.5 + 2*v - 1e-09"
