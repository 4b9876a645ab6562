"""The public release: what everybody may have of each case, and commitments to the rest."""

import csv
import hashlib
import json
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from alder.bench.novellaw.domains import Columns
from alder.bench.novellaw.variation import Case, varied_case

PUBLIC = ("fit", "validation")
"""Roles whose rows are released; of all others only a salted digest is."""


def write_release(cases: Sequence[str], settings: Mapping[str, Any], folder: Path) -> None:
    """Write fit and validation rows and commitments of each case.

    A commitment is the SHA-256 of a salt and the rows. Salts stand in `salts.json`, which is not
    part of the release: who holds them can show later what was committed to. Targets, protected
    rows, test rows and unqueried outcomes are nowhere.
    """
    public = folder / "public"
    salts: dict[str, dict[str, str]] = {}
    for name in cases:
        case = varied_case(name, settings)
        salts[name] = {role: secrets.token_hex(16) for role in case.rows if role not in PUBLIC}
        place = public / name
        place.mkdir(parents=True, exist_ok=True)
        for role in PUBLIC:
            _write_rows(place / f"{role}.csv", case.rows[role])
        text = json.dumps(_commitments(case, salts[name]), indent=2)
        (place / "commitments.json").write_text(text + "\n", encoding="utf-8")
    (folder / "salts.json").write_text(json.dumps(salts, indent=2) + "\n", encoding="utf-8")


def commitment(rows: Columns, salt: str) -> str:
    """Return the digest of rows: their columns in order, as little-endian float64."""
    digest = hashlib.sha256(bytes.fromhex(salt))
    for name, column in rows.items():
        digest.update(name.encode() + b"\0")
        digest.update(np.ascontiguousarray(column, dtype="<f8").tobytes())
    return digest.hexdigest()


def _commitments(case: Case, salts: Mapping[str, str]) -> dict[str, Any]:
    return {
        "operators": list(case.grammar.operators),
        "max_nodes": case.grammar.max_nodes,
        "protected": {
            role: {"rows": len(case.rows[role]["r"]), "sha256": commitment(case.rows[role], salt)}
            for role, salt in salts.items()
        },
    }


def _write_rows(path: Path, rows: Columns) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(rows)
        writer.writerows(zip(*(map(float, column) for column in rows.values()), strict=True))
