"""The figures of planted causes: macro-F1, what following led to, and laws that are wrong."""

from collections.abc import Sequence

from alder.bench.benchmark import Row
from alder.bench.causes.worlds import PLANTS

WRONG = 1e-2
"""An admitted law whose noise-free NMSE over the whole domain exceeds this is wrong."""

ADMITTED = "admitted"
"""Stands where a cause would: the study of a planted world ended with a law."""


def figures(rows: Sequence[Row]) -> dict[str, float]:
    """Return macro-F1 over the causes, what following led to, and the figures of each cause.

    A row that failed names nothing. A world whose study was admitted is missed by its cause; there
    is no advice to follow, so it counts for `named` and not for `followed_admitted`.
    `macro_f1_refused` is macro-F1 of the refusals alone.
    """
    causes = [cause for cause in PLANTS if any(planted_cause(row) == cause for row in rows)]
    by_cause = {cause: _scores(rows, cause) for cause in causes}
    refused = [row for row in rows if row.get("named") != ADMITTED]
    found: dict[str, float] = {
        "worlds": len(rows),
        "macro_f1": sum(f1 for _, _, f1 in by_cause.values()) / max(len(causes), 1),
        "macro_f1_refused": sum(_scores(refused, cause)[2] for cause in causes)
        / max(len(causes), 1),
        "named": sum(row.get("named") == planted_cause(row) for row in rows) / len(rows),
        "refused": len(refused) / len(rows),
        "misnamed": sum(_is_misnamed(row) for row in rows) / len(rows),
        "failed": sum("error" in row for row in rows) / len(rows),
        "laws": float(sum(_n_laws(row) for row in rows)),
        "cpu_s_total": float(sum(row.get("cpu_s", 0.0) for row in rows)),
        "followed_admitted": _rate(refused, "followed_admitted"),
        "wrong_admitted": sum(is_wrong(row) for row in rows) / len(rows),
        "beyond_bound": sum(_is_beyond(row) for row in rows) / len(rows),
    }
    for cause, (precision, recall, f1) in by_cause.items():
        own = [row for row in refused if planted_cause(row) == cause]
        found |= {
            f"precision_{cause}": precision,
            f"recall_{cause}": recall,
            f"f1_{cause}": f1,
            f"followed_admitted_{cause}": _rate(own, "followed_admitted"),
        }
    return found


def planted_cause(row: Row) -> str:
    """Return the planted cause; the name of a case holds it, so that a failed row has one too."""
    return str(row["case"]).rpartition("-")[0]


def _scores(rows: Sequence[Row], cause: str) -> tuple[float, float, float]:
    r"""Return precision $p$, recall $r$ and $F_1 = 2 p r / (p + r)$ of one cause."""
    planted_rows = [row for row in rows if planted_cause(row) == cause]
    named_rows = [row for row in rows if row.get("named") == cause]
    right = sum(row.get("named") == cause for row in planted_rows)
    precision = right / len(named_rows) if named_rows else 0.0
    recall = right / max(len(planted_rows), 1)
    f1 = 2.0 * precision * recall / (precision + recall) if right else 0.0
    return precision, recall, f1


def _rate(rows: Sequence[Row], name: str) -> float:
    return sum(bool(row.get(name, False)) for row in rows) / max(len(rows), 1)


def _n_laws(row: Row) -> int:
    """Count the laws that were admitted, at first or after following."""
    return sum(bool(row.get(name, False)) for name in ("admitted", "followed_admitted"))


def _is_misnamed(row: Row) -> bool:
    """Say whether a refusal names another cause than the planted one."""
    return row.get("named") not in (None, ADMITTED, planted_cause(row))


def error_of(row: Row) -> float:
    """Return the larger noise-free NMSE of the laws of a row that were admitted; 0 for none."""
    errors = (row.get("nmse"), row.get("followed_nmse"))
    return max((float(error) for error in errors if error is not None), default=0.0)


def is_wrong(row: Row) -> bool:
    """Say whether a law of the row that was admitted is wrong."""
    return error_of(row) > WRONG


def _is_beyond(row: Row) -> bool:
    """Say whether a law of the row, at first or after following, breaks its own bound."""
    return bool(row.get("beyond") or row.get("followed_beyond"))
