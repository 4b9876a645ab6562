"""Parts that other packages bring: found by entry point, loaded when they are asked for by name.

A package offers a part in its `pyproject.toml`:

    [project.entry-points."alder.selectors"]
    coinflip = "alder_coinflip:CoinFlip"

The name leads to a function, usually a class, that makes the part without arguments.
"""

from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
from typing import Literal, TypeAlias, get_args

from alder.errors import BadStudy
from alder.spelling import printable, suggestion

Group: TypeAlias = Literal["proposers", "selectors", "worlds", "criteria"]


def plugins(group: Group) -> tuple[str, ...]:
    """Name the parts of a group that installed packages bring, in alphabetical order.

    Nothing is imported.
    """
    return tuple(sorted({entry.name for entry in _entries(group)}))


def plugin(group: Group, name: str) -> Callable[..., object]:
    """Return what makes the part of this name; raise `BadStudy` where none does.

    Its package is imported now, and runs with all your rights: install what you trust.
    """
    return _load(_entry(group, name), _one(group))


def maker(group: Group, name: str) -> str:
    """Return "module:name" of what makes a part, for a process that must import it itself."""
    entry = _entry(group, name)
    _load(entry, _one(group))
    return f"{entry.module}:{entry.attr}"


def _one(group: Group) -> str:
    return group.removesuffix("s") if group != "criteria" else "criterion"


def _entry(group: Group, name: str) -> EntryPoint:
    found = {entry.value: entry for entry in _entries(group) if entry.name == name}
    one = _one(group)
    if not found:
        known = plugins(group)
        offered = f"{', '.join(known)} {'is' if len(known) == 1 else 'are'}" if known else "none is"
        raise BadStudy(
            f"No installed package brings a {one} named `{printable(name)}`; {offered}."
            f"{suggestion(name, known)}"
        )
    if len(found) > 1:
        raise BadStudy(
            f"Two packages bring a {one} named `{name}`: {' and '.join(sorted(found))}. "
            "Uninstall one of them."
        )
    return next(iter(found.values()))


def _entries(group: Group) -> tuple[EntryPoint, ...]:
    if group not in get_args(Group):
        raise BadStudy(f"`{group}` is no group of plug-ins; {', '.join(get_args(Group))} are.")
    return tuple(entry_points(group=f"alder.{group}"))


def _load(entry: EntryPoint, one: str) -> Callable[..., object]:
    try:
        part: object = entry.load()
    except Exception as error:  # noqa: BLE001 (a stranger's package; the sentence names it)
        words = str(error).strip().splitlines()
        raise BadStudy(
            f"The {one} `{entry.name}` cannot be loaded from {entry.value}: "
            f"{type(error).__name__}: {printable(words[0], 200) if words else 'no message'}."
        ) from None
    if not callable(part):
        raise BadStudy(
            f"The {one} `{entry.name}` is a {type(part).__name__}; an entry point leads to a class "
            "or a function that makes the part."
        )
    return part
