"""A study of one file of recorded rows, without a study file."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from alder.errors import BadTable
from alder.expr.text import parse
from alder.records.grammar import Grammar
from alder.records.proposal import Proposal
from alder.records.roles import Roles
from alder.records.variable import Variable
from alder.studyfile.settings import StudySettings
from alder.tables import column_names, number_columns, read_csv, require_columns


def recorded_study(
    path: str | Path,
    target: str,
    *,
    variables: Sequence[str] = (),
    units: Mapping[str, str] | None = None,
    roles: Roles | None = None,
) -> StudySettings:
    """Return the study of a CSV file; without `variables`, every other column is one."""
    table = read_csv(path)
    there = column_names(table)
    roles, units = roles or Roles(), units or {}
    apart = {target, *roles.names}
    require_columns([target, *variables, *roles.names, *units], there, where=table.name)
    names = list(variables) or [n for n in number_columns(table) if n not in apart]
    if not names:
        raise BadTable(
            f"{table.name} has no column of numbers besides `{target}`; a law needs at least one "
            f"input."
        )
    grammar = Grammar(
        variables=[Variable(name, unit=units.get(name)) for name in names],
        target=Variable(target, unit=units.get(target)),
    )
    return StudySettings(name=table.name, grammar=grammar, initial=table, roles=roles)


def with_guesses(settings: StudySettings, guesses: Sequence[str]) -> StudySettings:
    """Add laws to start from, as a person types them; `target =` in front is allowed."""
    known = [Proposal(parse(_right(settings, g), settings.grammar.variable_names)) for g in guesses]
    return replace(settings, guesses=(*settings.guesses, *known))


def _right(settings: StudySettings, law: str) -> str:
    left, equals, right = law.partition("=")
    return right if equals and left.strip() == settings.grammar.target.name else law
