"""The words of the human syntax: numbers, names and signs, each with its column."""

import re
from dataclasses import dataclass
from typing import Literal, NoReturn, TypeAlias, final

from alder.errors import MalformedLaw

TokenKind: TypeAlias = Literal["number", "name", "quoted", "sign", "end"]

MAX_LENGTH = 64 * 1024

# What people and word processors write for the signs of the language.
_SYNONYMS = {"**": "^", "−": "-", "·": "*", "⋅": "*", "×": "*", "∗": "*", "÷": "/"}

_TOKEN = re.compile(
    r"""(?P<space>\s+)
      | (?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
      | (?P<name>\w+)
      | (?P<quoted>`(?:[^`]|``)*`)
      | (?P<sign>\*\*|[-+*/^(),=@−·⋅×∗÷])
    """,
    re.VERBOSE,
)
_EXCERPT = 60


@final
@dataclass(frozen=True, slots=True)
class Token:
    """One word of a law: what it is, what it says, and its column counted from one."""

    kind: TokenKind
    text: str
    column: int


def is_plain(name: str) -> bool:
    """Say whether a name can be written as it is, without backquotes.

    >>> is_plain("m_sun"), is_plain("γ"), is_plain("flow rate"), is_plain("x²")
    (True, True, False, False)
    """
    return name.isidentifier() and re.fullmatch(r"\w+", name) is not None


def quote(name: str) -> str:
    """Write a name so that the reader takes it whole."""
    return name if is_plain(name) else "`" + name.replace("`", "``") + "`"


def tokenize(text: str) -> list[Token]:
    """Cut a law into tokens, closed by an end token."""
    if len(text) > MAX_LENGTH:
        raise MalformedLaw(
            f"The law has {len(text)} characters; at most {MAX_LENGTH} are read. Write it shorter."
        )
    tokens: list[Token] = []
    place = 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            _refuse(text, place)
        place = match.end()
        if match.lastgroup != "space":
            tokens.append(_token(text, match))
    tokens.append(Token("end", "", len(text) + 1))
    return tokens


def _token(text: str, match: re.Match[str]) -> Token:
    column, word = match.start() + 1, match.group()
    match match.lastgroup:
        case "number":
            return Token("number", word, column)
        case "quoted":
            name = word[1:-1].replace("``", "`")
            if not name:
                fail(text, column, "has an empty name in backquotes")
            return Token("quoted", name, column)
        case "name":
            if not word.isidentifier():
                fail(
                    text,
                    column,
                    f"has `{word}`, which is not a name; write a power with ^, "
                    "or put an unusual name in backquotes",
                )
            return Token("name", word, column)
        case _:
            return Token("sign", _SYNONYMS.get(word, word), column)


def _refuse(text: str, place: int) -> NoReturn:
    if text[place] == "`":
        fail(text, place + 1, "opens a backquote that is never closed")
    character = text[place] if text[place].isprintable() else f"U+{ord(text[place]):04X}"
    hint = "; use round brackets" if character in "[]{}" else ""
    fail(text, place + 1, f"has the sign {character}, which means nothing here{hint}")


def fail(text: str, column: int, what: str) -> NoReturn:
    """Raise `MalformedLaw`: the law, what is wrong with it, and the column."""
    raise MalformedLaw(f"The law `{excerpt(text, column)}` {what} (column {column}).")


def excerpt(text: str, column: int) -> str:
    """Show the part of a law around a column, on one line."""
    start = max(0, min(column - 1 - _EXCERPT // 2, len(text) - _EXCERPT))
    shown = "".join(c if c.isprintable() else " " for c in text[start : start + _EXCERPT])
    left = "..." if start > 0 else ""
    right = "..." if start + _EXCERPT < len(text) else ""
    return f"{left}{shown}{right}"
