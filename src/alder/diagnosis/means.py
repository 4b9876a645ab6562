"""What a study may not do: no safe experiment on offer decides, or the budget has ended."""

import math

import numpy as np
from numpy.typing import NDArray

from alder.diagnosis.movement import Unmoved, unmoved
from alder.diagnosis.signs import SHOWN, Sign, count
from alder.diagnosis.view import View
from alder.expr.text import to_text
from alder.records.nextstep import NextStep
from alder.records.outcome import Cause

_SAFETY: Cause = "no-safe-experiment"
_BUDGET: Cause = "budget"
# What a study that ended early is worth trying with.
_PROPOSALS, _QUERIES = 4, 24
# Answers of the verifier to laws that do not hold.
_FAILS = ("inaccurate", "fails-under-shift")
# A forecast this many times the range of the rows away is none.
_FARTHEST = 10.0


def inseparable(view: View, found: Unmoved) -> Sign:
    """Say that what would decide is not safe, or that nothing on offer tells the laws apart."""
    if view.held_back:
        return _beyond_limits(view)
    if len(found.far) and view.pool is not None and not view.pool.safe[found.far].any():
        return _unsafe(view, found)
    if view.stop != "no-safe-experiment":
        n = len(view.evidence.choices)
        if not n:
            return Sign(_SAFETY, "No experiment was asked for.", is_made=False)
        return Sign(_SAFETY, f"{count(n, 'safe experiment')} on offer could be asked for.")
    reason = (
        f"{len(view.candidates)} laws are left and no safe experiment on offer separates them, "
        "because they agree within the noise about all of those"
    )
    if len(view.candidates) < 2:
        reason = "No safe experiment on offer would say more about the law that is left"
    unsafe = _settings(view, np.flatnonzero(~view.pool.safe)) if view.pool is not None else {}
    return Sign(
        _SAFETY,
        f"{reason}: {_laws(view)}.",
        "Offer experiments over wider ranges, or relax the safety limits where you can.",
        NextStep("permit", ranges=unsafe),
    )


def _unsafe(view: View, found: Unmoved) -> Sign:
    """Name the ranges in which experiments would decide that are not safe."""
    region = _settings(view, found.far)
    ranges = {name: region[name] for name in found.names if name in region}
    words = " and ".join(f"{n} from {lo:.4g} to {hi:.4g}" for n, (lo, hi) in ranges.items())
    return Sign(
        _SAFETY,
        f"{found.sentence}; the {count(len(found.far), 'experiment')} on offer beyond that would "
        f"separate the laws that are left, and not one is safe: {_laws(view)}.",
        f"Permit experiments with {words}, or find a safe way to measure there.",
        NextStep("permit", variables=found.names, ranges=ranges),
    )


def _beyond_limits(view: View) -> Sign:
    """Name the limits that every law breaks, and how far they would have to reach."""
    n_laws = count(len(view.candidates), "law")
    target = view.evidence.grammar.target.name
    # Limits on other columns, and functions, are the user's own; only the target is forecast here.
    reached = _forecast(view) if f" {target} " in f" {view.held_back} " else None
    ranges = {} if reached is None else {target: reached}
    up_to = (
        "" if reached is None else f" (to {reached[0]:.4g} to {reached[1]:.4g} of {target}, say)"
    )
    return Sign(
        _SAFETY,
        f"No experiment on offer {view.held_back} under every one of {n_laws} that stand: "
        f"{_laws(view)}.",
        f"Offer gentler experiments, relax the limit where you can{up_to}, or measure more where "
        "it is safe, so that fewer laws stand and their coefficients are known better.",
        NextStep("permit", ranges=ranges),
    )


def _forecast(view: View) -> tuple[float, float] | None:
    """Return how far the target would have to be let go.

    That is what the heaviest law expects of all experiments and half as much again, at most ten
    times the range of the rows beyond them.
    """
    pool = view.pool
    if pool is None or not len(pool) or not view.candidates:
        return None
    law = view.candidates[0].law
    if not all(variable.name in pool.columns for variable in law.variables):
        return None
    said = law.predict(pool.columns)
    rows = view.evidence.rows()[view.evidence.grammar.target.name]
    width = float(np.ptp(rows))
    low, high = float(min(said.min(), rows.min())), float(max(said.max(), rows.max()))
    room = 0.5 * (high - low)
    return (
        max(low - room, float(rows.min()) - _FARTHEST * width),
        min(high + room, float(rows.max()) + _FARTHEST * width),
    )


