import importlib.util
import json
import sys
from hashlib import sha256
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from strategies import ODD_NAMES, PARAMETERS, TAME_NUMBERS, VARIABLES, exprs

from alder.expr.canonical import (
    canonical,
    complexity,
    digest,
    rename,
    skeleton,
    skeleton_digest,
)
from alder.expr.edits import at, positions
from alder.expr.evaluate import evaluate, rounding_bound
from alder.expr.fingerprint import fingerprint
from alder.expr.json import to_json
from alder.expr.nodes import Expr, parameters, size
from alder.expr.text import parse

NAMES = ("x", "y", "z", "r")


def _benchmark() -> ModuleType:
    path = Path(__file__).parents[2] / "benchmarks" / "canonical.py"
    spec = importlib.util.spec_from_file_location("benchmark_of_canonical", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


BENCHMARK = _benchmark()


@given(exprs())
def test_the_normal_form_of_a_normal_form_is_itself(expr: Expr) -> None:
    normal = canonical(expr)
    assert canonical(normal) == normal


@given(exprs(parameters=PARAMETERS + ODD_NAMES))
def test_the_digest_is_that_of_the_canonical_json(expr: Expr) -> None:
    text = json.dumps(to_json(canonical(expr)), separators=(",", ":"))
    assert digest(expr) == sha256(text.encode()).hexdigest()


@given(exprs(parameters=PARAMETERS + ODD_NAMES))
def test_complexity_is_the_size_of_the_normal_form(expr: Expr) -> None:
    assert complexity(expr) == size(canonical(expr))


def _tame(expr: Expr, columns: dict[str, list[float]], values: dict[str, float]) -> np.ndarray:
    """Mark the rows on which no part is near a floor, an overflow or a cancellation."""
    rows = np.ones(len(columns["x"]), dtype=bool)
    for position in positions(expr):
        part = at(expr, position)
        assert part is not None
        magnitude = np.abs(evaluate(part, columns, values))
        rows &= (magnitude > 1e-6) & (magnitude < 1e6) | (magnitude == 0.0)
    return rows


@given(exprs(parameters=("k", "c"), operators=BENCHMARK.SMOOTH, numbers=TAME_NUMBERS))
def test_the_normal_form_has_the_same_values(expr: Expr) -> None:
    columns = {"x": [0.7, -1.3, 2.1], "y": [1.9, 0.4, -0.6], "r": [0.3, 1.1, -2.7]}
    values = {"k": 1.7, "c": -0.9}
    normal = canonical(expr)
    # A zero that cancellation misses by a rounding error is no tame row of the other form.
    rows = _tame(expr, columns, values) & _tame(normal, columns, values)
    gap = np.abs(evaluate(expr, columns, values) - evaluate(normal, columns, values))
    bound = rounding_bound(expr, columns, values) + rounding_bound(normal, columns, values)
    assert np.all((gap <= 1e-11 * bound + 1e-300)[rows])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x + y", "y + x"),
        ("x*y*z", "z*(y*x)"),
        ("a - b", "a + (-1)*b"),
        ("x - (y - z)", "x - y + z"),
        ("-(x - y)", "y - x"),
        ("k*(x - y)", "-k*(y - x)"),
        ("(x - y)^2", "(y - x)^2"),
        ("x/y", "x*y^-1"),
        ("x/y/z", "x/(y*z)"),
        ("x/(y/z)", "x*z/y"),
        ("k/r^1.5", "k*r^-1.5"),
        ("x*x", "x^2"),
        ("x*x*x/x", "x^2"),
        ("max(x, 0)^2/max(x, 0)", "max(x, 0)"),
        ("max(x, 0)^2/max(x, 0)^2", "max(x, 0)/max(x, 0)"),
        ("x + x", "2*x"),
        ("x - x", "0"),
        ("--x", "x"),
        ("x + 0", "x"),
        ("1*x", "x"),
        ("0*x", "0"),
        ("x^1", "x"),
        ("x^0", "1"),
        ("(x^2)^3", "x^6"),
        ("(x*y)^2", "x^2*y^2"),
        ("(2*x)^2", "4*x^2"),
        ("x^0.5*x^0.25", "x^0.75"),
        ("x*0.1*3", "3*(x*0.1)"),
        ("(x + 0.1) + 0.2", "x + (0.2 + 0.1)"),
        ("x*3/7", "3*(x/7)"),
        ("exp(2 - 1)", "exp(1)"),
        ("max(x, max(y, x))", "max(y, x)"),
        ("max(1, x, 3)", "max(x, 3)"),
        ("where(1, x, y)", "x"),
        ("where(x, y, y)", "y"),
        ("1/x^p", "x^-p"),
        ("log(0)", "log(-1)"),
    ],
)
def test_equal_laws_have_one_digest(one: str, other: str) -> None:
    assert digest(parse(one, NAMES)) == digest(parse(other, NAMES))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x^0.5*x^0.5", "x"),
        ("(x^0.5)^2", "x"),
        ("(x^2)^0.5", "x"),
        ("sqrt(x)", "x^0.5"),
        ("sqrt(x)/sqrt(x)", "1"),
        ("max(x, 0)/max(x, 0)", "1"),
        ("(abs(x) - x)/(abs(x) - x)", "1"),
        ("max(x, 0)/max(x, 0)^2", "1/max(x, 0)"),
        ("sqrt(x^2)", "x"),
        ("x*x^0.5", "x^1.5"),
        ("x^p", "x^q"),
        ("k*x", "@x*x"),
        ("log(x^2)", "2*log(x)"),
        ("x - y", "y - x"),
        ("max(x, y)", "min(x, y)"),
        ("where(x, y, z)", "where(x, z, y)"),
        ("x^3", "x^2"),
        ("(x - y)^3", "(y - x)^3"),
        ("x + 1e-9", "x"),
    ],
)
def test_different_laws_have_different_digests(one: str, other: str) -> None:
    assert digest(parse(one, NAMES)) != digest(parse(other, NAMES))


