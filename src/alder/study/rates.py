"""How the studies of all rates of a system end together."""

from collections.abc import Mapping

from alder.records.budget import Spent
from alder.records.law import Law
from alder.records.outcome import Outcome, Refusal
from alder.records.verdict import Verdict


def best_laws(outcomes: Mapping[str, Outcome]) -> tuple[dict[str, Law], list[str]]:
    """Return the best law of each rate, and the states whose law was not admitted."""
    laws: dict[str, Law] = {}
    missing: list[str] = []
    for state, outcome in outcomes.items():
        law = outcome.law
        if law is None:
            missing.append(state)
            law = None if outcome.refusal is None else outcome.refusal.candidate
        if law is not None:
            laws[state] = law
    return laws, missing


def all_spent(outcomes: Mapping[str, Outcome], n_shared: int) -> Spent:
    """Add up what the studies of all rates spent; experiments are shared."""

    def total(name: str) -> float:
        return sum(getattr(outcome.spent, name) for outcome in outcomes.values())

    return Spent(
        proposals=int(total("proposals")), queries=n_shared, cost=total("cost"),
        seconds=total("seconds"), tokens=int(total("tokens")), fits=int(total("fits")),
        money=total("money"),
    )  # fmt: skip


def not_kept(quantity: str) -> Refusal:
    """Say that laws do not keep a quantity."""
    return Refusal(
        "excitation",
        f"Every law holds on protected rows, but together they do not keep `{quantity}`.",
        "Give initial trajectories from more starts; or it is not conserved: leave it out.",
    )


def not_together(verdict: Verdict) -> Refusal:
    """Say what the vault found where each law holds by itself."""
    if verdict.category == "budget-spent":
        return Refusal(
            "budget",
            "The verifier may reveal nothing more.",
            "Begin a new study with other protected trajectories.",
        )
    reason = (
        "Every law holds on protected rows, but followed together they "
        + ("diverge" if verdict.category == "unstable" else "leave")
        + " where protected trajectories do not."
    )
    advice = "Give initial trajectories from more starts, or longer ones, and try again."
    return Refusal("excitation", reason, advice)
