import types

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from alder.export.python import to_python
from alder.expr.operators import Floors
from alder.records.law import Law
from export.laws import (
    assert_agrees,
    law_divided_by_a_root_of_zero,
    law_of_a_vanishing_power,
    random_law,
    random_rows,
)


def load(text: str) -> types.ModuleType:
    module = types.ModuleType("law")
    exec(compile(text, "law.py", "exec"), module.__dict__)  # noqa: S102 - the text we just wrote
    return module


def call(law: Law, function: types.FunctionType, rows: dict[str, np.ndarray]) -> np.ndarray:
    columns = [rows[variable.name] for variable in law.variables]
    n_rows = len(next(iter(rows.values())))
    return np.array([function(*(float(c[i]) for c in columns)) for i in range(n_rows)])


@given(st.integers(0, 2**32), st.integers(1, 31))
@settings(max_examples=150, deadline=None)
def test_the_python_function_agrees_with_evaluate(seed: int, n_nodes: int) -> None:
    rng = np.random.default_rng(seed)
    law, rows = random_law(rng, n_nodes), random_rows(rng, 10)
    assert_agrees(law, rows, call(law, load(to_python(law)).law, rows))


@given(st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_the_python_function_keeps_the_floors_of_the_grammar(seed: int) -> None:
    rng = np.random.default_rng(seed)
    floors = Floors(denominator=1e-3, base=1e-3, exponent=20.0, saturation=1e4)
    law, rows = random_law(rng, 15, floors), random_rows(rng, 10)
    assert_agrees(law, rows, call(law, load(to_python(law)).law, rows))


@given(st.integers(0, 2**32))
@settings(max_examples=30, deadline=None)
def test_the_python_guard_agrees_with_in_scope(seed: int) -> None:
    rng = np.random.default_rng(seed)
    law, rows = random_law(rng, 9), random_rows(rng, 20)
    guard = call(law, load(to_python(law)).law_in_scope, rows)
    assert guard.tolist() == law.in_scope(rows).tolist()


def test_a_power_that_vanishes_in_evaluate_vanishes_in_python() -> None:
    law, rows = law_of_a_vanishing_power(), random_rows(np.random.default_rng(0), 10)
    assert assert_agrees(law, rows, call(law, load(to_python(law)).law, rows)) == 10


def test_the_root_of_minus_zero_is_zero_without_a_sign() -> None:
    law, rows = law_divided_by_a_root_of_zero(), random_rows(np.random.default_rng(0), 10)
    assert assert_agrees(law, rows, call(law, load(to_python(law)).law, rows)) == 10
    assert (law.predict(rows) > 0.0).all()


def test_the_python_function_is_finite_at_the_ends_of_floats() -> None:
    rng = np.random.default_rng(5)
    ends = np.array([0.0, -0.0, 5e-324, -5e-324, 1.7e308, -1.7e308])
    for _ in range(200):
        law = random_law(rng, 15)
        rows = {variable.name: rng.permutation(ends) for variable in law.variables} or {"r": ends}
        assert np.isfinite(call(law, load(to_python(law)).law, rows)).all()
