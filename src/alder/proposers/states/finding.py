"""From samples to a system: routes, what public validation says of each, and the last fit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias, final

import numpy as np

from alder.arrays import FloatArray
from alder.expr.nodes import Expr
from alder.fitting.delay import delayed, delays
from alder.fitting.flows import RESOLVED
from alder.fitting.samples import Samples
from alder.fitting.shooting import Shot, shoot
from alder.fitting.smoothing import Smooth, as_measured, smooth
from alder.proposers.states.constraints import keeping
from alder.proposers.states.model import COARSE, Model, Pick, Problem, make_flow, named, structures
from alder.proposers.states.reconsider import read, reconsider
from alder.proposers.states.search import (
    misfit,
    polish,
    refine,
    slope_picks,
    step_noise,
    terms_length,
    weak_picks,
)
from alder.proposers.states.sharing import share
from alder.proposers.summands.shapes import make_library
from alder.proposers.summands.terms import Library

Route: TypeAlias = Literal["smoothed derivatives", "weak form", "one-step regression", "shooting"]

_PUBLIC_SHARE = 4  # one trajectory in so many is held for validation
_PLAIN = ("add", "sub", "mul", "pow")
_POLYNOMIAL = 1  # the highest level of the library that holds nothing but polynomials
_NOISE_ROUNDS = 8
_UNEXPLAINED = 3.0  # times the noise's squares: a model that leaves more is on the wrong path
_SMALLER = 0.85  # of the noise assumed: what counts as less


@final
@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """What is asked: names of states and inputs, operators, rates that are known, and the kind.

    `conserved` are quantities that no motion changes; turning the signs of the `mirrored` columns
    leaves the system as it is.
    """

    states: tuple[str, ...]
    inputs: tuple[str, ...] = ()
    operators: tuple[str, ...] = ("add", "sub", "mul", "div", "pow", "exp", "log", "sin", "cos")
    known: Mapping[str, Expr] = field(default_factory=dict[str, Expr])
    discrete: bool = False
    conserved: tuple[Expr, ...] = ()
    mirrored: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """States, then inputs."""
        return (*self.states, *self.inputs)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A system by one route, and its chi2 per free number on the validation trajectories.

    `length` is what describes these: their chi2, and what the terms cost.
    """

    route: Route
    level: int
    model: Model
    validation: float
    length: float


@final
@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """The chosen system fitted to all public samples, and what stood beside it."""

    model: Model
    problem: Problem
    library: Library
    route: Route
    candidates: tuple[Candidate, ...]

    @property
    def shot(self) -> Shot | None:
        """How it was fitted; None where shooting failed."""
        return self.model.shot

    @property
    def change(self) -> float:
        """By how much conserved quantities change, in shares of what moves them."""
        if not self.problem.conserved:
            return 0.0
        rates, _ = structures(self.model.picks, self.problem)
        flow, values = make_flow(self.model.picks, self.problem)
        return float(np.abs(keeping(self.problem, rates, flow)(values)[0]).max())

    @property
    def chi2(self) -> float:
        """The sum of squares per degree of freedom in units of the noise; one where all is said."""
        shot = self.shot
        return np.inf if shot is None or not shot.sound else shot.chi2 / max(shot.n_free, 1)


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Posed:
    """A problem with its samples smoothed, terms for it, and trajectories to compare routes on."""

    problem: Problem
    smoothed: Smooth
    library: Library
    held: Samples


def find(samples: Samples, setting: Setting) -> Found:
    """Find the rates of all states: search on part of the trajectories, choose on the others.

    The chosen structure is refined and fitted on all of them.
    """
    train, held = _split(samples)
    problem, smoothed, library = _pose(train, setting)
    candidates, sigma = _candidates(_Posed(problem, smoothed, library, held))
    best = _choose(candidates)
    whole, smoothed, _ = _pose(samples, setting)
    whole = whole.with_noise(np.minimum(sigma, whole.sigma))
    model, whole = _fit_all(best, whole, smoothed, library)
    return Found(model, whole, library, best.route, candidates)


