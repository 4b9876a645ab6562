"""The world of a study file: a recorded pool, a person, Python code, or rows alone."""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.errors import BadWorld
from alder.plugins import plugins
from alder.ports import World
from alder.records.grammar import Grammar
from alder.spelling import printable, suggestion
from alder.study.plugged import as_world
from alder.studyfile.files import read_tables
from alder.studyfile.source import Source
from alder.tables import Table, as_columns, as_labels, require_columns
from alder.worlds.binding import Unbound
from alder.worlds.function import FunctionWorld
from alder.worlds.guard import Guard, reason_of
from alder.worlds.log import LogWorld
from alder.worlds.manual import ManualWorld
from alder.worlds.pool import PoolWorld

_KINDS = ("pool", "manual", "log", "function", "python")
_YES = frozenset({"1", "true", "yes"})
_NO = frozenset({"0", "false", "no"})


def build_world(source: Source, grammar: Grammar) -> tuple[object, bool]:
    """Return the world, and whether a person runs its experiments."""
    kind = source.get("world", "kind") or _implied(source)
    if kind == "log":
        return LogWorld(), False
    if kind not in _KINDS:
        return _plugged(source, kind), False
    with source.blame("world"):
        if kind == "manual":
            return _manual(source, grammar), True
        if kind == "python":
            return _made(source), False
        return (_pool if kind == "pool" else _function)(source, grammar), False


def _plugged(source: Source, kind: str) -> object:
    """Return a world that an installed package brings."""
    with source.blame("world", "kind"):
        brought = plugins("worlds")
        if kind not in brought:
            known = (*_KINDS, *brought)
            raise BadWorld(
                f"`{printable(kind)}` is no kind of world; {', '.join(known)} are."
                f"{suggestion(kind, known)}"
            )
        return as_world(kind)


def _implied(source: Source) -> str:
    """Return the kind where it was left out: a function or an object says that it is one."""
    for name, kind in (("function", "function"), ("object", "python")):
        if source.get("world", name) is not None:
            return kind
    if source.get("world") is None:
        return "log"
    raise source.mistake(
        ("world",),
        'The world needs a kind: kind = "pool", "manual", "log", "function" or "python".',
    )


def _experiments(source: Source) -> Table:
    if source.get("world", "experiments") is None:
        raise BadWorld('The world needs its experiments: experiments = "experiments.csv".')
    return read_tables(source, "world", "experiments")[0]


def _pool(source: Source, grammar: Grammar) -> PoolWorld:
    table = _experiments(source)
    column: str = source.get("world", "outcomes") or grammar.target.name
    if column not in table.columns:
        raise BadWorld(
            f"{table.name} has no column `{column}` of outcomes; name it with outcomes = "
            f'"column", or write kind = "manual" where a person measures them.'
        )
    outcomes = as_columns(table, [column])[column]
    inputs = {name: table.columns[name] for name in grammar.variable_names if name in table.columns}
    require_columns(grammar.variable_names, tuple(table.columns), where=table.name)

    def query(rows: NDArray[np.intp]) -> FloatArray:
        return outcomes[rows]

    return PoolWorld(inputs, query=query, cost=_cost(source, table), safe=_safe(source, table))


def _manual(source: Source, grammar: Grammar) -> ManualWorld:
    ranges = source.get("world", "ranges")
    if source.get("world", "experiments") is not None and ranges is None:
        table = _experiments(source)
        settings, cost, safe = _settings(source, table, grammar)
        return ManualWorld(settings, cost=cost, is_safe=safe)
    if ranges is None:
        unbounded = [v.name for v in grammar.variables if v.range is None]
        if unbounded:
            raise BadWorld(
                f"The world needs experiments or ranges, and `{unbounded[0]}` has no range of its "
                f"own: write ranges = {{ {unbounded[0]} = [0.5, 4.0] }}, or give it a range."
            )
        ranges = {v.name: v.range for v in grammar.variables if v.range is not None}
    pairs: Mapping[str, Sequence[float]] = ranges
    ends = {name: (float(low), float(high)) for name, (low, high) in pairs.items()}
    return ManualWorld(ranges=ends, n=source.get("world", "n") or 256)


