# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false
# scikit-learn and pandas have no types.
import pickle
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import cast

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import alder
from alder import BadGrammar, BadParameter, LawRegressor
from alder.expr.nodes import size
from alder.expr.text import parse

OPERATORS = ("add", "mul", "pow")
SOURCE = Path(__file__).parents[1] / "src"


# A small language keeps fifty checks of several fits each within seconds; what they look at does
# not depend on how rich laws may be.
@parametrize_with_checks([LawRegressor(("add", "mul"), max_nodes=9)])
def test_scikit_learn_accepts_the_estimator(
    estimator: LawRegressor, check: Callable[[LawRegressor], None]
) -> None:
    check(estimator)


def table(n_rows: int = 60, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    columns = {"r": rng.uniform(1.0, 3.0, n_rows), "v": rng.uniform(-1.0, 1.0, n_rows)}
    return pd.DataFrame(columns)


def target(rows: pd.DataFrame) -> pd.Series:
    return pd.Series(3.0 * rows["r"] ** 2 - 0.5 * rows["v"], name="a")


def regressor() -> LawRegressor:
    return LawRegressor(OPERATORS, max_nodes=11)


@cache  # what is fitted once is only read
def fitted() -> LawRegressor:
    rows = table()
    return regressor().fit(rows, target(rows))


def test_a_law_is_found_and_predicts_rows_it_has_not_seen() -> None:
    unseen = table(seed=1)
    model = fitted()
    np.testing.assert_allclose(model.predict(unseen), target(unseen), rtol=1e-9)
    assert model.score(unseen, target(unseen)) == pytest.approx(1.0)


def test_laws_speak_of_columns_by_their_names() -> None:
    model = fitted()
    assert model.law_.target.name == "a"
    assert {variable.name for variable in model.law_.variables} == {"r", "v"}
    assert list(model.feature_names_in_) == ["r", "v"]


def test_columns_without_names_are_numbered() -> None:
    rows = table()
    model = regressor().fit(rows.to_numpy(), target(rows).to_numpy())
    assert {variable.name for variable in model.law_.variables} == {"x0", "x1"}
    assert model.law_.target.name == "y"


def test_a_target_named_like_a_column_gets_another_name() -> None:
    rows = table().rename(columns={"v": "y"})
    model = regressor().fit(rows, 2.0 * rows["y"].to_numpy() + rows["r"].to_numpy())
    assert model.law_.target.name == "y_"


def test_the_front_falls_in_error_and_grows_in_size() -> None:
    front = fitted().equations_
    sizes = [one.complexity for one in front]
    losses = [one.loss for one in front]
    assert len(front) >= 3
    assert sizes == sorted(set(sizes))
    assert losses == sorted(set(losses), reverse=True)


def test_the_front_begins_with_a_constant_and_holds_the_chosen_law() -> None:
    model = fitted()
    assert model.equations_[0].complexity == 1
    assert model.law_ in [one.law for one in model.equations_]


def test_what_the_front_says_of_a_law_is_true_of_it() -> None:
    rows, model = table(), fitted()
    for i, one in enumerate(model.equations_):
        misses = target(rows).to_numpy() - model.predict(rows, index=i)
        assert one.loss == pytest.approx(float(np.mean(np.square(misses))), rel=1e-6, abs=1e-20)
        assert one.complexity == size(one.law.structure)
        assert one.text == str(one.law)


def test_the_front_is_a_table_for_pandas_and_for_the_eye() -> None:
    model = fitted()
    assert list(pd.DataFrame(model.equations_)) == ["complexity", "loss", "score", "text", "law"]
    lines = str(model.equations_).splitlines()
    assert len(lines) == 1 + len(model.equations_)
    assert lines[-1].endswith(model.equations_[-1].text)


def test_accuracy_chooses_the_law_of_least_error() -> None:
    rows = table()
    noisy = target(rows) + np.random.default_rng(2).normal(0.0, 0.3, len(rows))
    model = LawRegressor(OPERATORS, max_nodes=15, model_selection="accuracy").fit(rows, noisy)
    assert model.law_ == min(model.equations_, key=lambda one: one.loss).law


def test_a_law_can_be_written_in_latex_and_as_sympy() -> None:
    model = fitted()
    assert model.latex().startswith("a = ")
    formula = model.sympy()
    values = {"r": 2.0, "v": 1.0}
    point = {symbol: values[symbol.name] for symbol in formula.free_symbols}
    assert float(formula.subs(point)) == pytest.approx(11.5)


def test_a_target_that_never_changes_has_a_constant_law() -> None:
    model = regressor().fit(table(), np.full(60, 4.25))
    assert model.law_.structure == parse("4.25", [])
    np.testing.assert_array_equal(model.predict(table(5)), np.full(5, 4.25))


def test_two_rows_are_enough_to_answer() -> None:
    model = regressor().fit([[1.0], [2.0]], [3.0, 4.0])
    assert np.isfinite(model.predict([[5.0]])).all()


def test_a_single_row_is_refused_in_the_words_of_scikit_learn() -> None:
    with pytest.raises(ValueError, match="minimum of 2 is required"):
        regressor().fit([[1.0]], [3.0])


def test_a_weight_is_a_row_given_so_many_times() -> None:
    rows = table()
    noisy = target(rows) + np.random.default_rng(3).normal(0.0, 0.5, len(rows))
    counts = np.random.default_rng(4).integers(0, 4, len(rows))
    small = LawRegressor(("add", "mul"), max_nodes=9)
    weighted = small.fit(rows, noisy, sample_weight=counts)
    places = np.repeat(np.arange(len(rows)), counts)
    repeated = LawRegressor(("add", "mul"), max_nodes=9).fit(rows.iloc[places], noisy.iloc[places])
    assert weighted.law_ == repeated.law_


@pytest.mark.parametrize("weights", [np.zeros(60), np.full(60, -1.0), np.ones((60, 1))])
def test_weights_that_weigh_nothing_are_refused(weights: NDArray[np.float64]) -> None:
    rows = table()
    with pytest.raises(ValueError, match="Sample weights must"):
        regressor().fit(rows, target(rows), sample_weight=weights)


def test_large_tables_are_searched_in_part_and_fitted_whole() -> None:
    rows = table(400)
    model = LawRegressor(OPERATORS, max_nodes=11, max_rows=40, random_state=0)
    found = model.fit(rows, target(rows))
    assert found.law_.n_rows == 400
    assert found.score(rows, target(rows)) == pytest.approx(1.0)


def test_the_law_does_not_depend_on_the_number_of_cores() -> None:
    rows = table()
    laws = [
        LawRegressor(("add", "mul"), max_nodes=11, n_jobs=n).fit(rows, target(rows)).law_
        for n in (1, 2)
    ]
    assert laws[0] == laws[1]


def test_a_search_without_time_still_answers() -> None:
    rows = table()
    model = regressor().set_params(seconds=0.0).fit(rows, target(rows))
    assert np.isfinite(model.predict(rows)).all()


def test_units_rule_out_laws_that_do_not_agree_with_them() -> None:
    rows = table()
    r = rows["r"].to_numpy()
    apart = LawRegressor(("add",), max_nodes=5, units={"r": "m", "v": "m/s", "y": "m"})
    model = apart.fit(rows, r + rows["v"].to_numpy())
    assert model.score(rows, r + rows["v"].to_numpy()) < 0.999


def test_it_works_in_a_pipeline_and_under_cross_validation() -> None:
    rows = table()
    pipeline = make_pipeline(FunctionTransformer(), StandardScaler(), regressor())
    scores = cross_val_score(pipeline, rows, target(rows), cv=3)
    assert scores.min() > 0.99


def test_a_grid_search_chooses_among_sizes() -> None:
    rows = table()
    small = LawRegressor(("add", "mul"))
    grid = GridSearchCV(small, {"max_nodes": [1, 9]}, cv=2).fit(rows, target(rows))
    assert grid.best_params_ == {"max_nodes": 9}


def test_a_clone_has_the_same_settings_and_no_law() -> None:
    copy = cast("LawRegressor", clone(fitted()))
    assert copy.get_params() == regressor().get_params()
    with pytest.raises(NotFittedError):
        copy.latex()


def test_a_fitted_regressor_is_the_same_after_pickling() -> None:
    model = fitted()
    again = pickle.loads(pickle.dumps(model))  # noqa: S301 (what we just wrote)
    assert again.law_ == model.law_
    assert again.equations_ == model.equations_


def test_an_unknown_operator_is_named_when_it_is_fitted() -> None:
    with pytest.raises(BadGrammar, match="`plus` is not an operator"):
        LawRegressor(("plus",)).fit(table(), target(table()))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"model_selection": "score"}, 'model_selection is "best" or "accuracy"'),
        ({"max_rows": 1}, "max_rows must be at least 2"),
        ({"units": {"w": "m"}}, "`w` has a unit but is no column; r, v, a are"),
    ],
)
def test_settings_that_mean_nothing_are_refused(changes: dict[str, object], sentence: str) -> None:
    model = regressor().set_params(**changes)
    with pytest.raises(BadParameter, match=sentence):
        model.fit(table(), target(table()))


def test_without_scikit_learn_the_extra_is_named() -> None:
    program = (
        "import sys; sys.modules['sklearn'] = sys.modules['sklearn.base'] = None\n"
        "import alder\n"
        "try:\n"
        "    alder.LawRegressor()\n"
        "except alder.MissingExtra as error:\n"
        "    print(error)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=SOURCE
    )
    assert 'pip install "alder[sklearn]"' in ran.stdout


def test_importing_alder_does_not_import_scikit_learn() -> None:
    program = "import sys, alder; print('sklearn' in sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=SOURCE
    )
    assert ran.stdout.strip() == "False"
    assert "LawRegressor" in alder.__all__