def find_delay(samples: Samples, setting: Setting, within: float = np.inf) -> float:
    """Return the dead time of the inputs under which rates are described shortest.

    `within` is how long other trajectories last at least, which it must leave to be followed.
    """
    found: list[tuple[float, float]] = []
    plain = replace(setting, operators=_PLAIN)
    every = delays(samples, within)
    for delay in every:
        # All are compared on the same rows: where inputs do not change, none is better.
        posed = delayed(samples, delay, every[-1])
        problem, smoothed, library = _pose(posed, plain)
        # The noise of a discrete system is what the terms leave, so it says itself how good
        # they are; that of a continuous one does not depend on the inputs.
        score = (
            float(np.log(problem.sigma).sum())
            if setting.discrete
            else misfit(problem, smoothed, library, _POLYNOMIAL)
        )
        # A dead time is a number more to be described, and which of them it is.
        own = np.log(len(posed.times)) + 2.0 * np.log(len(every)) if delay > 0.0 else 0.0
        found.append((len(posed.times) * score + float(own), delay))
    return min(found)[1]


def _pose(samples: Samples, setting: Setting) -> tuple[Problem, Smooth, Library]:
    smoothed = as_measured(samples) if setting.discrete else smooth(samples)
    near = smoothed.values()
    table = np.concatenate([near, samples.inputs], axis=1)
    rows = {name: table[:, i] for i, name in enumerate(setting.columns)}
    library = make_library(setting.columns, setting.operators, rows)
    known = {setting.states.index(name): rate for name, rate in setting.known.items()}
    sigma = (
        step_noise(samples, library)
        if setting.discrete
        else np.maximum(smoothed.sigma, COARSE * samples.states.std(axis=0))
    )
    problem = Problem(
        samples, setting.columns, sigma, near, known, setting.discrete, setting.conserved,
        setting.mirrored,
    )  # fmt: skip
    return problem, smoothed, library


def _split(samples: Samples) -> tuple[Samples, Samples]:
    """Hold whole trajectories for validation where there are enough, else the last rows of each."""
    n = samples.n_segments
    if n >= _PUBLIC_SHARE:
        held = list(range(_PUBLIC_SHARE - 1, n, _PUBLIC_SHARE))
        return samples.take([s for s in range(n) if s not in held]), samples.take(held)
    early, late = samples.split_ends(_PUBLIC_SHARE)
    return early, late or early


def _candidates(posed: _Posed) -> tuple[tuple[Candidate, ...], FloatArray]:
    """Return a system by every route, and the least noise that any of them leaves.

    They are compared at that noise: one that leaves more has that to explain.
    """
    problem, smoothed, library = posed.problem, posed.smoothed, posed.library
    found: list[tuple[Route, int, Model]] = []
    sigma = problem.sigma
    for level in (_POLYNOMIAL, library.top):
        picks = weak_picks(problem, smoothed, library, level)
        starts = [picks, *(one.picks for _, _, one in reversed(found))]
        if not problem.discrete:
            rough = slope_picks(problem, smoothed, library, level)
            found.append(("smoothed derivatives", level, Model(rough)))
            starts.insert(1, rough)
        found.append(
            ("one-step regression" if problem.discrete else "weak form", level, Model(picks))
        )
        model, known = _refined(_first_sound(starts, problem, library), problem, library, level)
        found.append(("shooting", level, model))
        sigma = np.minimum(sigma, known.sigma)
    posed = replace(posed, problem=problem.with_noise(sigma))
    return tuple(_candidate(*one, posed) for one in found), sigma


def _first_sound(
    starts: Sequence[Sequence[Pick]], problem: Problem, library: Library
) -> Sequence[Pick]:
    """Return the first terms whose solutions follow the samples to their ends, or the first."""
    sound = (s for s in starts if (shot := polish(s, problem, library).shot) and shot.sound)
    return next(sound, starts[0])


