"""`alder audit`: does a ledger keep its promises?"""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from alder.cli.layout import show_lines, terminal

if TYPE_CHECKING:
    from rich.console import Console

    from alder.ledger.audit import Report, Reselect
    from alder.ledger.events import Replayed
    from alder.ledger.leaks import Secrets
    from alder.ports import Event, Selector

FOUND = 3

# Each check: its name, and what is said where it passes, unless that depends on what was given.
_CHECKS = {
    "chain": ("chain", "every event matches its digest"),
    "order": ("order", "choices before outcomes, commitments before proposals"),
    "budget": ("budget", "nothing was used that the budget did not allow"),
    "selection": ("choices", ""),
    "leak": ("leaks", ""),
    "commitment": ("sealed", ""),
    "digest": ("digest", "the ledger ends in the digest that was published"),
}


def command(
    ledger: Annotated[Path, typer.Argument(metavar="RUN.ALDER", help="The ledger of a study.")],
    *,
    protected: Annotated[
        list[str] | None,
        typer.Option(
            help="Protected rows, to look for in the ledger: rows.csv, or shift=rows.csv."
        ),
    ] = None,
    pool: Annotated[
        Path | None,
        typer.Option(
            help="The experiments that were on offer, to choose again; columns cost and safe count."
        ),
    ] = None,
    digest: Annotated[
        str | None, typer.Option(help="The digest of the ledger as it was published.")
    ] = None,
) -> None:
    """Example: alder audit run.alder --protected admission.csv --pool pool.csv

    Recomputes what a ledger promises: that no event was changed, moved or removed, that every
    experiment was chosen before its outcome was known, that the budget was kept and, where you
    give what is needed, that choices follow from public evidence and that nothing protected leaked.
    Exit status: 0 every promise is kept, 3 one is not.
    """
    from alder.ledger.audit import audit
    from alder.ledger.store import read_unverified

    events = read_unverified(ledger)
    state = _state(events)
    secrets = _secrets(protected or [], state)
    reselect = None if pool is None else _reselect(pool, state)
    unknown = state.configuration is not None and "predicate" in state.configuration.limits
    if unknown:
        reselect = None  # a Python function is in the ledger by its name only
    report = audit(events, reselect=reselect, secrets=secrets, digest=digest)
    console = terminal()
    skipped = {
        "selection": _why_not_replayed(pool, is_unknown=unknown),
        "leak": "" if secrets is not None else "not looked for: give --protected rows.csv",
        "commitment": _why_not_recomputed(secrets),
        "digest": "" if digest is not None else "not compared: give --digest, as it was published",
    }
    said = {
        "selection": f"they follow again from public evidence alone; {report.n_selections} "
        "selections replayed",
        "leak": _what_was_looked_for(report, secrets),
    }
    _show(console, report, skipped, said)
    name = shlex.quote(ledger.name)
    words = f"{report.n_events} events, the last digest {report.digest}"
    show_lines(console, {"ledger": words, "next": f"alder show {name}   ·   alder report {name}"})
    if not report.passed:
        raise typer.Exit(FOUND)


def _why_not_replayed(pool: Path | None, *, is_unknown: bool) -> str:
    if is_unknown:
        return "not replayed: limits are a Python function; the ledger has its name only"
    if pool is None:
        return "not replayed: a ledger does not hold the experiments on offer; give --pool pool.csv"
    return ""


def _what_was_looked_for(report: "Report", secrets: "Secrets | None") -> str:
    """Say exactly what occurs nowhere: rows as a whole, and values that can be recognised."""
    if secrets is None:
        return ""
    n_rows = sum(len(next(iter(rows.values()))) for rows in secrets.rows.values())
    return (
        f"none of {n_rows} rows, and of {report.n_values} values that only they hold, occurs in "
        f"{report.n_events} events; salts were not looked for"
    )


