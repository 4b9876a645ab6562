"""From a study file to the settings of a study: grammar, rows, world, budget, guesses, criteria."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, cast

from alder.errors import BadStudy, BadTable
from alder.expr.operators import Floors
from alder.expr.text import parse
from alder.records.budget import Budget
from alder.records.grammar import Grammar, Nesting
from alder.records.limits import Limits
from alder.records.proposal import Bounds, Proposal
from alder.records.protected import Protected
from alder.records.roles import Roles
from alder.records.variable import Variable
from alder.selection.safety import require_foreseen
from alder.study.parts import as_proposer, as_selector, require_in_grammar
from alder.study.plugged import as_criteria
from alder.studyfile.files import as_list, join_tables, read_tables
from alder.studyfile.settings import StudySettings
from alder.studyfile.source import Source, read_source
from alder.studyfile.world import build_world
from alder.tables import Rows, Table, column_names, require_columns
from alder.verification.criteria import Criteria, Thresholds
from alder.verification.spending import Spending, require_sound, spending_from_json
from alder.worlds.binding import bind

# In the order of the fields of `Roles`.
_ROLES = ("sigma", "weight", "group", "time", "sums")


def read_study(path: str | Path) -> StudySettings:
    """Read a study file and the CSV files it names.

    Raises `BadStudy` with the line of the first mistake and what to write instead.
    """
    source = read_source(Path(path))
    grammar = _grammar(source)
    roles = Roles(*(source.get("rows", name) for name in _ROLES))
    initial = read_tables(source, "rows", "initial")
    _require_declared(source, grammar, initial)
    _require_roles(source, roles, initial)
    world, is_manual = build_world(source, grammar)
    guesses = _guesses(source, grammar)
    return StudySettings(
        name=source.path.name,
        grammar=grammar,
        initial=join_tables(initial),
        world=world,
        is_manual=is_manual,
        validation=_validation(source, grammar, roles),
        protected=_protected(source, grammar, roles),
        roles=roles,
        budget=_budget(source),
        proposer=_proposer(source, grammar, guesses),
        guesses=guesses,
        selector=_selector(source),
        criteria=_criteria(source),
        spending=_spending(source),
        limits=_limits(source, world, grammar, roles),
        seed=source.get("seed") or 0,
    )


def _grammar(source: Source) -> Grammar:
    table: dict[str, Any] = dict(source.get("grammar"))
    declared: list[object] = table.pop("variables")
    variables = [
        _variable(source, ("grammar", "variables", i), each) for i, each in enumerate(declared)
    ]
    target = _variable(source, ("grammar", "target"), table.pop("target"))
    if "nesting" in table:
        table["nesting"] = [Nesting(**each) for each in table["nesting"]]
    if "floors" in table:
        table["floors"] = Floors(**table["floors"])
    with source.blame("grammar"):
        return Grammar(variables=variables, target=target, **table)


def _variable(source: Source, path: tuple[str | int, ...], value: object) -> Variable:
    settings: dict[str, Any] = (
        {"name": value} if isinstance(value, str) else dict(cast("Any", value))
    )
    if "range" in settings:
        settings["range"] = tuple(settings["range"])
    with source.blame(*path, value=settings["name"]):
        return Variable(**settings)


def _require_declared(source: Source, grammar: Grammar, tables: Sequence[Table]) -> None:
    """Refuse a variable that is no column, at the line that declares it."""
    paths: list[tuple[str | int, ...]] = [
        ("grammar", "variables", i) for i in range(len(grammar.variables))
    ]
    names = (*grammar.variable_names, grammar.target.name)
    for table in tables:
        there = column_names(table)
        for path, name in zip([*paths, ("grammar", "target")], names, strict=True):
            with source.blame(*path, "name", value=name):
                _require_column(name, there, names, table.name)


def _require_column(name: str, there: Sequence[str], taken: Sequence[str], where: str) -> None:
    """Refuse a missing column; where a single one is left over, that is the one meant."""
    try:
        require_columns([name], there, where=where)
    except BadTable as error:
        free = [column for column in there if column not in taken]
        hint = f" Did you mean `{free[0]}`?" if len(free) == 1 and "?" not in str(error) else ""
        raise BadTable(f"{error}{hint}") from None


def _require_roles(source: Source, roles: Roles, tables: Sequence[Table]) -> None:
    for role in _ROLES:
        name: str | None = getattr(roles, role)
        for table in tables if name is not None else ():
            with source.blame("rows", role):
                require_columns([str(name)], column_names(table), where=table.name)


def _checked(source: Source, grammar: Grammar, roles: Roles, *path: str) -> Rows:
    """Read the files of one setting and refuse them where a column is missing."""
    tables = read_tables(source, *path)
    needed = (*grammar.variable_names, grammar.target.name, *roles.names)
    for table in tables:
        with source.blame(*path, value=table.name):
            require_columns(needed, column_names(table), where=table.name)
    return join_tables(tables)


def _validation(source: Source, grammar: Grammar, roles: Roles) -> Rows | None:
    if source.get("rows", "validation") is None:
        return None
    return _checked(source, grammar, roles, "rows", "validation")


def _protected(source: Source, grammar: Grammar, roles: Roles) -> Protected | None:
    place = ("rows", "protected")
    if source.get(*place) is None:
        return None
    admission = _checked(source, grammar, roles, *place, "admission")
    shift = source.get(*place, "shift")
    if isinstance(shift, dict):
        regimes = cast("dict[str, object]", shift)
        tables = {r: _checked(source, grammar, roles, *place, "shift", r) for r in regimes}
        return Protected(admission, tables)
    if shift is None:
        return Protected(admission)
    return Protected(admission, _checked(source, grammar, roles, *place, "shift"))


def _budget(source: Source) -> Budget:
    table: dict[str, Any] = dict(source.get("budget") or {})
    with source.blame("budget"):
        return Budget(**table)


def _proposer(source: Source, grammar: Grammar, guesses: Sequence[Proposal]) -> str:
    name: str = source.get("proposer", "kind") or "search"
    with source.blame("proposer", "kind"):
        as_proposer(name, guesses, grammar)
    return name


def _selector(source: Source) -> str:
    name: str = source.get("selector") or "disagreement"
    with source.blame("selector"):
        as_selector(name)
    return name


def _guesses(source: Source, grammar: Grammar) -> tuple[Proposal, ...]:
    guesses = as_list(source.get("proposer", "guesses"))
    return tuple(_guess(source, i, each, grammar) for i, each in enumerate(guesses))


def _guess(source: Source, number: int, guess: object, grammar: Grammar) -> Proposal:
    settings: Mapping[str, Any] = {"law": guess} if isinstance(guess, str) else cast("Any", guess)
    with source.blame("proposer", "guesses", number, value=settings["law"]):
        structure = parse(settings["law"], grammar.variable_names)
        bounds = {name: Bounds(*ends) for name, ends in settings.get("bounds", {}).items()}
        proposal = Proposal(structure, bounds, rationale=settings.get("why", ""))
        require_in_grammar(proposal, grammar)
    return proposal


def _limits(source: Source, world: object, grammar: Grammar, roles: Roles) -> Limits | None:
    """Read limits; refuse those that the world cannot foresee, at their line."""
    table: dict[str, Any] | None = source.get("limits")
    if table is None:
        return None
    ends = {name: (float(low), float(high)) for name, (low, high) in table["columns"].items()}
    with source.blame("limits"):
        limits = Limits(ends, **{k: float(v) for k, v in table.items() if k != "columns"})
        require_foreseen(limits, bind(world, grammar, roles), grammar.target.name)
    return limits


def _criteria(source: Source) -> Criteria:
    table: dict[str, Any] = dict(source.get("criteria") or {})
    if "thresholds" in table:
        table["thresholds"] = Thresholds(**table["thresholds"])
    own = as_list(table.pop("own", None))
    with source.blame("criteria", "own"):
        plugged = as_criteria(Criteria(own=tuple(map(str, own)))).own
    with source.blame("criteria"):
        return Criteria(**table, own=plugged)


def _spending(source: Source) -> Spending:
    """Read what answers cost; a setting of the other rule is refused at its line."""
    table: dict[str, Any] = source.get("spending") or {"kind": "alpha-spending"}
    kind = type(spending_from_json({"kind": table["kind"]}))
    known = {part.name for part in fields(kind)}
    for name in table:
        if name not in known | {"kind"}:
            with source.blame("spending", name):
                raise BadStudy(
                    f"`{name}` is no setting of {table['kind']}; {', '.join(sorted(known))} are."
                )
    with source.blame("spending"):
        spending = spending_from_json(table)
        require_sound(spending)
        return spending
