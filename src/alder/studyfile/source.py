"""A study file as text and as tables: reads settings, and says on which line one is wrong."""

import tomllib
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any, final

from alder.errors import AlderError, BadStudy
from alder.studyfile.checks import Mistake, require_valid
from alder.studyfile.lines import Path, find_line
from alder.studyfile.schema import schema


@final
@dataclass(frozen=True, slots=True)
class Source:
    """The file, its text, and the tables in it, which follow the schema."""

    path: FilePath
    text: str
    tables: Mapping[str, Any]

    def get(self, *path: str) -> Any:  # noqa: ANN401 (a TOML value; the schema knows its type)
        """Return a setting, or None where it was left out."""
        value: Any = self.tables
        for key in path:
            if not _has(value, key):
                return None
            value = value[key]
        return value

    def mistake(self, path: Path, sentence: str, value: object = None) -> BadStudy:
        """Return the error of a setting: file, line, sentence."""
        line = find_line(self.text, path, value)
        where = self.path.name if line is None else f"{self.path.name}, line {line}"
        return BadStudy(f"{where}: {sentence}")

    @contextmanager
    def blame(self, *path: str | int, value: object = None) -> Generator[None, None, None]:
        """Add the line of a setting to whatever misuse is found inside, unless it has one."""
        try:
            yield
        except AlderError as error:
            if str(error).startswith(f"{self.path.name}, line "):
                raise
            raise self.mistake(path, str(error), value) from None


def _has(value: object, key: str) -> bool:
    return isinstance(value, Mapping) and key in value


def read_source(path: FilePath) -> Source:
    """Parse a file and hold it against the schema; raise `BadStudy` with the line otherwise."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise BadStudy(f"There is no file {path.name}; check the name and the folder.") from None
    except (OSError, UnicodeDecodeError):
        raise BadStudy(f"{path.name} cannot be read as text in UTF-8.") from None
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadStudy(_broken(path.name, str(error))) from None
    source = Source(path, text, tables)
    try:
        require_valid(tables, schema())
    except Mistake as wrong:
        raise source.mistake(wrong.path, wrong.sentence, wrong.value) from None
    return source


def _broken(name: str, words: str) -> str:
    """Say where the file is no TOML, in the form of every other mistake."""
    reason, at, place = words.partition(" (at line ")
    if at:
        name = f"{name}, line {place.partition(',')[0].rstrip(')')}"
    return (
        f"{name}: this is not TOML ({reason[:1].lower()}{reason[1:]}). Text stands in quotes, "
        f'lists in [brackets]: name = "r".'
    )
