r"""A network of two hidden layers, fitted by L-BFGS with its gradient by hand.

$$f(x) = w_3^\top s(W_2\, s(W_1 x + b_1) + b_2) + b_3, \qquad s(z) = \frac{z}{1 + e^{-z}}$$

Inputs and targets are scaled to unit spread first. The loss is the mean squared error, or for
classes the mean cross-entropy of $\sigma(f)$, plus half $\lambda$ times the mean square of the
weights. A fifth of the rows is held out, and the weights that do best on it are kept.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Literal, TypeAlias, final

import numpy as np

from alder.arrays import FloatArray

Task: TypeAlias = Literal["values", "classes"]
Layers: TypeAlias = list[tuple[FloatArray, FloatArray]]

WIDTH = 32
_DECAY = {"values": 1e-3, "classes": 1e-2}
_MOST_ITERATIONS = 400
_HELD_OUT = 0.2


@final
@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """A fitted network with the scales of its inputs and of its target."""

    layers: Layers
    centre: FloatArray
    scale: FloatArray
    offset: float
    spread: float

    def predict(self, inputs: FloatArray) -> FloatArray:
        """Return values, or log-odds where classes were fitted."""
        output, _ = _forward(self.layers, (inputs - self.centre) / self.scale)
        return self.offset + self.spread * output


def fit_network(
    inputs: FloatArray, targets: FloatArray, task: Task, rng: np.random.Generator
) -> Network:
    """Fit a network from one random start; targets of classes are 0 or 1."""
    centre, scale = inputs.mean(axis=0), np.maximum(inputs.std(axis=0), 1e-12)
    offset, spread = 0.0, 1.0
    if task == "values":
        offset, spread = float(targets.mean()), max(float(targets.std()), 1e-12)
    x, y = (inputs - centre) / scale, (targets - offset) / spread
    layers = _start(inputs.shape[1], rng)
    is_held_out = rng.permutation(len(y)) < _HELD_OUT * len(y)
    fitted, held = (x[~is_held_out], y[~is_held_out]), (x[is_held_out], y[is_held_out])
    weights = _minimise(
        lambda packed: loss_and_gradient(unpack(packed, layers), *fitted, task),
        lambda packed: loss_and_gradient(unpack(packed, layers), *held, task)[0],
        pack(layers),
    )
    return Network(unpack(weights, layers), centre, scale, offset, spread)


def probability(log_odds: FloatArray) -> FloatArray:
    """Return probabilities from log-odds, without overflow."""
    return 0.5 * (1.0 + np.tanh(0.5 * log_odds))


def loss_and_gradient(
    layers: Layers, x: FloatArray, y: FloatArray, task: Task
) -> tuple[float, FloatArray]:
    """Return the loss with its decay term, and its gradient by all weights, packed."""
    output, saved = _forward(layers, x)
    n_rows = len(y)
    if task == "values":
        loss = 0.5 * float(np.mean(np.square(output - y)))
        slope = (output - y) / n_rows
    else:
        loss = float(np.mean(np.logaddexp(0.0, output) - y * output))
        slope = (probability(output) - y) / n_rows
    decay = _DECAY[task]
    gradient = _backward(layers, saved, slope)
    n_weights = sum(W.size for W, _ in layers)
    for i, (W, _) in enumerate(layers):
        loss += 0.5 * decay * float(np.sum(np.square(W))) / n_weights
        gradient[i] = (gradient[i][0] + decay * W / n_weights, gradient[i][1])
    return loss, pack(gradient)


def pack(layers: Layers) -> FloatArray:
    """Put all weights into one vector."""
    return np.concatenate([part.ravel() for layer in layers for part in layer])


def unpack(packed: FloatArray, like: Layers) -> Layers:
    """Take a vector apart into layers of the same shapes."""
    layers: Layers = []
    begin = 0
    for W, b in like:
        middle, end = begin + W.size, begin + W.size + b.size
        layers.append((packed[begin:middle].reshape(W.shape), packed[middle:end]))
        begin = end
    return layers


def _start(n_inputs: int, rng: np.random.Generator) -> Layers:
    shapes = ((n_inputs, WIDTH), (WIDTH, WIDTH), (WIDTH, 1))
    return [(rng.normal(size=s) * np.sqrt(2.0 / s[0]), np.zeros(s[1])) for s in shapes]


def _silu(z: FloatArray) -> tuple[FloatArray, FloatArray]:
    r"""Return $s(z)$ and $s'(z) = \sigma + z \sigma (1 - \sigma)$."""
    sigma = probability(z)
    return z * sigma, sigma * (1.0 + z * (1.0 - sigma))


def _forward(
    layers: Layers, x: FloatArray
) -> tuple[FloatArray, list[tuple[FloatArray, FloatArray]]]:
    """Return outputs (n,), and what went into each layer with the slope of what came before."""
    saved: list[tuple[FloatArray, FloatArray]] = []
    inward, slope = x, np.ones_like(x)
    for W, b in layers[:-1]:
        saved.append((inward, slope))
        inward, slope = _silu(inward @ W + b)
    saved.append((inward, slope))
    last, offset = layers[-1]
    return (inward @ last + offset)[:, 0], saved


def _backward(
    layers: Layers, saved: list[tuple[FloatArray, FloatArray]], slope: FloatArray
) -> Layers:
    """Return the gradient by every weight from the slope of the loss by each output."""
    gradient: Layers = []
    back = slope[:, None]
    for (W, _), (inward, before) in zip(reversed(layers), reversed(saved), strict=True):
        gradient.append((inward.T @ back, back.sum(axis=0)))
        back = (back @ W.T) * before
    return gradient[::-1]


def _minimise(
    objective: Callable[[FloatArray], tuple[float, FloatArray]],
    held_out: Callable[[FloatArray], float],
    start: FloatArray,
) -> FloatArray:
    """Return the weights along the path of L-BFGS that do best on rows held out."""
    optimize = import_module("scipy.optimize")  # has no types
    best, lowest = start, held_out(start)

    def watch(weights: FloatArray) -> None:
        nonlocal best, lowest
        loss = held_out(weights)
        if loss < lowest:
            best, lowest = weights.copy(), loss

    options = {"maxiter": _MOST_ITERATIONS, "maxfun": 2 * _MOST_ITERATIONS}
    optimize.minimize(
        objective, start, jac=True, method="L-BFGS-B", options=options, callback=watch
    )
    return best
