import types

import numpy as np
import pytest

from alder.export.jax import to_jax
from alder.expr.operators import OPERATORS
from alder.expr.text import parse
from export.laws import (
    NAMES,
    assert_agrees,
    law_divided_by_a_root_of_zero,
    law_of,
    law_of_a_vanishing_power,
    random_law,
    random_rows,
)

jax = pytest.importorskip("jax")


def load(text: str) -> types.ModuleType:
    module = types.ModuleType("law_jax")
    exec(compile(text, "law_jax.py", "exec"), module.__dict__)  # noqa: S102 - the text we just wrote
    return module


def test_the_jax_function_agrees_with_evaluate() -> None:
    rng = np.random.default_rng(3)
    with jax.enable_x64(True):
        laws = [random_law(rng, n_nodes) for n_nodes in (5, 9, 15, 21, 31)]
        for law in (*laws, law_of_a_vanishing_power(), law_divided_by_a_root_of_zero()):
            rows = random_rows(rng, 20)
            columns = [rows[variable.name] for variable in law.variables]
            module = load(to_jax(law))
            got = np.broadcast_to(np.asarray(jax.jit(module.law)(*columns)), 20)
            assert_agrees(law, rows, got)
            guard = np.broadcast_to(np.asarray(module.law_in_scope(*columns)), 20)
            assert guard.tolist() == law.in_scope(rows).tolist()


@pytest.mark.parametrize("name", OPERATORS)
def test_every_operator_agrees_with_evaluate_without_jit(name: str) -> None:
    operands = {1: "r", 2: "r, θ", 3: "r, θ, k"}[OPERATORS[name].arity]
    infix = {"add": "r+θ", "sub": "r-θ", "mul": "r*θ", "div": "r/θ", "neg": "-r"}
    text = infix.get(name, {"pow": "r^-3 + θ^0.5", "powp": "r^k"}.get(name, f"{name}({operands})"))
    law = law_of(parse(text, NAMES), {"k": -1.7})
    rows = random_rows(np.random.default_rng(4), 30)
    with jax.enable_x64(True):
        got = load(to_jax(law)).law(*(rows[variable.name] for variable in law.variables))
        assert_agrees(law, rows, np.asarray(got))


def test_the_jax_function_is_total_in_32_bits() -> None:
    law = law_of(parse("k/r + exp(1/θ) + log(r) + r^-2", NAMES), {"k": 1.0})
    value = load(to_jax(law)).law(np.zeros(3), np.array([0.0, 1e-30, -1.0]))
    assert np.isfinite(np.asarray(value)).all()


def test_gradients_are_finite_where_a_root_is_cut_off() -> None:
    law = law_of(parse("sqrt(r) * k", NAMES), {"k": 2.0})
    slope = jax.grad(load(to_jax(law)).law)
    assert float(slope(-1.0)) == 0.0
    assert float(slope(4.0)) == pytest.approx(0.5)
