import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alder.bench.boundary.network import (
    WIDTH,
    Layers,
    Task,
    fit_network,
    loss_and_gradient,
    pack,
    probability,
    unpack,
)


def _layers(rng: np.random.Generator, n_inputs: int) -> Layers:
    shapes = ((n_inputs, 5), (5, 4), (4, 1))
    return [(rng.normal(size=shape), rng.normal(size=shape[1])) for shape in shapes]


@given(st.integers(0, 10_000), st.sampled_from(["values", "classes"]))
@settings(max_examples=20, deadline=None)
def test_the_gradient_is_that_of_finite_differences(seed: int, task: Task) -> None:
    rng = np.random.default_rng(seed)
    layers = _layers(rng, 3)
    x, y = rng.normal(size=(7, 3)), rng.integers(0, 2, 7).astype(np.float64)
    packed = pack(layers)
    _, gradient = loss_and_gradient(layers, x, y, task)
    direction = rng.normal(size=packed.shape)
    h = 1e-6
    ahead, behind = (
        loss_and_gradient(unpack(packed + s * h * direction, layers), x, y, task)[0]
        for s in (1.0, -1.0)
    )
    assert float(gradient @ direction) == pytest.approx(
        (ahead - behind) / (2 * h), rel=1e-5, abs=1e-7
    )


def test_packing_round_trips() -> None:
    layers = _layers(np.random.default_rng(0), 2)
    for (W, b), (again, offset) in zip(layers, unpack(pack(layers), layers), strict=True):
        assert np.array_equal(W, again)
        assert np.array_equal(b, offset)


def test_a_network_learns_a_curve_that_no_line_is() -> None:
    rng = np.random.default_rng(1)
    x = rng.uniform(-2.0, 2.0, (400, 2))
    y = 30.0 + 5.0 * np.sin(2.0 * x[:, 0]) * x[:, 1]
    network = fit_network(x, y, "values", rng)
    new = rng.uniform(-1.8, 1.8, (200, 2))
    wanted = 30.0 + 5.0 * np.sin(2.0 * new[:, 0]) * new[:, 1]
    assert float(np.var(network.predict(new) - wanted) / np.var(wanted)) < 0.02


def test_classes_become_probabilities() -> None:
    rng = np.random.default_rng(2)
    x = rng.uniform(-1.0, 1.0, (400, 1))
    network = fit_network(x, (np.abs(x[:, 0]) < 0.5).astype(np.float64), "classes", rng)
    inside, outside = probability(network.predict(np.array([[0.0], [0.9]])))
    assert inside > 0.9
    assert outside < 0.1


def test_the_same_generator_gives_the_same_network() -> None:
    x = np.linspace(-1.0, 1.0, 50)[:, None]
    first, again = (
        fit_network(x, x[:, 0] ** 2, "values", np.random.default_rng(3)) for _ in range(2)
    )
    assert np.array_equal(pack(first.layers), pack(again.layers))
    assert first.layers[0][0].shape == (1, WIDTH)
