"""The contract of worlds."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from alder.errors import AlderError
from alder.expr.nodes import Apply, Const, Expr, Var
from alder.expr.operators import OPERATORS
from alder.ports import World
from alder.records.experiment import Experiment, FailedRun, Pool, Trajectory
from alder.records.grammar import Grammar
from alder.records.law import Law
from alder.records.noise import Noise
from alder.records.scope import Scope
from alder.testing.contract import fingerprint, report
from alder.worlds.binding import bind


def check_forecast(make: Callable[[], object], *, grammar: Grammar, law: Law | None = None) -> None:
    """Check what a world says before anything is run, as `check_world` does; nothing is run."""
    report(make, _forecast_breaches(make, grammar, law))


def check_world(
    make: Callable[[], object],
    *,
    grammar: Grammar,
    law: Law | None = None,
    n_runs: int = 3,
    repeatable: bool = True,
) -> None:
    """Check a world, bound or not; `n_runs` safe experiments of it are run, twice.

    The pool is of one length, finite, without outcomes, and always the same; a prediction is
    finite, one line for each experiment, and does not depend on the order of asking; each run
    brings its rows with all columns of the study, or a reason in one line; unsafe and unknown
    experiments are refused with an `AlderError`; and, where `repeatable`, a fresh world shows the
    same again.
    """
    report(make, _forecast_breaches(make, grammar, law))
    report(make, _plant_breaches(make, grammar, n_runs))
    if repeatable:
        report(make, _repeat_breaches(make, grammar, n_runs))


def _forecast_breaches(
    make: Callable[[], object], grammar: Grammar, law: Law | None
) -> Iterator[str]:
    world = bind(make(), grammar)
    pool = world.pool()
    yield from _pool_breaches(pool, grammar)
    if fingerprint(pool) != fingerprint(world.pool()):
        yield "its pool is another one when asked again"
    if fingerprint(pool) != fingerprint(bind(make(), grammar).pool()):
        yield "a fresh world has another pool"
    law = _plain_law(grammar) if law is None else law
    some = np.arange(min(len(pool), 5), dtype=np.intp)
    try:
        predicted = world.predict(law, some)
        backwards = world.predict(law, some[::-1].copy())
    except AlderError as error:
        yield f"it cannot say what a law predicts: {error}"
        return
    if predicted.ndim != 2 or len(predicted) != len(some):
        yield f"a prediction of {len(some)} experiments has the shape {predicted.shape}"
    elif not np.isfinite(predicted).all():
        yield "a prediction is not finite"
    elif not np.array_equal(predicted[::-1], backwards):
        yield "a prediction depends on the order in which experiments are asked for"


def _pool_breaches(pool: Pool, grammar: Grammar) -> Iterator[str]:
    n = len(pool.ids)
    if len(set(pool.ids)) < n:
        yield "two experiments of the pool have the same id"
    if grammar.target.name in pool.columns:
        yield f"the pool shows the target `{grammar.target.name}`, which is hidden until a run"
    for name, column in (*pool.columns.items(), ("cost", pool.cost)):
        if len(column) != n:
            yield f"`{name}` has {len(column)} values for {n} experiments"
        elif not np.isfinite(column).all():
            yield f"`{name}` is not finite for every experiment"
    if (pool.cost < 0).any():
        yield "an experiment has a negative cost"
    if pool.safe.dtype != np.bool_ or len(pool.safe) != n:
        yield "`safe` is not one True or False for each experiment"


def _plain_law(grammar: Grammar) -> Law:
    """Return the sum of all variables as a law."""
    structure: Expr = Const(1.0)
    for name in grammar.variable_names:
        structure = Apply(OPERATORS["add"], (structure, Var(name)))
    return Law(
        structure=structure,
        target=grammar.target,
        variables=tuple(grammar.variables),
        coefficients=(),
        covariance=np.zeros((0, 0)),
        residual_df=0,
        noise=Noise(0.0, origin="none"),
        scope=Scope({}),
        floors=grammar.floors,
    )


def _plant_breaches(make: Callable[[], object], grammar: Grammar, n_runs: int) -> Iterator[str]:
    world = bind(make(), grammar)
    pool = world.pool()
    if len(tuple(world.run([]))):
        yield "it gave rows when no experiment was asked for"
    stranger = Experiment("an experiment nobody offers", {})
    yield from _refusal_breaches(world, stranger, "an experiment that it does not offer")
    unsafe = np.flatnonzero(~pool.safe)
    if len(unsafe):
        one = pool.experiment(int(unsafe[0]))
        yield from _refusal_breaches(world, one, "an unsafe experiment")
    asked = _safe_experiments(pool, n_runs)
    results = list(world.run(asked))
    if [result.experiment for result in results] != [one.id for one in asked]:
        yield "its results are not one for each experiment, in the order they were asked for"
    for result in results:
        yield from _result_breaches(result, grammar)


def _refusal_breaches(world: World, experiment: Experiment, what: str) -> Iterator[str]:
    try:
        world.run([experiment])
    except AlderError:
        return
    yield f"it ran {what}; an AlderError is expected"


def _result_breaches(result: Trajectory | FailedRun, grammar: Grammar) -> Iterator[str]:
    match result:
        case FailedRun(_, reason):
            if not reason.strip() or "\n" in reason:
                yield "the reason of a failed run is not one line of words"
        case Trajectory():
            for name in (*grammar.variable_names, grammar.target.name):
                if name not in result.columns:
                    yield f"the rows of a run have no column `{name}`"
            lengths = {len(column) for column in result.columns.values()}
            if len(lengths) != 1 or not result.n_rows:
                yield "the rows of a run are none, or its columns have different lengths"
            if not all(np.isfinite(column).all() for column in result.columns.values()):
                yield "a run brought a number that is not finite; that is a FailedRun"


def _repeat_breaches(make: Callable[[], object], grammar: Grammar, n_runs: int) -> Iterator[str]:
    first, second = bind(make(), grammar), bind(make(), grammar)
    asked = _safe_experiments(first.pool(), n_runs)
    if fingerprint(list(first.run(asked))) != fingerprint(list(second.run(asked))):
        yield "a fresh world shows something else for the same experiments (repeatable=False?)"


def _safe_experiments(pool: Pool, n: int) -> Sequence[Experiment]:
    return [pool.experiment(int(row)) for row in np.flatnonzero(pool.safe)[:n]]
