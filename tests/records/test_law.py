import copy
import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pandas as pd  # pyright: ignore[reportMissingTypeStubs]
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alder.errors import BadLawFile, BadParameter, BadTable, MalformedLaw, UnknownVariable
from alder.expr.nodes import parameters, variables
from alder.expr.operators import OPERATORS
from alder.expr.sample import random_tree
from alder.expr.text import parse
from alder.records.coefficient import Coefficient
from alder.records.fit import Fit
from alder.records.law import Law
from alder.records.lawfile import law_schema
from alder.records.noise import Noise
from alder.records.scope import Scope
from alder.records.variable import Variable

UNITS = {"r": "m", "v": "m/s", "u": "N"}


def coefficient(name: str, value: float, half: float, unit: str | None = None) -> Coefficient:
    return Coefficient(name, value, half / 2.0, value - half, value + half, "free", unit)


def drag_law(**changes: Any) -> Law:
    law = Law(
        structure=parse("k*r^p + c*v", ["r", "v"]),
        target=Variable("a", unit="m/s^2"),
        variables=(Variable("r", unit="m"), Variable("u", unit="N"), Variable("v", unit="m/s")),
        coefficients=(
            coefficient("k", 2.3904, 0.0155, "m^2.5/s^2"),
            coefficient("p", -1.5001, 0.027),
            coefficient("c", -0.34927, 0.0078, "1/s"),
        ),
        covariance=np.diag([6e-5, 1.8e-4, 1.5e-5]),
        residual_df=57,
        noise=Noise(0.03),
        scope=Scope({"r": (0.6, 4.0), "v": (-2.5, 2.5)}),
        n_rows=60,
        nmse=1e-4,
        provenance={"rows": "rows.csv"},
    )
    return replace(law, **changes)


def any_law(seed: int, n_nodes: int) -> Law:
    rng = np.random.default_rng(seed)
    structure = random_tree(rng, n_nodes, tuple(UNITS), tuple(OPERATORS))
    names = parameters(structure)
    root = rng.normal(size=(len(names), len(names)))
    return Law(
        structure=structure,
        target=Variable("a"),
        variables=tuple(Variable(name, unit=unit) for name, unit in UNITS.items()),
        coefficients=tuple(coefficient(n, float(rng.normal()), 0.1) for n in names),
        covariance=root @ root.T,
        residual_df=30,
        noise=Noise(0.1, 0.02),
        scope=Scope(dict.fromkeys(variables(structure), (-1.0, 1.0))),
        n_rows=40,
    )


def test_a_law_is_written_with_the_digits_that_are_known() -> None:
    assert str(drag_law()) == "a = 2.39*r^-1.5 - 0.3493*v"


def test_latex_has_names_or_values() -> None:
    assert "2.39" not in drag_law().latex()
    assert "2.39" in drag_law().latex(values=True)
    assert drag_law().latex().startswith("a = ")


def test_only_the_variables_in_use_are_kept() -> None:
    assert [variable.name for variable in drag_law().variables] == ["r", "v"]


@pytest.mark.parametrize(
    "rows",
    [
        {"r": [1.0, 4.0], "v": [0.0, 1.0], "extra": ["x", "y"]},
        pd.DataFrame({"r": [1.0, 4.0], "v": [0.0, 1.0], "extra": ["x", "y"]}),
        pl.DataFrame({"r": [1.0, 4.0], "v": [0.0, 1.0], "extra": ["x", "y"]}),
    ],
)
def test_predictions_do_not_depend_on_what_holds_the_rows(rows: object) -> None:
    expected = [2.3904, 2.3904 * 4.0**-1.5001 - 0.34927]
    predictions = drag_law().predict(rows)
    assert predictions.dtype == np.float64
    assert predictions.tolist() == pytest.approx(expected)


def test_scalars_give_one_prediction_and_are_broadcast() -> None:
    assert drag_law().predict({"r": 1.0, "v": 0.0}).shape == (1,)
    assert drag_law().predict({"r": [1.0, 2.0], "v": 0.0}).shape == (2,)
    assert drag_law().predict({"r": [], "v": []}).shape == (0,)


