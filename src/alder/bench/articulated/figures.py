"""Figures of a method from its rows, and the table that sets them beside the paper's."""

from collections.abc import Mapping, Sequence

import numpy as np

from alder.bench.articulated.probes import N_QUERIES
from alder.bench.articulated.scoring import by_family
from alder.bench.articulated.worlds import FAMILIES
from alder.bench.benchmark import Row

PAPER: Mapping[str, Mapping[str, tuple[str, str, str, str]]] = {
    "drawer": {
        "nominal": ("6.8", "5.04", "83.6", "96.7"),
        "passive": ("7.5", "5.78", "80.3", "94.2"),
        "mlp": ("3.7", "1.98", "96.9", "99.5"),
        "alder": ("0.9", "0.74", "100", "100"),
        "parameter-oracle": ("0.9", "0.74", "100", "100"),
        "outcome-oracle": ("0.0", "", "", "100"),
    },
    "door": {
        "nominal": ("7.2", "4.26", "94.4", "95.9"),
        "passive": ("7.4", "3.80", "89.7", "96.4"),
        "mlp": ("3.1", "1.81", "99.5", "100"),
        "alder": ("0.9", "0.49", "100", "100"),
        "parameter-oracle": ("0.9", "0.50", "100", "100"),
        "outcome-oracle": ("0.0", "", "", "100"),
    },
}
"""The paper's OOD RMSE and control MAE in thousandths, success and relative success in per cent."""

N_TARGETS = 16


def method_figures(rows: Sequence[Row]) -> dict[str, float]:
    """Return the figures of one method; a failed row is a world without success.

    Only Alder asks a verifier; the other models are never refused. The outcome oracle's errors are
    those of the best of finitely many actions.
    """
    n_targets = sum(row.get("targets", N_TARGETS) for row in rows)
    found: dict[str, float] = {
        "worlds": len(rows),
        "admitted": sum(bool(row.get("admitted")) for row in rows) / len(rows),
        "support": sum(bool(row.get("support")) for row in rows) / len(rows),
        "queries_median": float(np.median([row.get("queries", N_QUERIES) for row in rows])),
        "queries_total": _total(rows, "queries"),
        "success": _total(rows, "successes") / n_targets,
        "relative_success": _total(rows, "relative_successes") / n_targets,
        "unsafe": _total(rows, "unsafe"),
        "failed": sum("error" in row for row in rows),
        "cpu_s_total": _total(rows, "cpu_s"),
    }
    executed = [error for row in rows for error in row.get("errors", ()) if error is not None]
    found["control_mae"] = float(np.mean(executed)) if executed else 1e30
    found["control_max"] = float(np.max(executed)) if executed else 1e30
    return found | _error_figures(rows)


def _error_figures(rows: Sequence[Row]) -> dict[str, float]:
    """Return the mean prediction error, by family too, and its spread over seeds."""
    scored = [row for row in rows if row.get("ood_rmse") is not None]
    found = {"ood_rmse": 1e30, "ood_coverage": len(scored) / len(rows)}
    if not scored:
        return found
    errors = [float(row["ood_rmse"]) for row in scored]
    found["ood_rmse"] = float(np.mean(errors))
    seeds: dict[str, list[float]] = {}
    for row, error in zip(scored, errors, strict=True):
        seeds.setdefault(row["case"].rpartition("-")[2], []).append(error)
    if len(seeds) > 1:
        found["ood_rmse_sd"] = float(np.std([np.mean(own) for own in seeds.values()], ddof=1))
    cells = by_family([row["case"] for row in scored], errors)
    return found | {f"ood_rmse_{family}": error for family, error in cells.items()}


def _total(rows: Sequence[Row], name: str) -> float:
    return float(sum(row.get(name) or 0 for row in rows))


def method_table(kind: str, figures: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Set our figures beside the paper's, each method with the paper's line below it."""
    lines = [
        f"{'':17} {'OOD RMSE':>9} {'control MAE':>11} {'success %':>9} {'relative %':>10} "
        f"{'unsafe':>6} {'admitted %':>10} {'support %':>9} {'queries':>7}",
        f"{'':17} {'x 1e-3':>9} {'x 1e-3':>11}",
    ]
    for method, paper in PAPER[kind].items():
        if method not in figures:
            continue
        f = dict(figures[method])
        if method == "outcome-oracle":  # it knows finitely many actions, and reaches no target
            f = {name: value for name, value in f.items() if name not in ("control_mae", "success")}
        lines += [
            f"{method:17} {_cell(f, 'ood_rmse', 1e3, '9.3f')} "
            f"{_cell(f, 'control_mae', 1e3, '11.3f')} {_cell(f, 'success', 100, '9.1f')} "
            f"{_cell(f, 'relative_success', 100, '10.1f')} {_cell(f, 'unsafe', 1, '6.0f')} "
            f"{_cell(f, 'admitted', 100, '10.1f')} {_cell(f, 'support', 100, '9.1f')} "
            f"{_cell(f, 'queries_median', 1, '7.1f')}",
            f"{'  paper':17} {paper[0]:>9} {paper[1]:>11} {paper[2]:>9} {paper[3]:>10}",
        ]
    return [*lines, *_cells(figures)]


def _cell(figures: Mapping[str, float], name: str, scale: float, form: str) -> str:
    width = int(form.partition(".")[0])
    return format(scale * figures[name], form) if name in figures else " " * width


def _cells(figures: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Say in how many families the law predicts better than the network."""
    if not {"alder", "mlp"} <= set(figures):
        return []
    names = [f"ood_rmse_{family}" for family in FAMILIES]
    known = [n for n in names if n in figures["alder"] and n in figures["mlp"]]
    below = sum(figures["alder"][name] < figures["mlp"][name] for name in known)
    return [f"alder predicts better than the MLP in {below} of {len(known)} families"]
