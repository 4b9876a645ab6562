import numpy as np
import pytest

from alder import fit, fit_many
from alder.arrays import FloatArray, freeze

N_ROWS = 60
LABELS = np.array(["north", "south", "west"])


def grouped(seed: int = 0) -> dict[str, FloatArray]:
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.5, 3.0, N_ROWS)
    g = rng.integers(0, 3, N_ROWS)
    y = 1.0 + 2.0 * x + np.array([0.5, -0.3, 0.1])[g] + rng.normal(0.0, 0.1, N_ROWS)
    return {"x": x, "y": y, "g": g.astype(np.float64), "w": rng.uniform(0.5, 2.0, N_ROWS)}


def dummies(rows: dict[str, FloatArray], weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Solve for (a, b) and offsets of weighted mean zero by explicit columns; their covariance."""
    g = rows["g"].astype(int)
    totals = np.bincount(g, weights=weights)
    # Offsets of mean zero: the last one is minus the weighted mean of the others.
    D = np.eye(3)[:, :2].copy()
    D[2] = -totals[:2] / totals[2]
    A = np.column_stack([np.ones(N_ROWS), rows["x"], D[g]])
    root = np.sqrt(weights)
    found = np.linalg.lstsq(A * root[:, None], rows["y"] * root, rcond=None)[0]
    residuals = rows["y"] - A @ found
    variance = np.sum(weights * np.square(residuals)) / (N_ROWS - 4)
    covariance = variance * np.linalg.inv((A * weights[:, None]).T @ A)
    return freeze(np.concatenate([found[:2], D @ found[2:]])), freeze(covariance[:2, :2])


@pytest.mark.parametrize("weight", [None, "w"])
def test_groups_agree_with_explicit_columns(weight: str | None) -> None:
    rows = grouped()
    found = fit("a + b*x", rows, target="y", group="g", weight=weight)
    w = rows["w"] / rows["w"].mean() if weight else np.ones(N_ROWS)
    expected, covariance = dummies(rows, w)
    np.testing.assert_allclose(list(found.values.values()), expected[:2], rtol=1e-7)
    offsets = [found.offsets[label] for label in sorted(found.offsets)]
    np.testing.assert_allclose(offsets, expected[2:], rtol=1e-6)
    np.testing.assert_allclose(found.covariance, covariance, rtol=1e-6)
    assert found.residual_df == N_ROWS - 4


def test_offsets_of_groups_weighted_by_their_rows_cancel() -> None:
    rows = grouped()
    found = fit("a + b*x^p", rows, target="y", group="g")
    labels, counts = np.unique(rows["g"], return_counts=True)
    by_number = {float(label): offset for label, offset in found.offsets.items()}
    total = sum(n * by_number[float(g)] for g, n in zip(labels, counts, strict=True))
    assert abs(total) < 1e-9


def test_groups_may_be_named() -> None:
    rows = grouped()
    named = {**rows, "g": LABELS[rows["g"].astype(int)]}
    found = fit("a + b*x", named, target="y", group="g")
    assert set(found.offsets) == set(LABELS.tolist())
    assert found.values == fit("a + b*x", rows, target="y", group="g").values


def test_a_nonlinear_law_is_found_beneath_large_offsets() -> None:
    rows = grouped()
    shift = np.array([100.0, -40.0, 7.0])[rows["g"].astype(int)]
    y = 3.0 * rows["x"] ** -1.5 + shift
    found = fit("k*x^p + d", {**rows, "y": y}, target="y", group="g")
    np.testing.assert_allclose(found.values["p"], -1.5, rtol=1e-4)
    np.testing.assert_allclose(found.values["k"], 3.0, rtol=1e-4)


def test_many_structures_share_the_groups() -> None:
    rows = grouped()
    found = fit_many(["a + b*x", "a + b*x^2"], rows, target="y", group="g")
    alone = fit("a + b*x", rows, target="y", group="g")
    np.testing.assert_allclose(found.loss[0], alone.loss, rtol=1e-9)
    np.testing.assert_allclose(found[0].loss, found.loss[0], rtol=1e-9)
