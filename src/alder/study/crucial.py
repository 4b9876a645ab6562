"""Which experiment decides between laws: a question to a world, without a study around it."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from alder.errors import BadStudy
from alder.records.budget import Budget
from alder.records.evidence import Candidate, Evidence
from alder.records.experiment import Experiment, Trajectory
from alder.records.grammar import Grammar
from alder.records.law import Law
from alder.records.noise import Noise
from alder.records.roles import Roles
from alder.selection.candidates import letters
from alder.selection.crucial import CrucialExperiment, Demand, Question, find_crucial
from alder.selection.feasible import feasible
from alder.selection.noise import Unit
from alder.selection.safety import permitted, require_foreseen
from alder.study.parts import Safe, as_limits
from alder.worlds.binding import bind
from alder.worlds.offers import Offers


def crucial_experiment(
    laws: Sequence[Law],
    world: object,
    *,
    noise: Noise | float | None = None,
    chance: float = 0.9,
    confidence: float = 0.95,
    limits: Safe | None = None,
) -> CrucialExperiment | None:
    """Return the cheapest safe experiment of a world whose one run decides between laws.

    It is the cheapest that decides with at least this `chance`, which means that the law that holds
    gets a posterior of at least `confidence`, all being equally probable before. Where none does,
    it is the one most likely to decide; where no experiment separates any two of the laws, None.
    What an experiment is, is the world's to say: a point, or a start, the shape of an input and a
    horizon. `noise` is that of one outcome, the smallest of the laws' own where it is not given.
    `limits` on what an experiment would show hold under every law, as in `discover`. Nothing is
    run. Laws are labelled A, B, ... in their order.

    Example: `print(alder.crucial_experiment([one.law, other.law], world))`
    """
    named = {letters(i): law for i, law in enumerate(laws)}
    demand = Demand(chance, confidence)
    return decide_between(named, world, demand=demand, noise=noise, limits=limits)


def decide_between(
    laws: dict[str, Law],
    world: object,
    *,
    demand: Demand,
    noise: Noise | float | None = None,
    limits: Safe | None = None,
    evidence: Evidence | None = None,
) -> CrucialExperiment | None:
    """Do the same for laws with labels; experiments of `evidence` that were run are left out."""
    own = _grammar_of(laws)
    grammar = own if evidence is None else evidence.grammar
    unit = _unit(list(laws.values()), noise)
    roles = Roles() if evidence is None else evidence.roles
    bound = bind(world, grammar, roles)
    known = evidence or Evidence(grammar, roles, Budget(), Trajectory({}))
    candidates = tuple(Candidate(law, 1.0 / len(laws), label) for label, law in laws.items())
    if limits is None:
        positions = feasible(bound.pool(), known)
    else:
        kept = as_limits(limits)
        require_foreseen(kept, bound, grammar.target.name)
        positions = permitted(kept, candidates, known, bound)
    found = find_crucial(Question(candidates, bound, unit, demand), positions)
    if found is None:
        return None
    position, crucial = found
    return replace(crucial, experiment=_whole(world, position, crucial.experiment))


def _grammar_of(laws: dict[str, Law]) -> Grammar:
    """Return the names of variables and target; raise `BadStudy` for laws that have no rivalry."""
    if len(laws) < 2:
        raise BadStudy(f"An experiment decides between two laws or more; got {len(laws)}.")
    targets = dict.fromkeys(law.target.name for law in laws.values())
    if len(targets) > 1:
        raise BadStudy(
            f"The laws are about different targets, {' and '.join(targets)}; an experiment decides "
            "between laws of one target."
        )
    first = next(iter(laws.values()))
    if any(law.objective == "events" for law in laws.values()):
        raise BadStudy(
            "A law of events gives odds, and an event has no noise in standard deviations; an "
            "experiment is chosen between laws of a measured target."
        )
    names = {v.name: v for law in laws.values() for v in law.variables}
    return Grammar(tuple(names.values()), first.target)


def _unit(laws: Sequence[Law], noise: Noise | float | None) -> Unit:
    """Return the noise of one outcome; that of the closest law, for a bad one blames the rows."""
    if noise is not None:
        given = noise if isinstance(noise, Noise) else Noise(float(noise), origin="given")
        least = given
    else:
        own = [law.noise for law in laws if law.noise.origin != "none"]
        least = min(own, key=lambda one: (one.additive, one.proportional), default=Noise(0.0))
    if not (least.additive > 0.0 or least.proportional > 0.0):
        raise BadStudy(
            "None of the laws says how noisy an outcome is, so nothing can be said in noise "
            "standard deviations; give `noise`, the standard deviation of one outcome."
        )
    return Unit(least, np.finfo(np.float64).tiny)


def _whole(world: object, position: int, experiment: Experiment) -> Experiment:
    """Return the experiment with all its settings; selectors see the numbers alone."""
    offers = getattr(world, "offers", None)
    if not isinstance(offers, Offers):
        return experiment
    return replace(experiment, settings=offers.settings[position])