def _why_not_recomputed(secrets: "Secrets | None") -> str:
    if secrets is None:
        return "commitments not recomputed: give --protected rows.csv to compare their number"
    return "commitments not recomputed, their salts stay in the vault; the number of rows agrees"


def _show(
    console: "Console", report: "Report", skipped: Mapping[str, str], said: Mapping[str, str]
) -> None:
    """Print one line a check, and below it what was found; end with what was not looked at."""
    names: list[str] = []
    for code, (name, promise) in _CHECKS.items():
        codes = ("chain", "unreadable") if code == "chain" else (code,)
        found = [finding for finding in report.findings if finding.code in codes]
        if found:
            console.print(f"  × {name:<10}{len(found)} found")
            for finding in found:
                console.print(f"    {finding}", soft_wrap=True)
        elif skipped.get(code):
            names.append(name)
            console.print(f"  – {name:<10}{skipped[code]}")
        else:
            console.print(f"  ✓ {name:<10}{said.get(code, promise)}")
    kept = "Every promise that was looked at is kept"
    kept += f"; not looked at: {', '.join(names)}." if names else "."
    n = len(report.findings)
    console.print(f"\n{kept if report.passed else f'{n} broken.'}\n")


def _state(events: "Sequence[Event]") -> "Replayed":
    """Replay as far as the events can be read."""
    from alder.errors import BadLedger
    from alder.ledger.events import Replayed, Replaying

    replaying = Replaying(Replayed())
    try:
        for event in events:
            replaying.add(event)
    except BadLedger:
        pass  # the audit says where
    return replaying.freeze()


def _secrets(words: Sequence[str], state: "Replayed") -> "Secrets | None":
    from alder.errors import BadParameter
    from alder.ledger.leaks import Secrets
    from alder.tables import as_columns, drop_missing, read_csv

    if not words or state.configuration is None:
        return None
    grammar = state.configuration.grammar
    names = (*grammar.variable_names, grammar.target.name)
    rows: dict[str, Mapping[str, object]] = {}
    for word in words:
        role, equals, file = word.partition("=")
        if not equals:
            role, file = "admission", word
        if role in rows:
            raise BadParameter(f"`--protected` names {role} twice; write shift={file}, say.")
        rows[role], _ = drop_missing(as_columns(read_csv(Path(file)), names), names)
    return Secrets(rows)  # pyright: ignore[reportArgumentType]


def _reselect(path: Path, state: "Replayed") -> "Reselect | None":
    """Return how to choose again: the selector of the study over the experiments of a file."""
    import numpy as np

    from alder.ledger.events import Replayed
    from alder.loop import random
    from alder.selection.registry import selector
    from alder.selection.safety import Safeguarded
    from alder.study.parts import limits_from_json
    from alder.tables import as_columns, read_csv
    from alder.worlds.function import FunctionWorld

    configuration = state.configuration
    if configuration is None:
        return None
    table = read_csv(path)
    columns = dict(as_columns(table))  # names of experiments and the like are no settings
    inputs = {k: v for k, v in columns.items() if k in configuration.grammar.variable_names}
    safe = columns.get("safe")
    world = FunctionWorld(
        _never_run, experiments=inputs, cost=columns.get("cost"),
        is_safe=None if safe is None else safe > 0.0,
    ).bind(configuration.grammar, configuration.roles)  # fmt: skip
    chooser: Selector = selector(configuration.selector)
    limits = limits_from_json(configuration.limits)
    if limits is not None:
        chooser = Safeguarded(chooser, limits)

    def again(evidence: object, candidates: object, n: int) -> list[str]:
        from alder.records.evidence import Evidence

        assert isinstance(evidence, Evidence)
        before = Replayed(configuration=configuration, attempts=evidence.attempts)
        rng: np.random.Generator = random(before, "select")
        chosen = chooser.select(candidates, evidence, world, n, rng)  # pyright: ignore[reportArgumentType]
        return [choice.experiment.id for choice in chosen]

    return again


def _never_run(settings: object) -> float:
    raise AssertionError("an audit runs nothing")
