from pathlib import Path

import numpy as np
import pytest

from alder.cli.main import main
from alder.tables import as_columns, read_csv

RANGES = {
    "r": (0.6, 4.0),
    "v": (-2.5, 2.5),
    "m1": (0.5, 3.0),
    "m2": (0.5, 2.5),
    "u": (-4.0, 5.0),
}
TRUTH = {"k": 2.4, "p": 1.5, "c": 0.35, "b": 1.8, "s": 1.6}


def test_the_demo_shows_a_law_near_the_truth(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo"]) == 0
    shown = capsys.readouterr().out
    table = [line.split() for line in shown.splitlines()]
    estimates = {line[0]: float(line[1]) for line in table if len(line) > 4 and line[0] in TRUTH}
    assert estimates == pytest.approx(TRUTH, abs=0.1)
    assert "\\tanh" in shown
    assert all(len(line) <= 100 for line in shown.splitlines() if "\\" not in line)


def test_the_rows_of_the_demo_follow_the_law_its_readme_states(tmp_path: Path) -> None:
    assert main(["demo", "--data", str(tmp_path / "rows.csv")]) == 0
    shipped = as_columns(read_csv(tmp_path / "rows.csv"))
    rng = np.random.default_rng(19)
    x = {name: np.round(rng.uniform(low, high, 60), 4) for name, (low, high) in RANGES.items()}
    pull = 2.4 * x["m2"] / (x["m1"] + x["m2"]) * x["r"] ** -1.5
    a = -pull - 0.35 * x["v"] + 1.8 * np.tanh(x["u"] / 1.6)
    x["a"] = np.round(a + rng.normal(0.0, 0.03, 60), 4)
    for name, column in x.items():
        assert shipped[name] == pytest.approx(column, abs=1e-9)
