"""The picture of a refusal that names a region, or a time, of real refused studies."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from study.problems import GRAMMAR, rows

from alder.arrays import FloatArray
from alder.ledger.store import read_events
from alder.records.budget import Budget
from alder.records.protected import Protected
from alder.report.proofs import proof
from alder.report.story import tell
from alder.study.discover import discover
from alder.verification.criteria import Criteria, Thresholds
from alder.worlds.log import LogWorld

Columns = dict[str, FloatArray]


def _picture(folder: Path, more: Callable[[Columns], FloatArray]) -> str:
    """Return title and picture of a study whose target has something the guess cannot say."""

    def table(seed: int) -> Columns:
        columns = {**rows(60, seed=seed), "clock": np.arange(60.0)}
        return {**columns, "y": columns["y"] + more(columns)}

    outcome = discover(
        LogWorld(),
        GRAMMAR,
        initial=table(1),
        protected=Protected(table(2)),
        budget=Budget(proposals=1, queries=0),
        proposer="guesses",
        guesses=["a*x + b*v^2"],
        ledger=folder / "one.alder",
        time_column="clock",
        criteria=Criteria(thresholds=Thresholds(0.01)),
    )
    assert outcome.refusal is not None
    figure = proof(tell(read_events(folder / "one.alder")), outcome.refusal)
    assert figure is not None
    return f"{figure.title} {figure.wide}"


def test_the_region_of_a_missing_term_is_shaded(tmp_path: Path) -> None:
    picture = _picture(tmp_path, lambda columns: 3.0 * np.sin(3.0 * columns["x"]))
    assert "follows x" in picture
    assert "var(--soft)" in picture


def test_what_drifts_is_drawn_along_the_time(tmp_path: Path) -> None:
    picture = _picture(tmp_path, lambda columns: 3.0 * np.sin(columns["clock"] / 7.0))
    assert "follows clock" in picture
