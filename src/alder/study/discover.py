"""Discover a law: one call for a whole study."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

from alder.records.outcome import Outcome
from alder.study.study import Study

P = ParamSpec("P")


def _with_arguments_of(
    made: Callable[P, Study],
) -> Callable[[Callable[[Study], Outcome]], Callable[P, Outcome]]:
    """Give a function of a study the arguments that make one, so that they are written once."""

    def decorate(function: Callable[[Study], Outcome]) -> Callable[P, Outcome]:
        @wraps(function)
        def whole(*args: P.args, **kwargs: P.kwargs) -> Outcome:
            with made(*args, **kwargs) as study:
                return function(study)

        signature = inspect.signature(made)
        whole.__signature__ = signature.replace(return_annotation=Outcome)  # pyright: ignore[reportAttributeAccessIssue]
        whole.__annotations__ = {
            **{name: p.annotation for name, p in signature.parameters.items()},
            "return": Outcome,
        }
        return whole

    return decorate


@_with_arguments_of(Study)
def discover(study: Study) -> Outcome:
    """Propose, fit, verify and experiment until a law is admitted or the study refuses.

    The arguments are those of `Study`, which is opened, run to its end and closed.

    Example: `alder.discover(world, grammar, initial=rows, budget=alder.Budget(queries=24))`

    `initial` and `validation` are public rows; `protected` ones go to the verifier's own process.
    Without `protected` a quarter of the initial rows is split off before anything else sees them,
    by group or time where those columns are named. `sums` names the column that says which
    observation a row belongs to, where the target, repeated on each of its rows, is the sum of the
    law over them. `guesses` are laws to start from. `limits` say what an experiment may show
    under every law that stands: a mapping of columns to their two ends, `Limits`, or a function of
    the forecast columns of one experiment. `ledger` is a file from which the study resumes; without
    it a private temporary one is used. `watch` is called after every event, for progress; where it
    has a method `glimpse`, that is told between events how far the search is.
    """
    return study.run()
