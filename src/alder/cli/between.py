"""`alder ask --between A B`: the cheapest safe experiment that decides between laws."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from alder.cli.layout import show_lines, terminal
from alder.errors import BadStudy

if TYPE_CHECKING:
    from alder.records.evidence import Evidence
    from alder.records.law import Law
    from alder.studyfile import StudySettings

REFUSED = 3


def ask_between(
    settings: "StudySettings", wanted: tuple[str, str], ledger: Path | None, following: str
) -> None:
    """Print the crucial experiment, how far it separates the laws, and the chance it decides.

    A law is a file that was saved, the letter of a rival in the ledger, or a formula, which is
    fitted to the public rows of the ledger. Ends with the status of a refusal where no safe
    experiment separates the two.
    """
    from alder.cli.experiments import show_experiments
    from alder.selection.crucial import Demand
    from alder.study.crucial import decide_between

    evidence, rivals = (None, {}) if ledger is None else _from_ledger(ledger)
    found = [_law(word, settings, evidence, rivals) for word in wanted]
    names = [Path(word).stem if word.endswith(".json") else word for word in wanted]
    laws = dict(zip(names if names[0] != names[1] else wanted, found, strict=True))
    if len(laws) < 2 or found[0] == found[1]:
        raise BadStudy(
            f"`--between {wanted[0]} {wanted[1]}` names one law twice; name two different laws."
        )
    crucial = decide_between(
        laws, settings.world, demand=Demand(), limits=settings.limits, evidence=evidence
    )
    console = terminal()
    lines = {name: str(law) for name, law in laws.items()}
    if crucial is None:
        lines["nothing"] = "no safe experiment that is left separates the two laws"
        show_lines(console, lines)
        raise typer.Exit(REFUSED)
    show_lines(console, lines)
    show_experiments(console, [crucial.experiment], settings)
    first, second = laws
    lines = {
        "separates": f"{first} from {second} by {crucial.sigmas:.3g} noise sd",
        "decides": f"with chance {crucial.chance:.0%}: one run then leaves the law that holds "
        f"with a probability of at least {crucial.confidence:.0%}",
        "cost": f"{crucial.experiment.cost:g}",
    }
    if ledger is not None:
        lines["next"] = following
    show_lines(console, lines)


def _from_ledger(ledger: Path) -> "tuple[Evidence, dict[str, Law]]":
    """Return what is public in a ledger, and its rivals by letter."""
    from alder.ledger.store import read_events
    from alder.report.rivals import rivals
    from alder.report.story import tell

    story = tell(read_events(ledger))
    evidence = story.state.evidence
    if evidence is None:
        raise BadStudy(f"{ledger.name} holds no rows yet; `alder ask` or `alder discover` begins.")
    return evidence, {rival.label: rival.law for rival in rivals(story)}


def _law(
    word: str, settings: "StudySettings", evidence: "Evidence | None", rivals: "dict[str, Law]"
) -> "Law":
    """Return the law a word means."""
    from alder.records.law import Law

    if word.endswith(".json"):
        law = Law.load(word)
        _require_known(word, law, settings)
        return law
    if word in rivals:
        return rivals[word]
    if word.isidentifier() and word.isupper():
        known = f"its rivals are {', '.join(rivals)}" if rivals else "it has no rivals yet"
        where = "the ledger" if evidence is not None else "a ledger (`--ledger`)"
        raise BadStudy(
            f"`{word}` is no rival of {where}; {known}. A law is also a file such as law.json, "
            "or a formula."
        )
    if evidence is None:
        raise BadStudy(
            f"`{word}` is no file of a law, and without `--ledger` there are no rows to fit a "
            "formula to; add `--ledger run.alder`, or name a file such as law.json."
        )
    return _fitted(word, evidence)


def _fitted(formula: str, evidence: "Evidence") -> "Law":
    """Fit a formula to all public rows."""
    from alder.expr.text import parse
    from alder.fitting.evidence import fit_all
    from alder.records.effort import THOROUGH
    from alder.records.proposal import Proposal
    from alder.study.parts import require_in_grammar

    proposal = Proposal(parse(formula, evidence.grammar.variable_names))
    require_in_grammar(proposal, evidence.grammar)
    return fit_all([proposal], evidence, THOROUGH)[0].law


def _require_known(word: str, law: "Law", settings: "StudySettings") -> None:
    """Refuse a law of another world."""
    target, names = settings.grammar.target.name, settings.grammar.variable_names
    if law.target.name != target:
        raise BadStudy(
            f"{word} is a law of `{law.target.name}`, and {settings.name} is about `{target}`."
        )
    strange = next((v.name for v in law.variables if v.name not in names), None)
    if strange is not None:
        raise BadStudy(
            f"{word} uses `{strange}`, which is no variable of {settings.name}; "
            f"{', '.join(names)} are."
        )
