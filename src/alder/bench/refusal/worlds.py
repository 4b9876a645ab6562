r"""Draw a world: what the grammar can say, plus a part it cannot, seen through noise.

$$y = g(x, v, u) + a\,h(x, v, u, \text{unseen}) + \varepsilon$$

$g$ is a law of the grammar, or nothing; $h$ is the truth of a family, of unit spread over public
and admission rows, and $a$ lies between 5 % and 100 % of the spread of $g$. Every draw is kept.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import final

import numpy as np

from alder.arrays import FloatArray
from alder.bench.refusal import broken, hidden, large, smooth
from alder.bench.refusal.domains import ROLES, TARGET, Columns, Role, Setting, draw_inputs
from alder.bench.refusal.expressible import FORMS, law
from alder.bench.refusal.family import Family, Truth
from alder.expr.evaluate import evaluate
from alder.expr.nodes import Expr

FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        family.name: family
        for family in (
            Family("sine", "not-elementary", smooth.sine),
            Family("special-function", "not-elementary", smooth.special_function),
            Family("integral", "not-elementary", smooth.integral),
            Family("kepler", "not-elementary", smooth.kepler),
            Family("flow", "not-elementary", smooth.flow),
            Family("uneven-noise", "not-elementary", smooth.sine, uneven=True),
            Family("absolute", "not-analytic", broken.absolute),
            Family("floor", "not-analytic", broken.floor),
            Family("step", "not-analytic", broken.step),
            Family("regime-change", "not-analytic", broken.regime_change),
            Family("lookup-table", "not-analytic", broken.lookup_table),
            Family("spline", "not-analytic", broken.spline),
            Family("hidden-variable", "not-a-column", hidden.hidden_variable),
            Family("hidden-mode", "not-a-column", hidden.hidden_mode),
            Family("drift", "not-a-column", hidden.drift),
            Family("other-apparatus", "not-a-column", hidden.other_apparatus),
            Family("hysteresis", "not-a-column", hidden.hysteresis),
            Family("memory", "not-a-column", hidden.memory),
            Family("many-terms", "too-large", large.many_terms),
            Family("chaotic-map", "too-large", large.chaotic_map),
        )
    }
)

CONTROL = "control"
N_WORLDS, N_CONTROL = 100, 20
_N_REFERENCE = 2048
# One world in four is nothing but the part that cannot be said.
_BARE = 0.25
_PART, _NOISE = (0.05, 1.0), (0.003, 0.03)


@final
@dataclass(frozen=True, slots=True, eq=False)
class World:
    """Rows by role; those of the final tests have no noise. `noise` is its rms in each role."""

    family: Family | None
    rows: Mapping[Role, Columns]
    noise: Mapping[Role, float]


def case_names() -> tuple[str, ...]:
    """Name the worlds; families take turns, so that the first twenty are one of each."""
    per_family = N_WORLDS // len(FAMILIES)
    worlds = [f"{name}-{i + 1}" for i in range(per_family) for name in FAMILIES]
    return (*worlds, *(f"{CONTROL}-{i + 1:02}" for i in range(N_CONTROL)))


def draw_world(case: str, seed: int) -> World:
    """Draw a world by the name of its case."""
    name, _, number = case.rpartition("-")
    if name == CONTROL:
        rng = np.random.default_rng([seed, len(FAMILIES), int(number)])
        g = law(FORMS[(int(number) - 1) % len(FORMS)], rng)
        return _measured(None, _expressible(g), rng)
    rng = np.random.default_rng([seed, list(FAMILIES).index(name), int(number)])
    return _measured(FAMILIES[name], _truth(FAMILIES[name], rng), rng)


def _truth(family: Family, rng: np.random.Generator) -> Truth:
    """Draw a truth of unit spread, and hide it in what can be said."""
    h = family.draw(rng)
    g = _expressible(law(FORMS[int(rng.integers(len(FORMS)))], rng))
    # A regime that begins beyond the admission rows has all its spread on shift rows.
    size = _spread(h, rng, "fit", "admission") or _spread(h, rng, "shift")
    a = _spread(g, rng, "fit", "admission") * _log_uniform(_PART, rng) / size
    # Public rows of a bare truth must show something, or there would be nothing to study.
    if rng.random() < _BARE and _spread(h, rng, "fit") > 0.1 * size:
        return lambda rows, setting: h(rows, setting) / size
    return lambda rows, setting: g(rows, setting) + a * h(rows, setting)


def _spread(truth: Truth, rng: np.random.Generator, *roles: Role) -> float:
    """Return the standard deviation of a truth over rows of these roles together."""
    values = [truth(draw_inputs(r, rng, _N_REFERENCE), Setting(r, rng)) for r in roles]
    return float(np.std(np.concatenate(values)))


def _log_uniform(ends: tuple[float, float], rng: np.random.Generator) -> float:
    return math.exp(rng.uniform(math.log(ends[0]), math.log(ends[1])))


def _expressible(g: Expr) -> Truth:
    return lambda rows, setting: evaluate(g, rows, {})


def _measured(family: Family | None, truth: Truth, rng: np.random.Generator) -> World:
    """Measure the truth on the rows of every role; the final tests are not noisy."""
    clean: dict[Role, Columns] = {}
    for role in ROLES:
        inputs = draw_inputs(role, rng)
        clean[role] = {**inputs, TARGET: truth(inputs, Setting(role, rng))}
    sigma = float(np.std(clean["fit"][TARGET])) * _log_uniform(_NOISE, rng)
    rows: dict[Role, Columns] = {}
    noise: dict[Role, float] = {}
    for role, columns in clean.items():
        spread = sigma * _unevenness(family, columns)
        noise[role] = float(np.sqrt(np.mean(np.square(spread))))
        if role.endswith("-test"):
            rows[role] = columns
        else:
            y = columns[TARGET] + spread * rng.normal(size=len(spread))
            rows[role] = {**columns, TARGET: y}
    return World(family, rows, noise)


def _unevenness(family: Family | None, columns: Columns) -> FloatArray:
    """Return the factor of the noise of each row: one, or growing e-fold with every unit of v."""
    if family is None or not family.uneven:
        return np.ones(len(columns["v"]))
    return np.exp(columns["v"])