def _function(source: Source, grammar: Grammar) -> FunctionWorld:
    run = _load(source)
    settings, cost, safe = _settings(source, _experiments(source), grammar)
    seconds = source.get("world", "seconds")
    guard = Guard() if seconds is None else Guard(seconds=float(seconds))
    return FunctionWorld(run, experiments=settings, cost=cost, is_safe=safe, guard=guard)


def _settings(
    source: Source, table: Table, grammar: Grammar
) -> tuple[dict[str, object], FloatArray | None, Sequence[bool] | None]:
    """Return the settings of the experiments, without columns about cost, safety and outcomes."""
    cost, safe = _cost_column(source, table), _safe_column(source, table)
    outcomes = source.get("world", "outcomes") or grammar.target.name
    apart = {cost, safe, outcomes} - set(grammar.variable_names)
    settings: dict[str, object] = {n: c for n, c in table.columns.items() if n not in apart}
    return settings, _cost(source, table), _safe(source, table)


def _cost_column(source: Source, table: Table) -> str | None:
    return source.get("world", "cost") or ("cost" if "cost" in table.columns else None)


def _safe_column(source: Source, table: Table) -> str | None:
    return source.get("world", "safe") or ("safe" if "safe" in table.columns else None)


def _cost(source: Source, table: Table) -> FloatArray | None:
    name = _cost_column(source, table)
    if name is None:
        return None
    with source.blame("world", "cost"):
        return as_columns(table, [name])[name]


def _safe(source: Source, table: Table) -> list[bool] | None:
    """Read a column of 1 and 0, true and false, or yes and no."""
    name = _safe_column(source, table)
    if name is None:
        return None
    with source.blame("world", "safe"):
        words = [word.strip().casefold() for word in as_labels(table, name)]
        odd = next((word for word in words if word not in _YES | _NO), None)
        if odd is not None:
            raise BadWorld(
                f"`{odd}` in column `{name}` of {table.name} does not say whether an experiment "
                f"is safe; write 1 or 0, true or false, yes or no."
            )
    return [word in _YES for word in words]


def _load(source: Source) -> Callable[[dict[str, Any]], object]:
    """Import the function of a world."""
    found = _imported(source, "function", example="rig:run")
    if not callable(found):
        with source.blame("world", "function"):
            raise BadWorld(f"`{source.get('world', 'function')}` is not a function.")
    return found


def _made(source: Source) -> object:
    """Import a world that was made in Python, or call the function that makes it."""
    found = _imported(source, "object", example="rig:world")
    with source.blame("world", "object"):
        try:
            made = found if isinstance(found, Unbound | World) else _call(found)
        except BadWorld:
            raise
        except Exception as error:  # noqa: BLE001 (user code; the sentence names the place)
            raise BadWorld(f"The world cannot be made: {reason_of(error)}.") from None
        if not isinstance(made, Unbound | World):
            raise BadWorld(
                f"`{source.get('world', 'object')}` is no world: it has neither `bind` nor `pool`, "
                "`predict` and `run`; ODEWorld and GymnasiumWorld are worlds, and so is "
                "FunctionWorld."
            )
    return made


def _call(maker: object) -> object:
    return maker() if callable(maker) else maker


def _imported(source: Source, key: str, *, example: str) -> object:
    """Import what a key names; modules beside the study file are found."""
    name: str | None = source.get("world", key)
    if name is None:
        raise BadWorld(f'The world needs its {key}: {key} = "module:name".')
    module, colon, attribute = name.partition(":")
    with source.blame("world", key):
        if not (module and colon and attribute):
            raise BadWorld(f'`{name}` must look like "module:name", for example "{example}".')
        folder = str(source.path.resolve().parent)
        if folder not in sys.path:
            sys.path.insert(0, folder)
        try:
            loaded = import_module(module)
        except ImportError as error:
            raise BadWorld(
                f"The module `{module}` cannot be imported: {error}. It is looked for beside "
                f"{source.path.name} and among what is installed."
            ) from None
        except Exception as error:  # noqa: BLE001 (user code; the sentence names the place)
            raise BadWorld(f"The module `{module}` cannot be run: {reason_of(error)}.") from None
        if not hasattr(loaded, attribute):
            raise BadWorld(f"The module `{module}` has no `{attribute}`.")
    found: object = getattr(loaded, attribute)
    return found