def _refined(
    picks: Sequence[Pick], problem: Problem, library: Library, level: int
) -> tuple[Model, Problem]:
    """Refine with the noise as the residuals show it, where smoothing thought it larger."""
    model = _improved(picks, problem, library, level)
    if level == library.top and not _explains(model):
        other = _improved(read(problem, library, level), problem, library, level)
        model = min(model, other, key=lambda one: one.length)
    for _ in range(_NOISE_ROUNDS):
        sigma = residual_noise(model.shot)
        if sigma is None or (sigma > _SMALLER * problem.sigma).all():
            return model, problem
        problem = problem.with_noise(np.minimum(sigma, problem.sigma))
        model = _improved(model.picks, problem, library, level)
    return model, problem


def _improved(picks: Sequence[Pick], problem: Problem, library: Library, level: int) -> Model:
    return reconsider(refine(picks, problem, library, level), problem, library, level)


def _explains(model: Model) -> bool:
    """Say whether a model follows the samples to what the noise may be."""
    shot = model.shot
    return shot is not None and shot.sound and shot.chi2 <= _UNEXPLAINED * max(shot.n_free, 1)


def residual_noise(shot: Shot | None) -> FloatArray | None:
    """Return the standard deviation of the residuals of each state."""
    if shot is None or not shot.sound:
        return None
    residuals = shot.samples.states - shot.solution.states
    share = max(shot.n_free, 1) / residuals.size
    least = RESOLVED * shot.samples.states.std(axis=0) + 1e-300
    return np.maximum(np.sqrt(np.mean(np.square(residuals), axis=0) / share), least)


def _candidate(route: Route, level: int, model: Model, posed: _Posed) -> Candidate:
    """Follow all public trajectories: those held for validation count like the others."""
    problem, held = posed.problem, posed.held
    errors = [followed_error(model.picks, problem, each) for each in (held, problem.samples)]
    counts = [n_free(each) for each in (held, problem.samples)]
    length = sum(error * n for error, n in zip(errors, counts, strict=True))
    return Candidate(
        route, level, model, errors[0], length + terms_length(model.picks, problem, posed.library)
    )


def n_free(samples: Samples) -> int:
    """Count the numbers that are left when starts are fitted."""
    return samples.states.size - samples.n_segments * samples.n_states


def followed_error(picks: Sequence[Pick], problem: Problem, held: Samples) -> float:
    """Return chi2 per free number on trajectories of which only the starts are fitted."""
    flow, values = make_flow(picks, problem)
    still = flow.held_at(values)
    shot = shoot(still, held, np.zeros(0), held.start_rows(), problem.sigma)
    return shot.chi2 / max(shot.n_free, 1) if shot.sound else np.inf


def _choose(candidates: Sequence[Candidate]) -> Candidate:
    """Return the one that describes all public trajectories shortest.

    Of those with the same terms it is the one whose numbers were fitted by shooting.
    """
    if not np.isfinite([one.length for one in candidates]).any():
        return min(candidates, key=lambda one: (one.model.length, len(one.model.picks)))
    best = min(candidates, key=lambda one: one.length)
    alike = [one for one in candidates if named(one.model.picks) == named(best.model.picks)]
    return min(alike, key=lambda one: (one.route != "shooting", one.length))


def _fit_all(
    best: Candidate, problem: Problem, smoothed: Smooth, library: Library
) -> tuple[Model, Problem]:
    """Fit the chosen system to all samples; shooting refines it, where its solutions hold."""
    model, known = _refined(best.model.picks, problem, library, library.top)
    left = residual_noise(model.shot)
    if left is not None:
        # Noise that only got smaller on the way is noise of the luckiest set of terms.
        known = known.with_noise(np.maximum(known.sigma, np.minimum(left, smoothed.sigma)))
        return share(polish(model.picks, known, library), known, library), known
    choose = slope_picks if best.route == "smoothed derivatives" else weak_picks
    picks = choose(problem, smoothed, library, best.level)
    return polish(picks, problem, library), problem
