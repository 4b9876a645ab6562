"""From bytes or text to Python values, within limits.

The scanner of the standard library recurses, keeps the last of two equal keys and reads integers
of any length; so depth and digits are measured before it runs, and equal keys leave a mark.
"""

import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import final

import numpy as np

from alder.checking.findings import Findings
from alder.errors import MalformedLaw
from alder.expr.text import parse
from alder.spelling import printable

MAX_JSON = 128 * 1024
"""Longest JSON proposal in bytes: fifty times a law of 31 nodes, and read in some 15 ms."""

MAX_TEXT = 4 * 1024
"""Longest law in the human syntax, in characters."""

_MAX_DEPTH = 400  # well inside the recursion limit of the scanner
_MAX_DIGITS = 400  # float64 ends at 309 digits before the point
_SENTENCE = 300

# The closing quote is optional, so that an open string costs one pass and not one per quote.
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)
_STEP = np.zeros(256, dtype=np.int32)
_STEP[list(b"[{")] = 1
_STEP[list(b"]}")] = -1
_DIGIT = np.zeros(256, dtype=np.bool_)
_DIGIT[list(b"0123456789.")] = True


@final
@dataclass(frozen=True, slots=True)
class Repeated:
    """Stands where an object had one key twice."""

    key: str


def decode(source: bytes | str, variables: Collection[str], findings: Findings) -> object:
    """Return the JSON value or the tree a source holds; None, with a problem noted, if none.

    A text that does not begin like JSON is read as the human syntax.
    """
    if len(source) > MAX_JSON:
        _refuse_length(len(source), MAX_JSON, findings)
        return None
    try:
        text = source.decode("utf-8-sig") if isinstance(source, bytes) else source
    except UnicodeDecodeError as error:
        findings.add("not-json", "", f"Byte {error.start} is not UTF-8 text; send UTF-8.")
        return None
    if not text.lstrip():
        findings.add("not-json", "", "The proposal is empty; a structure was expected.")
        return None
    if text.lstrip()[0] in '{["':
        return _decode_json(text, findings)
    return _decode_law(text, variables, findings)


def _refuse_length(length: int, limit: int, findings: Findings) -> None:
    findings.add(
        "too-long", "", f"The proposal is {length} long; at most {limit} bytes or characters."
    )


def _decode_law(text: str, variables: Collection[str], findings: Findings) -> object:
    if len(text) > MAX_TEXT:
        _refuse_length(len(text), MAX_TEXT, findings)
        return None
    try:
        return parse(text, variables)
    except MalformedLaw as error:
        findings.add("bad-shape", "", printable(str(error), _SENTENCE))
        return None


def _decode_json(text: str, findings: Findings) -> object:
    depth, digits = _extent(text)
    if depth > _MAX_DEPTH:
        findings.add("too-deep", "", f"The JSON is nested {depth} deep; at most {_MAX_DEPTH}.")
        return None
    if digits > _MAX_DIGITS:
        findings.add(
            "bad-number", "", f"A number has {digits} digits; at most {_MAX_DIGITS} are read."
        )
        return None
    try:
        return json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        findings.add("not-json", "", f"The text is not JSON: {error.msg} at {place}.")
        return None


def _extent(text: str) -> tuple[int, int]:
    """Measure the deepest nesting and the longest run of digits outside strings."""
    outline = _STRING.sub(b"", text.encode("utf-8", "surrogatepass"))
    characters = np.frombuffer(outline, dtype=np.uint8)
    if not len(characters):
        return 0, 0
    others = np.flatnonzero(~_DIGIT[characters])
    gaps = np.diff(others, prepend=-1, append=len(characters)) - 1
    return int(np.cumsum(_STEP[characters]).max()), int(gaps.max())


def _object(pairs: list[tuple[str, object]]) -> object:
    fields = dict(pairs)
    if len(fields) == len(pairs):
        return fields
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            return Repeated(key)
        seen.add(key)
    return fields
