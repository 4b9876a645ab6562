"""Hypothesis strategies shared by the tests; built natively so that failures shrink."""

from collections.abc import Sequence

from hypothesis import strategies as st

from alder.expr.nodes import Apply, Const, Expr, Param, Var
from alder.expr.operators import OPERATORS
from alder.expr.sample import EXPONENTS

VARIABLES = ("x", "y", "r")
PARAMETERS = ("k", "c", "p0", "x")  # a parameter may share its name with a variable
# Names no identifier could be, and names of functions.
ODD_NAMES = ("flow rate", "a`b", "m[0]", "exp", "γ", "x²", "−", "2nd", "@", "E", "(", "\n")

NUMBERS = st.one_of(
    st.integers(-9, 9).map(float),
    st.floats(-1e3, 1e3, allow_subnormal=False),
    st.floats(allow_nan=False, allow_infinity=False),
)
TAME_NUMBERS = st.sampled_from([-3.0, -1.5, -1.0, -0.25, 0.1, 0.5, 1.0, 2.0, 7.0])


def exprs(
    variables: Sequence[str] = VARIABLES,
    parameters: Sequence[str] = PARAMETERS,
    operators: Sequence[str] = tuple(OPERATORS),
    *,
    numbers: st.SearchStrategy[float] = NUMBERS,
    max_leaves: int = 16,
) -> st.SearchStrategy[Expr]:
    """Draw well-formed trees over the given operators and names."""
    leaves = [numbers.map(Const)]
    leaves += [st.sampled_from(variables).map(Var)] if variables else []
    leaves += [st.sampled_from(parameters).map(Param)] if parameters else []
    usable = [name for name in operators if name != "powp" or parameters]

    def grow(children: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
        return st.one_of([_application(name, children, parameters, numbers) for name in usable])

    return st.recursive(st.one_of(leaves), grow, max_leaves=max_leaves)


def _application(
    name: str,
    children: st.SearchStrategy[Expr],
    parameters: Sequence[str],
    numbers: st.SearchStrategy[float],
) -> st.SearchStrategy[Expr]:
    operator = OPERATORS[name]
    exponents = st.one_of(st.sampled_from(EXPONENTS), numbers).map(Const)
    last: dict[str, st.SearchStrategy[Expr]] = {
        "pow": exponents,
        "powp": st.sampled_from(parameters or ("p",)).map(Param),
    }
    slots = [children] * (operator.arity - 1) + [last.get(name, children)]
    return st.tuples(*slots).map(lambda arguments: Apply(operator, arguments))
