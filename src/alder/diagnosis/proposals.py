"""No valid proposal: what the checks refused, and which setting would let it pass."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from alder.diagnosis.signs import Sign, count
from alder.diagnosis.view import View
from alder.expr.operators import OPERATORS
from alder.records.nextstep import NextStep
from alder.records.outcome import Cause
from alder.records.problem import Problem

_CAUSE: Cause = "no-valid-proposal"
_QUOTED = re.compile(r"`([^`]+)`")
_NODES = re.compile(r"has (\d+) nodes")
_WIDEST = 24


def no_valid_proposal(view: View) -> Sign:
    """Ask whether anything passed the checks, and what stood in the way."""
    evidence = view.evidence
    n_proposals = count(len(evidence.attempts), "proposal")
    n_fitted = sum(attempt.fit is not None for attempt in evidence.attempts)
    if n_fitted:
        return Sign(_CAUSE, f"{n_fitted} of {n_proposals} passed the checks and could be fitted.")
    if not evidence.attempts and view.stop == "budget":
        return Sign(_CAUSE, "Time was over before anything could be proposed.", is_made=False)
    problems = [problem for attempt in evidence.attempts for problem in attempt.problems]
    if not problems:
        return Sign(
            _CAUSE,
            "Nothing was proposed.",
            "Allow more operators or nodes in the grammar, or give a guess.",
            NextStep("correct", settings={"max_nodes": 2 * evidence.grammar.max_nodes}),
        )
    code, times = Counter(problem.code for problem in problems).most_common(1)[0]
    example = next(problem for problem in problems if problem.code == code)
    step = correction(problems, evidence.grammar.max_nodes)
    return Sign(
        _CAUSE,
        f"None of {n_proposals} passed the checks; {times} times the problem was {code}: "
        f"{example.message}",
        _advice(step),
        step,
    )


def correction(problems: Sequence[Problem], max_nodes: int) -> NextStep:
    """Return the change of the grammar, or of the proposer, that the problems call for."""
    codes = Counter(problem.code for problem in problems)
    operators = _first_quoted(problems, "operator-not-in-grammar")
    variables = _first_quoted(problems, "unknown-variable")
    settings: dict[str, float | str] = {}
    counts = [
        int(found.group(1))
        for problem in problems
        if problem.code == "too-large" and (found := _NODES.search(problem.message))
    ]
    if codes["too-large"]:
        settings["max_nodes"] = max((*counts, max_nodes + 1))
    if codes["too-deep"]:
        settings["max_depth"] = _WIDEST
    if codes["wrong-unit"]:
        settings["units"] = "absorb"
    known = tuple(name for name in operators if name in OPERATORS)
    if not (known or variables or settings):
        settings["proposer"] = "search"
    return NextStep("correct", operators=known, variables=variables, settings=settings)


def _first_quoted(problems: Iterable[Problem], code: str) -> tuple[str, ...]:
    """Return the names that problems of one code begin with, the most frequent first."""
    names = [
        found.group(1)
        for problem in problems
        if problem.code == code and (found := _QUOTED.search(problem.message))
    ]
    return tuple(name for name, _ in Counter(names).most_common())


def _advice(step: NextStep) -> str:
    wishes: list[str] = []
    if step.operators:
        wishes.append(f"allow {' and '.join(step.operators)}")
    if step.variables:
        wishes.append(f"add {' and '.join(step.variables)} to the variables")
    if "max_nodes" in step.settings:
        wishes.append(f"allow {step.settings['max_nodes']} nodes")
    if "max_depth" in step.settings:
        wishes.append(f"allow trees {step.settings['max_depth']} deep")
    if "units" in step.settings:
        wishes.append("let parameters absorb units")
    if not wishes:
        return "Mend the proposer, whose answers could not be read, or use the built-in search."
    said = ", ".join(wishes)
    return f"{said[0].upper()}{said[1:]}; or mend the proposer."
