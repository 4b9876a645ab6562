"""Our figures beside the paper's, and paired comparisons of costs."""

from collections.abc import Mapping, Sequence

import numpy as np

from alder.bench.benchmark import Row
from alder.bench.identification.trial import METHODS, UNRESOLVED
from alder.bench.statistics import bootstrap_interval, tally

PAPER: Mapping[str, tuple[str, str]] = {
    "passive": ("4.4", "8.85"),
    "random": ("94.0", "3.53"),
    "coverage": ("100.0", "1.91"),
    "uncertainty": ("99.5", "1.35"),
    "disagreement": ("100.0", "1.16"),
    "information": ("", ""),
    "oracle": ("100.0", "1.18"),
}
"""The paper's share identified in per cent and its mean cost."""

PAPER_SAVES: Mapping[str, str] = {
    "passive": "7.69 [7.55, 7.80] 182/0/0",
    "random": "2.36 [2.05, 2.68] 151/29/2",
    "coverage": "0.74 [0.56, 0.94] 63/118/1",
    "uncertainty": "0.18 [0.08, 0.32] 18/161/3",
}
"""What disagreement saves in the paper, with its interval, and its wins, ties and losses."""

_HEAD = (
    f"{'':13} {'identified, %':>13} {'paper':>6} {'mean cost [95 %]':>20} {'paper':>6} "
    f"{'median':>6} {'calibration':>11} {'unsettled':>9}"
)


def table(rows: Sequence[Row], figures: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Return the lines of the table: selectors, then what the two of ours save on each other."""
    shown = [method for method in METHODS if method in figures]
    n = max((int(figures[m]["ambiguous"]) for m in shown), default=0)
    lines = [f"{n} initially ambiguous cases", _HEAD]
    for method in shown:
        f, (identified, cost) = figures[method], PAPER[method]
        costs = list(costs_of(rows, method).values())
        low, high = bootstrap_interval(costs, range(len(costs))) if costs else (0.0, 0.0)
        mean = f"{f['mean_cost']:.3f} [{low:.3f}, {high:.3f}]"
        lines.append(
            f"{method:13} {100.0 * f['identified']:13.1f} {identified:>6} {mean:>20} {cost:>6} "
            f"{f['median_cost']:6.0f} {f['calibration_error']:11.3f} "
            f"{f['calibration_error_unsettled']:9.3f}"
        )
    for method in ("disagreement", "information"):
        lines += _compared(rows, shown, method)
    return lines


def costs_of(rows: Sequence[Row], method: str) -> dict[str, float]:
    """Return the cost of each initially ambiguous case; a failed row counts as unresolved."""
    return {
        row["case"]: float(row.get("cost", UNRESOLVED))
        for row in rows
        if row["method"] == method and row.get("ambiguous", True)
    }


def saves(rows: Sequence[Row], first: str, second: str) -> Mapping[str, float]:
    """Return what the first selector saves on the second, query by query on the same cases."""
    one, other = costs_of(rows, first), costs_of(rows, second)
    cases = [case for case in one if case in other]
    ours, theirs = (np.array([costs[case] for case in cases]) for costs in (one, other))
    low, high = bootstrap_interval(theirs - ours, cases)
    counted = tally(theirs, ours)
    return {
        "cases": len(cases),
        "mean": float(np.mean(theirs - ours)),
        "low": low,
        "high": high,
        "wins": counted.wins,
        "ties": counted.ties,
        "losses": counted.losses,
    }


def _compared(rows: Sequence[Row], shown: Sequence[str], method: str) -> list[str]:
    others = [other for other in shown if other != method and costs_of(rows, other)]
    if method not in shown or not others or not costs_of(rows, method):
        return []
    lines = ["", f"{f'{method} saves on':21} {'queries [95 %]':>24} {'win/tie/loss':>13}   paper"]
    for other in others:
        s = saves(rows, method, other)
        mean = f"{s['mean']:.3f} [{s['low']:.3f}, {s['high']:.3f}]"
        fates = f"{s['wins']:.0f}/{s['ties']:.0f}/{s['losses']:.0f}"
        paper = PAPER_SAVES.get(other, "") if method == "disagreement" else ""
        lines.append(f"{other:21} {mean:>24} {fates:>13}   {paper}".rstrip())
    return lines