def _settings(view: View, which: NDArray[np.intp]) -> dict[str, tuple[float, float]]:
    """Return the ranges of the settings of some experiments."""
    pool = view.pool
    if pool is None or not len(which):
        return {}
    return {
        name: (float(pool.columns[name][which].min()), float(pool.columns[name][which].max()))
        for name in view.names
        if name in pool.columns
    }


def _laws(view: View) -> str:
    names = [
        to_text(c.law.structure, [v.name for v in c.law.variables]) for c in view.candidates[:3]
    ]
    return "; ".join(names) or "none"


def unpaid(view: View, found: Unmoved) -> Sign:
    """Say that rows which decide came too late, or that experiments which decide were not run."""
    n_read = _read(view)
    if n_read is not None and not found.is_there and view.stop == "budget":
        before = unmoved(view, n_read)
        if before.is_there:
            why = f"{before.sentence} until rows came in that no proposal could use any more"
            return _more(view, why)
    if len(found.far) and view.pool is not None and view.pool.safe[found.far].any():
        n = int(view.pool.safe[found.far].sum())
        there = f"{count(n, 'safe experiment')} on offer would move it"
        return _more(view, f"{found.sentence}, and {there}")
    return Sign(_BUDGET, f"The budget was not what ended the study: {_used(view)}.")


def spent(view: View) -> Sign:
    """Say that the budget ended, where nothing else speaks."""
    budget, used = view.evidence.budget, view.evidence.spent
    if view.stop != "budget" and used.proposals < budget.proposals:
        return Sign(_BUDGET, f"The budget was not what ended the study: {_used(view)}.")
    return _more(view, f"The budget ended before a law was admitted{_unseen(view)}")


def _unseen(view: View) -> str:
    """Say that public rows do not show what the verifier sees, where they do not.

    Then nothing public tells a missing operator or variable from too few rows: more rows, where
    laws that fit these would part, come first.
    """
    answer = view.evidence.attempts[-1].category if view.evidence.attempts else None
    if view.left is None or view.left.pattern.share >= SHOWN or answer not in _FAILS:
        return ""
    where = "elsewhere" if answer == "fails-under-shift" else "on protected rows"
    return f": the best law leaves no structure in the public rows, and laws fail {where}"


def all_refused(view: View) -> Sign:
    """Say that nothing was left to propose, where no test speaks."""
    return Sign(
        _BUDGET,
        f"Every law on offer was refused; {_used(view)}.",
        "Add guesses, or a proposer that searches further.",
        NextStep("spend", settings={"proposer": "search"}),
    )


def _read(view: View) -> int | None:
    """Return how many rows the last law was fitted to; None where it saw all of them."""
    fitted = [a.fit.n_rows for a in view.evidence.attempts if a.fit is not None]
    if not fitted or view.evidence.roles.sums is not None:
        return None
    n_rows = view.evidence.initial.n_rows + sum(t.n_rows for t in view.evidence.trajectories)
    return max(fitted) if max(fitted) < n_rows else None


def _more(view: View, why: str) -> Sign:
    """Ask for a larger budget, by name and number."""
    budget = view.evidence.budget
    settings: dict[str, float | str] = {
        "proposals": max(_PROPOSALS, 2 * budget.proposals),
        "queries": max(_QUERIES, 2 * budget.queries),
    }
    if view.pool is None or not len(view.pool):
        del settings["queries"]
    elif not math.isinf(budget.cost):
        settings["cost"] = float(settings["queries"]) * float(np.median(view.pool.cost))
    words = " and ".join(f"{value:g} {name}" for name, value in settings.items())
    if view.evidence.failures and not view.evidence.trajectories:
        return Sign(
            _BUDGET,
            f"{why}; {_used(view)}.",
            "No experiment gave rows: correct what runs them, and start again.",
            NextStep("spend", settings=settings),
        )
    return Sign(
        _BUDGET,
        f"{why}; {_used(view)}.",
        f"Resume the ledger with a larger budget: {words}.",
        NextStep("spend", settings=settings),
    )


def _used(view: View) -> str:
    used, budget = view.evidence.spent, view.evidence.budget
    return (
        f"{used.proposals} of {budget.proposals} proposals and {used.queries} of "
        f"{budget.queries} experiments were used{_failures(view)}"
    )


def _failures(view: View) -> str:
    """Say how many experiments gave no rows, and why the last did not."""
    failures = view.evidence.failures
    if not failures:
        return ""
    return f", of which {len(failures)} failed, the last since: {failures[-1].reason.rstrip('.')}"
