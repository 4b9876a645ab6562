"""The bounds of a proposal's parameters, from untrusted values."""

import math
from collections.abc import Collection

from alder.checking.findings import Findings
from alder.checking.shapes import Fields, escape, finite, read_fields, refuse_others
from alder.records.proposal import Bounds
from alder.spelling import printable, suggestion

_MAX_DECLARED = 1000


def read_bounds(
    value: object, used: Collection[str] | None, findings: Findings
) -> dict[str, Bounds]:
    """Read bounds by parameter name; each must name one of those `used`, where these are known."""
    items = read_fields(
        value,
        "/parameters",
        "parameters is an object of bounds by name",
        findings,
        at_most=_MAX_DECLARED,
    )
    bounds: dict[str, Bounds] = {}
    for name, ends in (items or {}).items():
        if findings.full:
            break
        pointer = f"/parameters/{escape(name)}"
        if used is not None and name not in used:
            findings.add(
                "unknown-parameter",
                pointer,
                f"`{printable(name)}` has bounds but is no parameter of the law."
                f"{suggestion(name, tuple(used))}",
            )
        bound = _read_one(ends, pointer, findings)
        if bound is not None:
            bounds[name] = bound
    return bounds


def _read_one(value: object, pointer: str, findings: Findings) -> Bounds | None:
    """Read `{"lower": 0, "upper": 10, "start": 2}`; what is left out or null is open."""
    fields = read_fields(value, pointer, 'Bounds are {"lower": ..., "upper": ...}', findings)
    if fields is None:
        return None
    refuse_others(fields, ("lower", "upper", "start"), pointer, findings)
    lower = _end(fields.get("lower"), f"{pointer}/lower", -math.inf, findings)
    upper = _end(fields.get("upper"), f"{pointer}/upper", math.inf, findings)
    if lower is None or upper is None:
        return None
    if not lower < upper:
        findings.add(
            "bad-bound",
            pointer,
            f"The lower bound must lie below the upper; got {lower:g} and {upper:g}.",
        )
        return None
    start = _end(fields.get("start"), f"{pointer}/start", math.nan, findings)
    if start is None or math.isnan(start):
        return Bounds(lower, upper)
    if not lower <= start <= upper:
        findings.add(
            "bad-bound",
            f"{pointer}/start",
            f"A start must lie within its bounds {lower:g} to {upper:g}; got {start:g}.",
        )
        return Bounds(lower, upper)
    return Bounds(lower, upper, start)


def _end(value: object, pointer: str, default: float, findings: Findings) -> float | None:
    if value is None:
        return default
    number = finite(value)
    if isinstance(number, float):
        return number
    findings.add(
        "bad-bound", pointer, f"A bound is a finite number, or null if open; got {number}."
    )
    return None


def bounds_fields(bounds: Fields) -> Fields:
    """Write bounds already built as their JSON form, to be read like any other."""
    return {
        name: {
            "lower": None if bound.lower == -math.inf else bound.lower,
            "upper": None if bound.upper == math.inf else bound.upper,
            "start": bound.start,
        }
        if type(bound) is Bounds
        else bound
        for name, bound in bounds.items()
    }
