"""The file a law is saved in: one JSON object, schema `alder/law/1`.

Numbers that JSON cannot hold are the strings "inf", "-inf" and "nan". The digest in the file is
that of everything else in it, so an edited file is noticed.
"""

import dataclasses
import hashlib
import json
import math
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypedDict, cast

import numpy as np

from alder.arrays import FloatArray
from alder.errors import AlderError, BadLawFile
from alder.expr.json import from_json as structure_from_json
from alder.expr.json import to_json as structure_to_json
from alder.expr.json import tree_schema
from alder.expr.nodes import Expr
from alder.expr.operators import Floors
from alder.records.coefficient import Coefficient, Loss
from alder.records.noise import Noise
from alder.records.scope import Scope
from alder.records.variable import Variable

SCHEMA = "alder/law/1"

_WORDS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
_STATES = ["free", "fixed", "at lower bound", "at upper bound", "undetermined"]


class LawParts(TypedDict):
    """The fields of a law."""

    structure: Expr
    target: Variable
    variables: tuple[Variable, ...]
    coefficients: tuple[Coefficient, ...]
    covariance: FloatArray
    residual_df: int
    noise: Noise
    scope: Scope
    floors: Floors
    n_rows: int
    nmse: float
    objective: Loss
    provenance: Mapping[str, str]
    exponents: tuple[float, ...]


def content_of(law: LawParts) -> dict[str, Any]:
    """Return what a law says as JSON values; the digest is taken over this."""
    noise, scope = law["noise"], law["scope"]
    return {
        "schema": SCHEMA,
        "structure": structure_to_json(law["structure"]),
        "target": variable_to_json(law["target"]),
        "variables": [variable_to_json(variable) for variable in law["variables"]],
        "coefficients": [_coefficient_to_json(c) for c in law["coefficients"]],
        "covariance": [[_number(entry) for entry in row] for row in law["covariance"].tolist()],
        "residual_df": int(law["residual_df"]),
        "noise": {
            "additive": _number(noise.additive),
            "proportional": _number(noise.proportional),
            "origin": noise.origin,
            **_groups_to_json(noise),
        },
        "scope": {
            "ranges": {name: [_number(end) for end in ends] for name, ends in scope.ranges.items()},
            "note": scope.note,
        },
        "floors": {
            part.name: _number(getattr(law["floors"], part.name))
            for part in dataclasses.fields(Floors)
        },
        "n_rows": int(law["n_rows"]),
        "nmse": _number(law["nmse"]),
        "objective": law["objective"],
        "provenance": dict(law["provenance"]),
        # Only where there are some, so that laws from before keep their digests.
        **({"exponents": [_number(n) for n in law["exponents"]]} if law["exponents"] else {}),
    }


