"""Untrusted Python values looked into without running their code.

A class can lie about its name, its equality and its hash through its metaclass, so types are
compared by identity alone, and only exact builtins are opened.
"""

import math
from collections.abc import Sequence
from typing import TypeAlias, cast

import numpy as np

from alder.checking.decode import Repeated
from alder.checking.findings import Findings
from alder.spelling import printable, suggestion

Fields: TypeAlias = dict[str, object]

MAX_NAME = 64
MAX_FIELDS = 16
"""More keys than any object of a proposal has, parameters apart."""

_MAX_PROSE = 64 * 1024
_WORDS: tuple[tuple[type, str], ...] = (
    (dict, "an object"),
    (list, "a list"),
    (tuple, "a list"),
    (str, "a text"),
    (bool, "a boolean"),
    (int, "a number"),
    (float, "a number"),
    (type(None), "null"),
    (Repeated, "an object with a repeated key"),
)


def is_exactly(value: object, *kinds: type) -> bool:
    """Say whether a value has one of these types, subclasses excluded."""
    return any(type(value) is kind for kind in kinds)


def what(value: object) -> str:
    """Name a value without printing it, which may be huge, deep or hostile."""
    for kind, word in _WORDS:
        if type(value) is kind:
            return word
    name: str = type.__dict__["__name__"].__get__(type(value))
    return f"a value of type {printable(name)}"


def escape(key: str) -> str:
    """Write a key as a step of a JSON pointer (RFC 6901), shortened to what can be printed."""
    return printable(key).replace("~", "~0").replace("/", "~1")


def read_fields(
    value: object, pointer: str, expected: str, findings: Findings, *, at_most: int = MAX_FIELDS
) -> Fields | None:
    """Copy an object whose keys are all strings; None, with a problem noted, for any other."""
    if type(value) is Repeated:
        key = printable(value.key)
        findings.add("duplicate-key", pointer, f"The key `{key}` stands here twice.")
        return None
    if type(value) is not dict:
        findings.add("bad-shape", pointer, f"{expected}; got {what(value)}.")
        return None
    items = cast("dict[object, object]", value)
    if len(items) > at_most:
        findings.add("too-large", pointer, f"{expected}; got {len(items)} keys.")
        return None
    fields = {key: part for key, part in items.items() if type(key) is str}
    if len(fields) != len(items):
        findings.add("bad-shape", pointer, f"{expected}; got a key that is no string.")
        return None
    return fields


def refuse_others(fields: Fields, allowed: Sequence[str], pointer: str, findings: Findings) -> None:
    """Note keys that have no meaning."""
    for key in fields:
        if key not in allowed:
            findings.add(
                "bad-shape",
                f"{pointer}/{escape(key)}",
                f"`{printable(key)}` is not a key here; {', '.join(allowed)} are."
                f"{suggestion(key, allowed)}",
            )


def finite(value: object) -> float | str:
    """Return a finite float, or say what was found instead."""
    if not is_exactly(value, int, float, np.float64):
        return what(value)
    try:
        number = float(cast("float", value))
    except OverflowError:
        return "an integer beyond float64"
    return number if math.isfinite(number) else str(number)


def read_prose(value: object, pointer: str, findings: Findings) -> str:
    """Read a text for people; one that no UTF-8 file can hold is refused."""
    if type(value) is not str:
        findings.add("bad-shape", pointer, f"This is a text; got {what(value)}.")
        return ""
    if len(value) > _MAX_PROSE:
        findings.add("too-long", pointer, f"{len(value)} characters; at most {_MAX_PROSE}.")
        return ""
    try:
        value.encode()
    except UnicodeEncodeError as error:
        findings.add("bad-shape", pointer, f"Character {error.start} is half a surrogate pair.")
        return ""
    return value
