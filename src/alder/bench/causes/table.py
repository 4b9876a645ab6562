"""Planted causes against named ones, as lines of text."""

from collections.abc import Mapping, Sequence

from alder.bench.benchmark import Row
from alder.bench.causes.scores import ADMITTED, WRONG, error_of, is_wrong, planted_cause
from alder.bench.causes.worlds import PLANTS


def table(rows: Sequence[Row], figures: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Set planted causes against named ones, and what following the advice led to."""
    columns = (*PLANTS, ADMITTED)
    short = {cause: cause.removeprefix("missing-").removeprefix("no-")[:9] for cause in columns}
    lines = [
        f"{'planted / named':20}"
        + "".join(f"{short[c]:>10}" for c in columns)
        + f"{'F1':>7}{'followed':>10}"
    ]
    for found in figures.values():
        for cause in PLANTS:
            own = [row for row in rows if planted_cause(row) == cause]
            if not own:
                continue
            counts = [sum(row.get("named") == name for row in own) for name in columns]
            lines.append(
                f"{cause:20}"
                + "".join(f"{count or '.':>10}" for count in counts)
                + f"{found[f'f1_{cause}']:7.2f}{found[f'followed_admitted_{cause}']:10.0%}"
            )
        lines += _totals(found)
    return lines + _wrong_ones(rows)


def _totals(found: Mapping[str, float]) -> list[str]:
    n = found["worlds"]
    misnamed, failed, wrong, beyond = (
        round(n * found[name]) for name in ("misnamed", "failed", "wrong_admitted", "beyond_bound")
    )
    return [
        "",
        f"macro-F1 {found['macro_f1']:.3f} (goal 0.9) on {n:.0f} worlds, "
        f"{found['macro_f1_refused']:.3f} on the {round(n * found['refused'])} that were refused, "
        f"{misnamed} of which name another cause",
        f"admitted after following the advice once: {found['followed_admitted']:.1%} of these "
        "(goal 80 %)",
        f"laws admitted: {found['laws']:.0f}; beyond the bound stated with their admission: "
        f"{beyond}; with a noise-free NMSE above {WRONG:g}: {wrong}",
        f"studies that failed: {failed}; {found['cpu_s_total']:.0f} CPU seconds",
    ]


def _wrong_ones(rows: Sequence[Row]) -> list[str]:
    """List the laws above the limit, the worst first, with what was planted and what was said."""
    worst = sorted(filter(is_wrong, rows), key=lambda row: -error_of(row))
    return [
        f"  {row['case']:20} {row['kind']:14} {error_of(row):8.2g}  "
        f"{'after following' if row.get('followed_admitted') else 'at first'}: "
        f"{row['followed_law'] if row.get('followed_admitted') else row['law']}"
        for row in worst
    ]
