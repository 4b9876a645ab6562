"""Hypothesis strategies for the records that a ledger holds."""

import math
from typing import get_args

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from strategies import exprs

from alder.expr.nodes import Expr, parameters, variables
from alder.expr.operators import OPERATORS, Floors
from alder.ledger.configuration import Configuration
from alder.records.budget import Budget, Spent
from alder.records.coefficient import Coefficient, CoefficientState
from alder.records.evidence import Candidate, Choice, Misfit, Separation
from alder.records.experiment import Experiment, Trajectory
from alder.records.fit import Fit
from alder.records.grammar import Grammar, Nesting
from alder.records.law import Law
from alder.records.noise import Noise
from alder.records.outcome import CAUSES, Finding, Refusal, Ruling
from alder.records.problem import Problem, ProblemCode
from alder.records.proposal import Bounds, Proposal
from alder.records.roles import Roles
from alder.records.scope import Scope
from alder.records.variable import Kind, Role, Variable
from alder.records.verdict import Category, Commitment, Verdict

NUMBERS = st.floats(allow_nan=False)
FINITE = st.floats(allow_nan=False, allow_infinity=False)
COUNTS = st.integers(0, 2**40)
TEXTS = st.text(max_size=8)
NAMES = st.text(min_size=1, max_size=6) | st.sampled_from(["$array", "$float", "$$", "experiment"])
STRUCTURES = exprs(max_leaves=6)

ranges = st.tuples(FINITE, FINITE).filter(lambda ends: ends[0] < ends[1])


def variables_named(name: st.SearchStrategy[str]) -> st.SearchStrategy[Variable]:
    return st.builds(
        Variable,
        name=name,
        unit=st.sampled_from([None, "1", "m/s^2"]),
        role=st.none() | st.sampled_from(get_args(Role)),
        range=st.none() | ranges,
        description=TEXTS,
        kind=st.sampled_from(get_args(Kind)),
    )


operators = st.sampled_from(sorted(OPERATORS))
grammars = st.builds(
    Grammar,
    variables=st.lists(
        variables_named(NAMES), min_size=1, max_size=3, unique_by=lambda variable: variable.name
    ),
    target=variables_named(st.just("the target")),
    operators=st.lists(operators, min_size=1, max_size=4).map(tuple),
    max_nodes=st.integers(1, 99),
    max_depth=st.integers(1, 99),
    floors=st.builds(Floors, *[st.floats(1e-300, 1e300)] * 4),
    units=st.sampled_from(["absorb", "strict"]),
    angles_in_trig=st.booleans(),
    indicators_as_factors=st.booleans(),
    nesting=st.lists(st.builds(Nesting, operators, operators, st.integers(0, 3)), max_size=2),
)
maybe_names = st.none() | NAMES
roles = st.builds(Roles, maybe_names, maybe_names, maybe_names, maybe_names)
budgets = st.builds(
    Budget,
    proposals=st.integers(1, 99),
    queries=COUNTS,
    batch=st.integers(1, 99),
    cost=st.floats(0.0, math.inf),
    seconds=st.floats(0.0, math.inf),
    tokens=st.none() | COUNTS,
)
configurations = st.builds(
    Configuration,
    grammars,
    roles,
    budgets,
    seed=COUNTS,
    proposer=TEXTS,
    selector=TEXTS,
    criteria=st.dictionaries(TEXTS, FINITE | TEXTS, max_size=2),
    versions=st.dictionaries(TEXTS, TEXTS, max_size=2),
)
spent = st.builds(Spent, COUNTS, COUNTS, FINITE, FINITE, COUNTS, COUNTS)


@st.composite
def proposals(draw: st.DrawFn) -> Proposal:
    structure: Expr = draw(STRUCTURES)
    ends = st.tuples(NUMBERS, NUMBERS).filter(lambda pair: pair[0] < pair[1])
    bounded = draw(st.sets(st.sampled_from(parameters(structure) or ("",))))
    bounds = {name: Bounds(*draw(ends)) for name in sorted(bounded - {""})}
    return Proposal(structure, bounds, rationale=draw(TEXTS), scope=draw(TEXTS))


problems = st.builds(Problem, st.sampled_from(get_args(ProblemCode)), TEXTS, TEXTS)
misfits = st.builds(Misfit, NAMES, NUMBERS, TEXTS)
verdicts = st.builds(
    Verdict,
    st.sampled_from(get_args(Category)),
    COUNTS,
    bound=st.none() | NUMBERS,
    confidence=st.none() | FINITE,
)
commitments = st.builds(Commitment, NAMES, COUNTS, TEXTS)
settings_of = st.dictionaries(NAMES, FINITE | COUNTS | TEXTS | st.booleans(), max_size=3)
experiments = st.builds(Experiment, id=TEXTS, settings=settings_of, cost=NUMBERS)
separations = st.builds(Separation, TEXTS, TEXTS, NUMBERS)
choices = st.builds(
    Choice, experiments, NUMBERS, TEXTS, st.lists(separations, max_size=2).map(tuple)
)


@st.composite
def trajectories(draw: st.DrawFn) -> Trajectory:
    n_rows = draw(st.integers(0, 5) | st.integers(60, 70))
    names = draw(st.lists(NAMES, max_size=3, unique=True))
    columns = {name: draw(hnp.arrays(np.float64, n_rows)) for name in names}
    return Trajectory(columns, experiment=draw(TEXTS))


@st.composite
def fits(draw: st.DrawFn) -> Fit:
    structure: Expr = draw(STRUCTURES)
    names = parameters(structure)
    used = variables(structure)
    coefficients = tuple(
        Coefficient(
            name,
            *(draw(NUMBERS) for _ in range(4)),
            state=draw(st.sampled_from(get_args(CoefficientState))),
            unit=draw(st.sampled_from([None, "m"])),
        )
        for name in names
    )
    positive = st.floats(0.0, 1e300)
    return Fit(
        structure=structure,
        target=draw(variables_named(st.just("the target"))),
        variables=tuple(draw(variables_named(st.just(name))) for name in (*used, "unused")),
        coefficients=coefficients,
        covariance=draw(hnp.arrays(np.float64, (len(names), len(names)))),
        noise=Noise(draw(positive), draw(positive), draw(st.sampled_from(["estimated", "given"]))),
        loss=draw(NUMBERS),
        nmse=draw(NUMBERS),
        n_rows=draw(COUNTS),
        residual_df=draw(COUNTS),
        converged=draw(st.booleans()),
        reason=draw(TEXTS),
        undetermined=tuple(draw(st.lists(TEXTS, max_size=2))),
        condition=draw(NUMBERS),
        scope=Scope({name: draw(ranges) for name in used}, draw(TEXTS)),
        floors=Floors(denominator=1e-6),
        offsets=draw(st.dictionaries(NAMES, NUMBERS, max_size=2)),
        objective=draw(st.sampled_from(["squared", "events"])),
    )


laws: st.SearchStrategy[Law] = fits().map(lambda fit: fit.law)
candidates = st.builds(Candidate, laws, FINITE, TEXTS)
findings = st.builds(
    Finding, st.sampled_from(sorted(CAUSES)), st.sampled_from(get_args(Ruling)), TEXTS
)
refusals = st.builds(
    Refusal,
    st.sampled_from(sorted(CAUSES)),
    TEXTS,
    TEXTS,
    st.none() | laws,
    st.lists(laws, max_size=2).map(tuple),
    st.lists(findings, max_size=3).map(tuple),
)