def digest_of(content: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a law's content as 64 hexadecimal digits."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def to_file(law: LawParts) -> str:
    """Return the law file."""
    content = content_of(law)
    file = {"schema": SCHEMA, "digest": digest_of(content), **content}
    return json.dumps(file, indent=1, allow_nan=False) + "\n"


def _require_law(schema: str, name: str) -> None:
    if schema.startswith("alder/dynamics/"):
        raise BadLawFile(
            f"{name} holds equations of motion of several states, not one law; read it in Python "
            "with `alder.Dynamics.load` and follow it with `rollout`, or put a world where you "
            "want it with `alder plan`."
        )
    if schema != SCHEMA:
        raise BadLawFile(
            f"{name} has the schema {schema!r}; this version of Alder reads {SCHEMA!r}."
        )


def from_file(text: str, name: str = "The law file") -> LawParts:
    """Read a law file; raise `BadLawFile` with one sentence where it is not one."""
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise BadLawFile(f"{name} is not JSON; a file written by `Law.save` is expected.") from None
    if not isinstance(value, dict):
        raise BadLawFile(f"{name} is JSON but not a law; an object is expected.")
    file = cast("dict[str, Any]", value)
    _require_law(str(file.get("schema")), name)
    try:
        law = parts_of(file)
        digest = digest_of(content_of(law))
    except KeyError as error:
        raise BadLawFile(f"{name} misses {error.args[0]!r}; save the law again.") from None
    except AlderError as error:
        raise BadLawFile(f"{name} does not hold a law: {error}") from None
    except (TypeError, ValueError, AttributeError, RecursionError):
        raise BadLawFile(f"{name} does not follow {SCHEMA}; save the law again.") from None
    if digest != file.get("digest"):
        raise BadLawFile(
            f"{name} was changed after it was saved: its content does not match its digest."
        )
    return law


def write_whole(path: Path, text: str) -> None:
    """Write a file such that a reader sees the old one or the whole new one, never a part."""
    try:
        handle, scratch = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise BadLawFile(f"{path.name} cannot be written: {error.strerror}.") from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(scratch).chmod(0o644)
        Path(scratch).replace(path)
    except BaseException:
        Path(scratch).unlink(missing_ok=True)
        raise


def law_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of law files."""
    structure = dict(tree_schema())
    dialect, definitions = structure.pop("$schema"), structure.pop("$defs")
    number = {"anyOf": [{"type": "number"}, {"enum": list(_WORDS)}]}
    text = {"type": "string"}
    maybe_text = {"type": ["string", "null"]}
    count = {"type": "integer"}
    pair = {"type": "array", "items": number, "minItems": 2, "maxItems": 2}
    variable = _object(
        {
            "name": {"type": "string", "minLength": 1},
            "unit": maybe_text,
            "role": {"enum": ["state", "action", "property", "geometry", None]},
            "range": {"anyOf": [pair, {"type": "null"}]},
            "description": text,
            "kind": {"enum": ["real", "angle", "indicator"]},
        }
    )
    coefficient = _object(
        {
            "name": text,
            **dict.fromkeys(("value", "standard_error", "lower", "upper"), number),
            "state": {"enum": _STATES},
            "unit": maybe_text,
        }
    )
    law = _object(
        {
            "schema": {"const": SCHEMA},
            "digest": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
            "structure": structure,
            "target": variable,
            "variables": {"type": "array", "items": variable},
            "coefficients": {"type": "array", "items": coefficient},
            "covariance": {"type": "array", "items": {"type": "array", "items": number}},
            "residual_df": count,
            "noise": _noise_schema(number, count),
            "scope": _object(
                {"ranges": {"type": "object", "additionalProperties": pair}, "note": text}
            ),
            "floors": _object({part.name: number for part in dataclasses.fields(Floors)}),
            "n_rows": count,
            "nmse": number,
            "objective": {"enum": ["squared", "events"]},
            "provenance": {"type": "object", "additionalProperties": text},
        },
        optional={"exponents": {"type": "array", "items": number}},
    )
    return {
        "$schema": dialect,
        "title": "A law saved by Alder",
        **law,
        "$defs": definitions,
    }


def _noise_schema(number: Mapping[str, Any], count: Mapping[str, Any]) -> dict[str, Any]:
    origin = {"enum": ["estimated", "given", "none"]}
    parts = {"additive": number, "proportional": number, "origin": origin}
    return _object(parts, optional={"between": number, "n_groups": count})


def _object(
    properties: Mapping[str, Any], optional: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {**properties, **(optional or {})},
        "required": list(properties),
        "additionalProperties": False,
    }


def _number(value: float) -> float | str:
    value = float(value)
    if math.isfinite(value):
        return value
    return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")


def _read_number(value: object) -> float:
    if isinstance(value, str):
        return _WORDS[value] if value in _WORDS else _refuse(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return _refuse(value)
    return float(value)


def _read_count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise BadLawFile(f"{value!r} is not a whole number.")
    return value


def _refuse(value: object) -> float:
    raise BadLawFile(f"{value!r} is not a number.")


def _refuse_constant(word: str) -> float:
    raise ValueError(word)


def _groups_to_json(noise: Noise) -> dict[str, Any]:
    """Write the scatter of groups where there are groups; laws without keep their digests."""
    if noise.n_groups == 0:
        return {}
    return {"between": _number(noise.between), "n_groups": noise.n_groups}


def variable_to_json(variable: Variable) -> dict[str, Any]:
    """Write a variable as JSON values."""
    return {
        "name": variable.name,
        "unit": variable.unit,
        "role": variable.role,
        "range": None if variable.range is None else list(variable.range),
        "description": variable.description,
        "kind": variable.kind,
    }


def variable_from_json(value: Mapping[str, Any]) -> Variable:
    """Read what `variable_to_json` wrote."""
    ends = value["range"]
    return Variable(
        name=value["name"],
        unit=value["unit"],
        role=value["role"],
        range=None if ends is None else (_read_number(ends[0]), _read_number(ends[1])),
        description=value["description"],
        kind=value["kind"],
    )


def _coefficient_to_json(coefficient: Coefficient) -> dict[str, Any]:
    return {
        "name": coefficient.name,
        "value": _number(coefficient.value),
        "standard_error": _number(coefficient.standard_error),
        "lower": _number(coefficient.lower),
        "upper": _number(coefficient.upper),
        "state": coefficient.state,
        "unit": coefficient.unit,
    }


def _coefficient_from_json(value: Mapping[str, Any]) -> Coefficient:
    if value["state"] not in _STATES:
        raise BadLawFile(f"{value['state']!r} is not a state of a coefficient.")
    return Coefficient(
        name=value["name"],
        value=_read_number(value["value"]),
        standard_error=_read_number(value["standard_error"]),
        lower=_read_number(value["lower"]),
        upper=_read_number(value["upper"]),
        state=value["state"],
        unit=value["unit"],
    )


def parts_of(file: Mapping[str, Any]) -> LawParts:
    """Return the fields of a law from what `content_of` wrote."""
    return LawParts(
        structure=structure_from_json(file["structure"]),
        target=variable_from_json(file["target"]),
        variables=tuple(map(variable_from_json, file["variables"])),
        coefficients=tuple(map(_coefficient_from_json, file["coefficients"])),
        covariance=_covariance(file["covariance"]),
        residual_df=_read_count(file["residual_df"]),
        noise=Noise(
            additive=_read_number(file["noise"]["additive"]),
            proportional=_read_number(file["noise"]["proportional"]),
            origin=file["noise"]["origin"],
            between=_read_number(file["noise"].get("between", 0.0)),
            n_groups=_read_count(file["noise"].get("n_groups", 0)),
        ),
        scope=Scope(
            {
                name: (_read_number(low), _read_number(high))
                for name, (low, high) in file["scope"]["ranges"].items()
            },
            file["scope"]["note"],
        ),
        floors=Floors(
            **{
                part.name: _read_number(file["floors"][part.name])
                for part in dataclasses.fields(Floors)
            }
        ),
        n_rows=_read_count(file["n_rows"]),
        nmse=_read_number(file["nmse"]),
        objective=file["objective"],
        provenance={str(key): str(text) for key, text in file["provenance"].items()},
        exponents=tuple(map(_read_number, file.get("exponents", []))),
    )


def _covariance(rows: list[list[object]]) -> FloatArray:
    square = [[_read_number(entry) for entry in row] for row in rows]
    return np.array(square, dtype=np.float64).reshape(len(square), len(square))
