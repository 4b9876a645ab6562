"""What a study has done so far, for a brief: attempts with their fates, and experiments."""

from collections.abc import Mapping

from alder.expr.text import to_text
from alder.proposers.llm.instructions import PROBLEMS
from alder.proposers.llm.names import Names
from alder.proposers.llm.tables import short
from alder.records.evidence import Attempt, Evidence, Misfit
from alder.records.experiment import Setting
from alder.records.problem import Problem
from alder.spelling import printable

_LAW = 400
_SENTENCE = 200
_POINTER = 80
_MOST_PROBLEMS = 4
_MOST_MISFITS = 4
_MOST_COEFFICIENTS = 12


def attempts(
    evidence: Evidence, names: Names, best: int | None, at_most: int
) -> list[dict[str, object]]:
    """Describe the last attempts, and the best one in any case."""
    n = len(evidence.attempts)
    kept = [i for i in range(n) if i >= n - at_most or i == best]
    return [_attempt(i, evidence.attempts[i], names) for i in kept]


def _attempt(number: int, attempt: Attempt, names: Names) -> dict[str, object]:
    fit, proposal = attempt.fit, attempt.proposal
    law = None if proposal is None else to_text(names.rename(proposal.structure))
    coefficients = () if fit is None else fit.coefficients[:_MOST_COEFFICIENTS]
    rationale = "" if proposal is None or names.replaced else proposal.rationale
    return {
        "number": number + 1,
        "law": None if law is None else printable(law, _LAW),
        "rationale": printable(rationale, _SENTENCE),
        "problems": [_problem(one, names) for one in attempt.problems[:_MOST_PROBLEMS]],
        "coefficients": [
            {"name": printable(one.name, 20), "value": short(one.value)} for one in coefficients
        ],
        "error": None if fit is None else short(fit.nmse),
        "held_out_error": _number(attempt.validation_nmse),
        "misfits": [_misfit(one, names) for one in attempt.misfits[:_MOST_MISFITS]],
        "verdict": attempt.category,
    }


def _number(value: float | None) -> float | None:
    return None if value is None else short(value)


def _problem(problem: Problem, names: Names) -> dict[str, object]:
    """Say what is wrong; in other names the sentence for the code stands in, which names none."""
    sentence = PROBLEMS[problem.code] if names.replaced else problem.message
    return {
        "code": problem.code,
        "at": printable(problem.pointer, _POINTER) if not names.replaced else "",
        "why": printable(sentence, _SENTENCE),
    }


def _misfit(misfit: Misfit, names: Names) -> dict[str, object]:
    along = names.shown.get(misfit.along, "")
    where = misfit.where.replace(f"where {misfit.along} ", f"where {along} ", 1)
    return {
        "along": along,
        "strength": short(misfit.strength),
        "where": printable(where, _SENTENCE),
    }


def experiments(evidence: Evidence, names: Names, at_most: int) -> dict[str, object]:
    """Describe the last experiments by their settings; what they showed is among the rows."""
    settings = {choice.experiment.id: choice.experiment.settings for choice in evidence.choices}
    n_rows = {one.experiment: one.n_rows for one in evidence.trajectories}
    failed = {one.experiment: one.reason for one in evidence.failures}
    ran = [name for name in settings if name in n_rows or name in failed]
    return {
        "run": len(n_rows),
        "failed": len(failed),
        "last": [
            {
                "settings": _settings(settings[name], names),
                "rows": n_rows.get(name, 0),
                "failed_because": None
                if name not in failed
                else ("" if names.hidden else printable(failed[name], _SENTENCE)),
            }
            for name in (ran[-at_most:] if at_most else [])
        ],
    }


def _settings(settings: Mapping[str, Setting], names: Names) -> list[dict[str, object]]:
    """List settings; one that is no variable is a knob, whose name may tell what is hidden."""
    order = {name: i for i, name in enumerate(names.variables)}
    shown: list[dict[str, object]] = []
    for i, name in enumerate(sorted(settings, key=lambda one: (order.get(one, len(order)), one))):
        value = settings[name]
        known = names.shown.get(name, f"knob{i}" if names.hidden else printable(name, 30))
        if isinstance(value, str):
            shown.append({"name": known, "value": "" if names.hidden else printable(value, 30)})
        else:
            shown.append({"name": known, "value": short(float(value))})
    return shown
