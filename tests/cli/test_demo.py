from pathlib import Path

import numpy as np
import pytest

from alder.cli.demo import study
from alder.cli.main import main
from alder.ledger.audit import audit
from alder.ledger.store import read_events
from alder.records.law import Law
from alder.tables import as_columns, read_csv

RANGES = {
    "r": (0.6, 4.0),
    "v": (-2.5, 2.5),
    "m1": (0.5, 3.0),
    "m2": (0.5, 2.5),
    "u": (-4.0, 5.0),
}


@pytest.fixture
def shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> str:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    assert main(["demo"]) == 0
    return capsys.readouterr().out


def test_the_experiment_at_twice_the_mass_refutes_one_of_two_laws(shown: str) -> None:
    lines = [line.split() for line in shown.splitlines()]
    verdicts = {line[1]: line[-1] for line in lines if "said" in line}
    assert verdicts == {"k*F": "refuted", "k*F/m": "stands"}
    assert "m = 4" in shown
    assert "✓ ADMITTED  a = k*F/m" in shown
    assert all(len(line) <= 100 for line in shown.splitlines())


def test_the_demo_leaves_a_law_a_ledger_and_a_report(shown: str) -> None:
    folder = Path("alder-demo")
    assert Law.load(folder / "law.json").values["k"] == pytest.approx(0.8, abs=0.02)
    assert audit(read_events(folder / "run.alder")).findings == ()
    assert "<html" in (folder / "report.html").read_text(encoding="utf-8")
    assert "alder-demo/report.html" in shown


def test_a_second_demo_leaves_the_first_alone(shown: str) -> None:
    before = Path("alder-demo/run.alder").read_bytes()
    assert main(["demo"]) == 0
    assert Path("alder-demo/run.alder").read_bytes() == before
    assert Path("alder-demo-2/law.json").read_bytes() == Path("alder-demo/law.json").read_bytes()
    assert shown


def test_both_laws_of_the_demo_fit_its_first_rows_alike() -> None:
    from alder.fitting import fit

    settings = study()
    fits = [fit(law, settings.initial, target="a") for law in ("k*F", "k*F/m")]
    assert fits[0].loss == fits[1].loss


def test_the_rows_of_the_tutorial_follow_the_law_their_readme_states(tmp_path: Path) -> None:
    assert main(["demo", "--data", str(tmp_path / "rows.csv")]) == 0
    shipped = as_columns(read_csv(tmp_path / "rows.csv"))
    rng = np.random.default_rng(19)
    x = {name: np.round(rng.uniform(low, high, 60), 4) for name, (low, high) in RANGES.items()}
    pull = 2.4 * x["m2"] / (x["m1"] + x["m2"]) * x["r"] ** -1.5
    a = -pull - 0.35 * x["v"] + 1.8 * np.tanh(x["u"] / 1.6)
    x["a"] = np.round(a + rng.normal(0.0, 0.03, 60), 4)
    for name, column in x.items():
        assert shipped[name] == pytest.approx(column, abs=1e-9)
