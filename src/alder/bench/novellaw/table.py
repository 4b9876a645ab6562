"""Our figures beside the paper's, and paired comparisons with Alder."""

from collections.abc import Mapping, Sequence

from alder.bench.benchmark import Row
from alder.bench.novellaw.recipes import PLACES
from alder.bench.statistics import bootstrap_interval, mcnemar_p, median_ratio, tally, wilcoxon_p

PAPER: Mapping[str, tuple[str, str]] = {
    "library": ("0.0", "0.59"),
    "sindy": ("28.3", "0.116"),
    "mlp": ("0.0", "0.42"),
    "one-shot": ("43.3", "6.5e-2"),
    "revision-only": ("75.0", "1.5e-2"),
    "random-query": ("85.0", "9.2e-3"),
    "alder": ("85.0", "5.6e-3"),
    "oracle": ("", ""),
}
"""The paper's recovery in per cent and its median shift NMSE; lines of the table, in its order."""

_HEAD = (
    f"{'':14} {'recovered, % [95 %]':>22} {'paper':>6} {'1e-5':>6} {'iid/comp/stress':>17} "
    f"{'shift':>8} {'paper':>7} {'queries':>7} {'wrong':>5} {'cpu s':>6}"
)


def table(rows: Sequence[Row], figures: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Return the lines of the table: methods, then each rival of Alder paired with it."""
    lines = [_HEAD]
    for method, (recovery, shift) in PAPER.items():
        if method not in figures:
            continue
        f = figures[method]
        low, high = _interval([row for row in rows if row["method"] == method])
        splits = "/".join(
            f"{100.0 * f[key]:.1f}" if key in f else "-"
            for key in ("recovery_iid", "recovery_compositional", "recovery_stress")
        )
        recovered = f"{100.0 * f['recovery_1e3']:.1f} [{100.0 * low:.1f}, {100.0 * high:.1f}]"
        lines.append(
            f"{method:14} {recovered:>22} {recovery:>6} {100.0 * f['recovery_1e5']:6.1f} "
            f"{splits:>17} {f['shift_nmse_median']:8.1e} {shift:>7} {f['queries_total']:7.0f} "
            f"{round(f['wrong_admitted'] * f['cases']):5} {f['cpu_s_median']:6.1f}"
        )
    return [*lines, *_compared(rows, figures)]


def compare(rows: Sequence[Row], first: str, second: str) -> Mapping[str, float]:
    """Compare two methods on the cases both have rows of.

    `shift_ratio` is the median over cases of the first shift error over the second;
    `wilcoxon_p` belongs to it, `mcnemar_p` to the cases one of them alone recovered.
    """
    by_case = {m: {r["case"]: r for r in rows if r["method"] == m} for m in (first, second)}
    cases = [case for case in by_case[first] if case in by_case[second]]
    shifts = [[_shift(by_case[m][case]) for case in cases] for m in (first, second)]
    found = [
        [float(bool(by_case[m][case].get("recovered_1e3"))) for case in cases]
        for m in (first, second)
    ]
    counted = tally(*found)
    return {
        "cases": len(cases),
        "shift_ratio": median_ratio(*shifts),
        "wilcoxon_p": wilcoxon_p(*shifts),
        "wins": counted.wins,
        "ties": counted.ties,
        "losses": counted.losses,
        "mcnemar_p": mcnemar_p(counted.wins, counted.losses),
    }


def _compared(rows: Sequence[Row], figures: Mapping[str, object]) -> list[str]:
    others = [m for m in PAPER if m in figures and m not in ("alder", "oracle")]
    if "alder" not in figures or not others:
        return []
    lines = ["", f"{'alder against':14} {'shift ratio':>12} {'Wilcoxon p':>11} "
                 f"{'win/tie/loss':>13} {'McNemar p':>10}"]  # fmt: skip
    for method in others:
        c = compare(rows, "alder", method)
        fates = f"{c['wins']:.0f}/{c['ties']:.0f}/{c['losses']:.0f}"
        lines.append(
            f"{method:14} {c['shift_ratio']:12.3g} {c['wilcoxon_p']:11.2g} {fates:>13} "
            f"{c['mcnemar_p']:10.2g}"
        )
    return lines


def _interval(rows: Sequence[Row]) -> tuple[float, float]:
    recovered = [float(bool(row.get("recovered_1e3"))) for row in rows]
    return bootstrap_interval(recovered, [PLACES[row["case"]].recipe for row in rows])


def _shift(row: Row) -> float:
    error = row.get("shift_nmse")
    return 1e30 if error is None else float(error)
