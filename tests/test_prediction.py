import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from alder.expr.text import parse
from alder.fitting import fit
from alder.prediction import predict_rows


@settings(max_examples=20)
@given(st.sampled_from(["k*x^p", "c + k*exp(-x)*y", "k*tanh(x*y)"]), st.integers(1, 20_000))
def test_rows_are_predicted_as_the_law_does(text: str, n_rows: int) -> None:
    rng = np.random.default_rng(n_rows)
    rows = {name: rng.uniform(0.5, 2.0, 20) for name in ("x", "y")}
    law = fit(parse(text, ["x", "y"]), {**rows, "a": np.sin(rows["x"] * rows["y"])}, target="a").law
    columns = {name: rng.uniform(-1.0, 3.0, n_rows) for name in ("x", "y")}
    np.testing.assert_allclose(predict_rows(law, columns), law.predict(columns), rtol=1e-9)


def test_a_law_without_variables_predicts_a_constant() -> None:
    rows = {"x": np.arange(5.0), "a": np.array([1.0, 2.0, 3.0, 4.0, 6.0])}
    law = fit("k", rows, target="a").law
    np.testing.assert_allclose(predict_rows(law, {"x": np.arange(3.0)}), np.full(3, 3.2))