@given(
    st.integers(0, 2**32),
    st.integers(1, 31),
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=3, max_size=3),
)
@settings(max_examples=200)
def test_predictions_are_finite_for_every_finite_row(
    seed: int, n_nodes: int, row: list[float]
) -> None:
    law = any_law(seed, n_nodes)
    rows = {name: [value] for name, value in zip(UNITS, row, strict=True)}
    assert np.isfinite(law.predict(rows)).all()
    lower, upper = law.predict_interval(rows)
    assert (lower <= upper).all()


def test_a_constant_law_predicts_as_many_rows_as_it_is_given() -> None:
    law = drag_law(
        structure=parse("k", []),
        coefficients=(coefficient("k", 2.0, 0.1),),
        covariance=np.array([[0.0025]]),
    )
    assert law.predict({"r": [1.0, 2.0, 3.0]}).tolist() == [2.0, 2.0, 2.0]
    assert law.in_scope({"r": [1.0, 2.0, 3.0]}).tolist() == [True] * 3
    assert law.predict_interval({"r": [1.0, 2.0]})[0].shape == (2,)


def test_a_missing_variable_is_named_with_its_unit_and_range() -> None:
    with pytest.raises(UnknownVariable) as caught:
        drag_law().predict({"r": 1.0})
    assert str(caught.value) == (
        "The law needs v (m/s); it was not given. Its range is -2.5 to 2.5 m/s."
    )


def test_rows_with_missing_values_are_refused_with_their_number() -> None:
    with pytest.raises(BadTable, match=r"^2 of 3 rows miss a value of r or v; the first is row 2"):
        drag_law().predict({"r": [1.0, np.nan, 1.0], "v": [1.0, 1.0, np.nan]})


def test_scope_is_reported_row_by_row() -> None:
    rows = {"r": [1.0, 5.0, 0.6], "v": [0.0, 0.0, -2.6]}
    assert drag_law().in_scope(rows).tolist() == [True, False, False]


def test_an_interval_holds_coefficients_and_noise() -> None:
    law, rows = drag_law(), {"r": [1.3], "v": [0.7]}
    J = np.array([1.3**-1.5001, 2.3904 * 1.3**-1.5001 * np.log(1.3), 0.7])
    variance = J @ law.covariance @ J
    t = 2.0024654592910065  # Student, 57 degrees of freedom, 97.5 %
    lower, upper = law.predict_interval(rows)
    assert (upper - lower)[0] == pytest.approx(2 * t * np.sqrt(variance + 0.03**2))
    lower, upper = law.predict_interval(rows, noise=False)
    assert (upper - lower)[0] == pytest.approx(2 * t * np.sqrt(variance))
    assert law.standard_error(rows)[0] == pytest.approx(np.sqrt(variance))


def test_a_higher_level_gives_a_wider_interval() -> None:
    rows = {"r": [1.3], "v": [0.7]}
    widths = [
        np.subtract(*drag_law().predict_interval(rows, level)[::-1])[0]
        for level in (0.5, 0.9, 0.99)
    ]
    assert widths == sorted(widths)


def test_an_undetermined_coefficient_leaves_intervals_finite() -> None:
    covariance = np.array(drag_law().covariance)
    covariance[2, 2] = np.inf
    lower, upper = drag_law(covariance=covariance).predict_interval({"r": [1.3], "v": [0.7]})
    assert np.isfinite(lower).all()
    assert np.isfinite(upper).all()


def test_without_degrees_of_freedom_nothing_is_promised() -> None:
    lower, upper = drag_law(residual_df=0).predict_interval({"r": [1.3], "v": [0.7]})
    assert (lower[0], upper[0]) == (-np.inf, np.inf)


def test_a_level_outside_zero_to_one_is_refused() -> None:
    with pytest.raises(BadParameter, match="between 0 and 1"):
        drag_law().predict_interval({"r": [1.3], "v": [0.7]}, level=95)


@given(st.integers(0, 2**32), st.integers(1, 31))
@settings(max_examples=100)
def test_a_saved_law_loads_as_the_same_law(
    tmp_path_factory: pytest.TempPathFactory, seed: int, n_nodes: int
) -> None:
    law = any_law(seed, n_nodes)
    path = tmp_path_factory.getbasetemp() / "law.json"
    law.save(path)
    loaded = Law.load(path)
    assert loaded == law
    assert loaded.digest == law.digest
    assert hash(loaded) == hash(law)
    jsonschema.validate(json.loads(path.read_text()), law_schema())


