"""`alder tell`: what the experiments of a person showed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, final

import typer

from alder.cli.ask import LedgerOption, StudyArgument
from alder.cli.layout import show_lines, terminal
from alder.errors import BadParameter, BadTable

if TYPE_CHECKING:
    from alder.arrays import FloatArray
    from alder.study import Study
    from alder.studyfile import StudySettings
    from alder.tables import Table

_ID, _FAILED = "experiment", "failed"


@final
@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """What a file says about one experiment: rows, or the reason why there are none."""

    experiment: str
    rows: "Mapping[str, FloatArray]"
    reason: str = ""


def command(
    study: StudyArgument,
    results: Annotated[
        Path | None, typer.Argument(metavar="[RESULTS.CSV]", help="What was measured.")
    ] = None,
    *,
    ledger: LedgerOption,
    abandon: Annotated[
        list[str] | None, typer.Option(help="Wait no longer for this experiment.")
    ] = None,
) -> None:
    """Example: alder tell study.toml --ledger run.alder results.csv

    The file has a column `experiment` with the id and the columns that were measured; settings
    need not be repeated. A reason in a column `failed` says that there are no rows. Rows without
    a result are left for later; several rows of one experiment belong together.
    """
    from alder.errors import BadLedger
    from alder.kernel.ready import ensure
    from alder.studyfile import read_study
    from alder.tables import read_csv

    if results is None and not abandon:
        raise BadParameter("Give a file of results, or --abandon with the id of an experiment.")
    settings = read_study(study)
    if not ledger.exists():
        raise BadLedger(
            f"There is no ledger {ledger.name}; alder ask {study.name} --ledger {ledger.name} "
            "makes one."
        )
    found = [] if results is None else read_results(read_csv(results), settings)
    console = terminal()
    ensure(console.print)
    with settings.open(ledger) as opened:
        lines = _record(opened, found, abandon or [])
        waiting = _waiting(opened)
    if waiting:
        lines["waiting"] = ", ".join(waiting)
    lines["next"] = f"alder ask {study} --ledger {ledger}"
    show_lines(console, lines)


def read_results(table: "Table", settings: "StudySettings") -> list[Result]:
    """Read results by experiment, in the order of the file; rows without one are left out."""
    import numpy as np

    from alder.tables import as_labels, column_names, require_columns

    names = column_names(table)
    require_columns([_ID], names, where=table.name)
    ids = [name.strip() for name in as_labels(table, _ID)]
    reasons = _reasons(table) if _FAILED in names else [""] * len(ids)
    columns = _measured(table, settings)
    empty = np.all([np.isnan(columns[n]) for n in columns], axis=0) if columns else None
    results: list[Result] = []
    for name in dict.fromkeys(ids):
        rows = [i for i, other in enumerate(ids) if other == name]
        reason = next((reasons[i] for i in rows if reasons[i]), "")
        told = [i for i in rows if empty is None or not empty[i]]
        if reason or told:
            results.append(Result(name, {n: c[told] for n, c in columns.items()}, reason))
    if not results:
        raise BadTable(
            f"{table.name} holds no result yet; fill in {settings.grammar.target.name}, or a "
            f"reason in the column `failed`."
        )
    return results


def _measured(table: "Table", settings: "StudySettings") -> "dict[str, FloatArray]":
    """Return the columns of the study that the file has; those not filled in are left out."""
    import numpy as np

    from alder.tables import as_columns, column_names

    target = settings.grammar.target.name
    wanted = (target, *settings.grammar.variable_names, *settings.roles.names)
    there = column_names(table)
    if target not in there and _FAILED in there:
        return {}
    named = [name for name in wanted if name in there or name == target]
    filled = as_columns(table, named)
    missing = np.isnan(filled[target])
    return {name: np.where(missing, np.nan, column) for name, column in filled.items()}


def _reasons(table: "Table") -> list[str]:
    from alder.tables import MISSING, as_labels

    words = [word.strip() for word in as_labels(table, _FAILED)]
    return ["" if word.casefold() in MISSING else word for word in words]


def _record(study: "Study", results: Sequence[Result], abandoned: Sequence[str]) -> dict[str, str]:
    """Tell the study everything, and say what that was."""
    again = [result for result in results if _is_known(study, result)]
    new = [result for result in results if result not in again]
    for name in [*(r.experiment for r in new), *abandoned]:
        study.known(name)
    for result in new:
        if result.reason:
            study.fail(result.experiment, result.reason)
        else:
            study.tell(result.experiment, result.rows)
    for name in abandoned:
        study.abandon(name)
    parts = {
        "told": [r.experiment for r in new if not r.reason],
        "failed": [r.experiment for r in new if r.reason],
        "abandoned": list(abandoned),
        "known": [f"{r.experiment} (told before)" for r in again],
    }
    return {word: ", ".join(names) for word, names in parts.items() if names}


def _is_known(study: "Study", result: Result) -> bool:
    """Say whether a result is what was told before, so that a sheet can be handed in again."""
    import numpy as np

    name = result.experiment
    if result.reason:
        failures = {failure.experiment: failure.reason for failure in study.evidence.failures}
        return failures.get(name) == result.reason
    known = next((t.columns for t in study.evidence.trajectories if t.experiment == name), None)
    return known is not None and all(
        np.array_equal(column, known[key]) for key, column in result.rows.items()
    )


def _waiting(study: "Study") -> list[str]:
    done = study.evidence.done
    return [c.experiment.id for c in study.evidence.choices if c.experiment.id not in done]