@given(exprs())
def test_a_skeleton_keeps_the_law_up_to_the_names_of_parameters(expr: Expr) -> None:
    normal = canonical(expr)
    bare = skeleton(expr)
    assert len(parameters(bare)) == len(parameters(normal))
    assert size(bare) == size(normal)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a*x + b*y", "b*x + a*y"),
        ("a*x + b", "c + k*x"),
        ("(a*x - b*y)*z", "(b*x - a*y)*z"),
        ("a*x^b + c*exp(-a*y)", "u*x^v + w*exp(-u*y)"),
        ("a*x + b*y + exp(a*z)", "b*x + a*y + exp(b*z)"),
    ],
)
def test_a_skeleton_does_not_depend_on_the_names_of_parameters(one: str, other: str) -> None:
    assert skeleton_digest(parse(one, NAMES)) == skeleton_digest(parse(other, NAMES))


@pytest.mark.parametrize(
    ("one", "other"),
    [("a*x + b*y", "a*x + a*y"), ("a*x + b", "a*x + a"), ("a*x*exp(b*y)", "a*x*exp(a*y)")],
)
def test_a_shared_parameter_is_another_skeleton(one: str, other: str) -> None:
    assert skeleton_digest(parse(one, NAMES)) != skeleton_digest(parse(other, NAMES))


def test_random_laws_seldom_have_two_skeletons_after_renaming() -> None:
    rng = np.random.default_rng(3)
    names = [f"p{i}" for i in range(6)]
    missed = 0
    for _ in range(200):
        law = BENCHMARK.random_tree(rng, 21, VARIABLES)
        renamed = rename(law, dict(zip(names, rng.permutation(names).tolist(), strict=True)))
        missed += skeleton_digest(law) != skeleton_digest(renamed)
    assert missed <= 2


def test_rewriting_never_changes_the_digest_and_no_two_laws_share_one_by_mistake() -> None:
    counts = BENCHMARK.measure(400, seed=11)
    assert counts.digest_misses == 0
    assert counts.digest_false_merges == 0
    # Laws that switch seldom can look alike at the points of the fingerprint.
    assert counts.fingerprint_false_merges <= 2
    assert counts.fingerprint_misses <= 2


def test_fingerprints_of_smooth_laws_merge_none_by_mistake() -> None:
    counts = BENCHMARK.measure(400, seed=12, operators=BENCHMARK.SMOOTH)
    assert counts.fingerprint_false_merges == 0
    assert counts.digest_misses == 0
    assert counts.digest_false_merges == 0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("sin(x)^2 + cos(x)^2", "1"),
        ("exp(a + b)", "exp(b)*exp(a)"),
        ("k*(x + y)", "k*x + k*y"),
        ("2*gate(2*x) - 1", "tanh(x)"),
        ("abs(x)", "max(x, -x)"),
        ("x - x", "0"),
    ],
)
def test_fingerprints_see_what_the_normal_form_does_not(one: str, other: str) -> None:
    assert fingerprint(parse(one, NAMES)) == fingerprint(parse(other, NAMES))


@pytest.mark.parametrize(
    ("one", "other"),
    [("x", "@x"), ("k*x", "c*x"), ("sqrt(x^2)", "x"), ("exp(exp(exp(x)))", "exp(exp(x))")],
)
def test_fingerprints_tell_laws_apart(one: str, other: str) -> None:
    assert fingerprint(parse(one, NAMES)) != fingerprint(parse(other, NAMES))