def test_infinite_numbers_survive_saving_as_strict_json(tmp_path: Path) -> None:
    lost = Coefficient("c", 1.0, np.inf, -np.inf, np.inf, "undetermined")
    law = drag_law(coefficients=(*drag_law().coefficients[:2], lost), nmse=float("nan"))
    law.save(tmp_path / "law.json")
    text = (tmp_path / "law.json").read_text()
    jsonschema.validate(json.loads(text, parse_constant=pytest.fail), law_schema())
    assert Law.load(tmp_path / "law.json").coefficients[2] == lost


@pytest.mark.parametrize(
    "change",
    [
        {"noise": Noise(0.04)},
        {"nmse": 2e-4},
        {"structure": parse("k*r^p - c*v", ["r", "v"])},
        {"scope": Scope({"r": (0.6, 4.1), "v": (-2.5, 2.5)})},
        {"provenance": {}},
    ],
)
def test_laws_that_say_different_things_differ(change: dict[str, Any]) -> None:
    assert drag_law(**change) != drag_law()


def test_saving_over_a_law_leaves_no_other_file(tmp_path: Path) -> None:
    drag_law().save(tmp_path / "law.json")
    drag_law(n_rows=61).save(tmp_path / "law.json")
    assert [path.name for path in tmp_path.iterdir()] == ["law.json"]
    assert Law.load(tmp_path / "law.json").n_rows == 61


def edited(folder: Path, **changes: object) -> Path:
    path = folder / "law.json"
    drag_law().save(path)
    content = json.loads(path.read_text())
    for key, value in changes.items():
        if value is None:
            del content[key]
        else:
            content[key] = value
    path.write_text(json.dumps(content))
    return path


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"schema": "alder/law/9"}, "law.json has the schema 'alder/law/9'; this version"),
        ({"noise": None}, "law.json misses 'noise'; save the law again."),
        ({"structure": {"var": "r"}}, "law.json was changed after it was saved"),
        ({"structure": {"op": "boom"}}, "law.json does not hold a law: "),
        ({"n_rows": True}, "law.json does not hold a law: True is not a whole number."),
        ({"nmse": "many"}, "law.json does not hold a law: 'many' is not a number."),
        ({"covariance": [[1.0]]}, "law.json was changed after it was saved"),
        ({"covariance": [[1.0], []]}, "law.json does not follow alder/law/1"),
        ({"variables": 3}, "law.json does not follow alder/law/1"),
        ({"digest": "0" * 64}, "law.json was changed after it was saved"),
    ],
)
def test_a_file_that_is_no_saved_law_is_refused_in_one_sentence(
    tmp_path: Path, changes: dict[str, object], sentence: str
) -> None:
    with pytest.raises(BadLawFile) as caught:
        Law.load(edited(tmp_path, **changes))
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize("text", ["", "{", "[]", "NaN", "[" * 100_000, '{"schema": NaN}'])
def test_text_that_is_not_a_law_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "law.json").write_text(text)
    with pytest.raises(BadLawFile, match=r"^law\.json is (not JSON|JSON but not a law)"):
        Law.load(tmp_path / "law.json")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadLawFile, match=r"There is no file law\.json"):
        Law.load(tmp_path / "law.json")


@pytest.mark.parametrize(
    "changes",
    [
        {"coefficients": drag_law().coefficients[:2]},
        {"covariance": np.eye(2)},
        {"variables": ()},
    ],
)
def test_parts_that_do_not_belong_together_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(MalformedLaw):
        drag_law(**changes)


def test_a_fit_knows_its_law() -> None:
    law = drag_law(provenance={})
    fit = Fit(
        structure=law.structure,
        target=law.target,
        variables=law.variables,
        coefficients=law.coefficients,
        covariance=law.covariance,
        noise=law.noise,
        loss=9e-4,
        nmse=law.nmse,
        n_rows=law.n_rows,
        residual_df=law.residual_df,
        converged=True,
        reason="",
        undetermined=(),
        condition=10.0,
        scope=law.scope,
    )
    assert fit.law == law


@given(st.integers(0, 2**32 - 1), st.integers(1, 25))
@settings(max_examples=30)
def test_a_law_is_the_same_after_pickling_and_after_copying(seed: int, n_nodes: int) -> None:
    law = any_law(seed, n_nodes)
    assert pickle.loads(pickle.dumps(law)) == law  # noqa: S301 (what we just wrote)
    assert copy.deepcopy(law) == law
