"""On which line of a TOML file a setting stands, so that a mistake can be shown where it is.

The file was parsed by `tomllib` before; this scan only needs to be right about where keys are.
"""

import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

Path: TypeAlias = tuple[str | int, ...]
"""Where a setting is: keys, and numbers of the items of arrays."""

_NAME = r"""(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')"""
_DOTTED = rf"{_NAME}(?:\s*\.\s*{_NAME})*"
_HEADER = re.compile(rf"^\s*(\[\[?)\s*({_DOTTED})\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(rf"^\s*({_DOTTED})\s*=(.*)$")
_LONG = re.compile(r'"""|\'\'\'')
_QUOTED = re.compile(r""""(?:\\.|[^"\\])*"|'[^']*'""")


def find_line(text: str, path: Path, value: object = None) -> int | None:
    r"""Return the line of a setting, counted from 1, or of the nearest one around it.

    A `value` that is text is looked for among the lines of the setting, for arrays that go over
    several lines.

    >>> find_line("[budget]\nqueries = 4\n", ("budget", "queries"))
    2
    """
    places = key_lines(text)
    known = next((path[:n] for n in range(len(path), 0, -1) if path[:n] in places), None)
    if known is None:
        return None
    first = places[known]
    after = min((line for line in places.values() if line > first), default=None)
    lines = text.splitlines()
    if isinstance(value, str):
        for number in range(first, (after or len(lines) + 1)):
            if f'"{value}"' in lines[number - 1] or f"'{value}'" in lines[number - 1]:
                return number
    return first


def key_lines(text: str) -> Mapping[Path, int]:
    """Return the line of every key and every table header."""
    places: dict[Path, int] = {}
    counts: dict[Path, int] = {}
    table: Path = ()
    depth, long = 0, ""
    for number, line in enumerate(text.splitlines(), start=1):
        if long or depth > 0:
            depth, long = _nesting(line, depth, long)
            continue
        header, key = _HEADER.match(line), _KEY.match(line)
        if header is not None:
            table = _table(header[1], _parts(header[2]), counts)
            places.setdefault(table, number)
        elif key is not None:
            places.setdefault((*table, *_parts(key[1])), number)
            depth, long = _nesting(key[2], 0, "")
    return places


def _table(brackets: str, parts: Path, counts: dict[Path, int]) -> Path:
    """Return the path of a table; one of an array of tables gets its number."""
    path: Path = ()
    for part in parts[:-1]:
        path = (*path, part)
        if path in counts:
            path = (*path, counts[path] - 1)
    path = (*path, parts[-1])
    if brackets == "[":
        return path
    counts[path] = counts.get(path, 0) + 1
    return (*path, counts[path] - 1)


def _parts(dotted: str) -> Path:
    return tuple(name.strip("\"'") for name in re.findall(_NAME, dotted))


def _nesting(line: str, depth: int, long: str) -> tuple[int, str]:
    """Follow brackets and long strings to the end of a line."""
    rest = line
    while True:
        if long:
            _, found, rest = rest.partition(long)
            if not found:
                return depth, long
            long = ""
        mark = _LONG.search(_blank(rest))
        plain = _blank(rest if mark is None else rest[: mark.start()]).partition("#")[0]
        depth += sum(plain.count(c) for c in "[{") - sum(plain.count(c) for c in "]}")
        if mark is None or "#" in _blank(rest[: mark.start()]):
            return max(depth, 0), ""
        long, rest = mark[0], rest[mark.end() :]


def _blank(text: str) -> str:
    """Replace what stands in quotes by spaces, long quotes excepted."""
    return _QUOTED.sub(lambda m: m[0] if m[0] in ('""', "''") else " " * len(m[0]), text)


def words_of(path: Sequence[str | int]) -> str:
    """Name the table a setting is in, as it is written in the file."""
    names = [part for part in path if isinstance(part, str)]
    return f"[{'.'.join(names)}]" if names else "the file"
