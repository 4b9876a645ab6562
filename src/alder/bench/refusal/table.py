"""The figures of a run, and the table of families that is printed."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from alder.bench.benchmark import Row
from alder.bench.null.run import upper_bound
from alder.bench.refusal.worlds import CONTROL, FAMILIES


def figures(rows: Sequence[Row]) -> dict[str, float]:
    """Return the figures of one method; a world that failed counts as falsely admitted.

    `honest_admitted` are admissions whose claim holds although the grammar cannot say the truth;
    `prevented` are refusals whose candidate would have been a false admission. The control arm
    counts a failure as not admitted.
    """
    control, worlds = [r for r in rows if _is_control(r)], [r for r in rows if not _is_control(r)]
    n_false = sum(bool(row.get("false", True)) for row in worlds)
    found: dict[str, float] = {"worlds": len(worlds), "controls": len(control)}
    if worlds:
        found |= {
            "false_admitted": n_false / len(worlds),
            "false_admitted_upper": upper_bound(n_false, len(worlds)),
            "admitted": _share(worlds, "admitted"),
            "honest_admitted": sum(map(_is_honest, worlds)) / len(worlds),
            "prevented": _share(worlds, "prevented"),
        }
    if control:
        found |= {
            "control_admitted": _share(control, "admitted"),
            "control_false": _share(control, "false"),
        }
    bounds = [row["bound_holds"] for row in rows if row.get("bound_holds") is not None]
    return found | {
        "bounds_stated": len(bounds),
        "bounds_broken": len(bounds) - sum(bounds),
        "failed": sum("error" in row for row in rows) / len(rows),
        "queries_total": float(sum(row.get("queries", 0) for row in rows)),
        "cpu_s_median": float(np.median([row.get("cpu_s", 0.0) for row in rows])),
    }


def table(rows: Sequence[Row], figures: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Give each family a line: how often it was admitted, falsely or not, and why refused."""
    lines = [
        f"{'':17} {'worlds':>6} {'false':>6} {'honest':>7} {'refused':>8} {'prevented':>10}  causes"
    ]
    for family in (*FAMILIES, CONTROL):
        of_family = [row for row in rows if row["case"].rpartition("-")[0] == family]
        if of_family:
            lines.append(_line(family, of_family))
    worlds = [row for row in rows if not _is_control(row)]
    if worlds:
        lines.append(_line("all but control", worlds))
    return lines


def _line(name: str, rows: Sequence[Row]) -> str:
    n_false = sum(bool(row.get("false", True)) for row in rows)
    n_refused = sum(row.get("verdict") == "refused" for row in rows)
    n_prevented = sum(bool(row.get("prevented", False)) for row in rows)
    causes = Counter(row["cause"] for row in rows if row.get("cause"))
    said = ", ".join(f"{cause} {n}" for cause, n in causes.most_common())
    return (
        f"{name:17} {len(rows):6} {n_false:6} {sum(map(_is_honest, rows)):7} {n_refused:8} "
        f"{n_prevented:10}  {said}"
    )


def _is_control(row: Row) -> bool:
    return str(row["case"]).startswith(f"{CONTROL}-")


def _is_honest(row: Row) -> bool:
    return bool(row.get("admitted", False)) and not row["false"]


def _share(rows: Sequence[Row], name: str) -> float:
    return sum(bool(row.get(name, False)) for row in rows) / len(rows)
