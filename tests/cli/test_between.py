"""`alder ask --between`: which experiment decides between two laws."""

from pathlib import Path

import numpy as np
import pytest
from cli.studies import WRONG_GUESSES, manual, with_proposer, write_study

import alder
from alder.cli.main import MISUSE, main
from alder.ledger.events import replay
from alder.ledger.store import read_events


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_study(tmp_path, with_proposer(manual(), WRONG_GUESSES))
    rng = np.random.default_rng(0)
    r, v = rng.uniform(0.9, 1.1, 40), rng.uniform(-2.0, 2.0, 40)
    rows = {"r": r, "v": v, "a": 2.4 * r**-1.5 - 0.35 * v + 0.03 * rng.standard_normal(40)}
    for name, law in {"power": "k*r^p - c*v", "decay": "k*exp(-r/s) - c*v"}.items():
        alder.fit(law, rows, target="a").law.save(f"{name}.json")


def _ask(*words: str) -> int:
    return main(["ask", "study.toml", *words])


def test_two_saved_laws_get_the_experiment_that_decides_between_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert _ask("--between", "power.json", "decay.json") == 0
    shown = capsys.readouterr().out
    assert "Run 1 experiment and measure a:" in shown
    assert "separates  power from decay by " in shown
    assert "decides    with chance " in shown


def test_files_of_one_name_in_two_folders_are_two_laws(capsys: pytest.CaptureFixture[str]) -> None:
    for folder, name in (("monday", "power"), ("friday", "decay")):
        Path(folder).mkdir()
        Path(f"{name}.json").rename(f"{folder}/law.json")
    assert _ask("--between", "monday/law.json", "friday/law.json") == 0
    assert "monday/law.json from friday/law.json by " in capsys.readouterr().out


def test_nothing_is_recorded() -> None:
    before = sorted(path.name for path in Path.cwd().iterdir())
    assert _ask("--between", "power.json", "decay.json") == 0
    assert sorted(path.name for path in Path.cwd().iterdir()) == before


def test_a_rival_of_the_ledger_and_a_formula_are_laws_too(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert _ask("--ledger", "run.alder") == 0
    digest = replay(read_events("run.alder")).digest
    capsys.readouterr()
    assert _ask("--ledger", "run.alder", "--between", "A", "k*r^p - c*v") == 0
    assert "separates  A from k*r^p - c*v by " in capsys.readouterr().out
    assert replay(read_events("run.alder")).digest == digest


def test_laws_that_agree_everywhere_end_with_the_status_of_a_refusal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert _ask("--ledger", "run.alder") == 0
    same = ("k*exp(-r/s) - c*v", "k*exp(-r*s) - c*v")
    assert _ask("--ledger", "run.alder", "--between", *same) == 3
    assert "no safe experiment that is left separates the two laws" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--between", "power.json"], "2 arguments"),
        (["--between", "power.json", "power.json"], "names one law twice"),
        (["--between", "power.json", "none.json"], "There is no file none.json"),
        (["--between", "power.json", "B"], "`B` is no rival of a ledger"),
        (["--between", "power.json", "k*r"], "add `--ledger run.alder`"),
        (["--ledger", "none.alder", "--between", "A", "B"], "There is no ledger none.alder"),
        ([], "add `--ledger run.alder`"),
    ],
)
def test_what_cannot_be_asked_is_one_sentence(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _ask(*words) == MISUSE
    assert said in capsys.readouterr().err


def test_a_law_of_another_world_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    x = np.linspace(1.0, 2.0, 9)
    alder.fit("k*x", {"x": x, "a": x + x**2}, target="a").law.save("odd.json")
    assert _ask("--between", "power.json", "odd.json") == MISUSE
    assert "odd.json uses `x`, which is no variable of study.toml" in capsys.readouterr().err


TANK = """
import alder

world = alder.ODEWorld(
    alder.System(
        {"h": lambda t, at: at["u"] - 0.6 * max(at["h"], 0.0) ** 0.5},
        inputs=lambda t, settings: {
            "u": settings["size"] if settings["shape"] == "step" else settings["size"] * t / 4.0
        },
    ),
    experiments=[
        {"h": 2.0, "shape": shape, "size": 0.8, "horizon": horizon}
        for shape in ("step", "ramp") for horizon in (0.5, 1.0)
    ],
    sampling=alder.Sampling(horizon=1.0, n_rows=6),
    cost=lambda settings: settings["horizon"],
)
"""
PENDULUM = """
import math

import alder


def place(environment, settings):
    environment.unwrapped.state = [settings["theta"], settings["omega"]]
    return [math.cos(settings["theta"]), math.sin(settings["theta"]), settings["omega"]]


def swing(columns, alpha):
    omega = columns["omega"] + 0.05 * alpha
    return {"theta": columns["theta"] + 0.05 * omega, "omega": omega}


def make():
    return alder.GymnasiumWorld(
        "Pendulum-v1",
        experiments=[
            {"theta": theta, "omega": 0.0, "shape": shape, "horizon": horizon}
            for theta in (0.1, 1.5) for shape in ("push", "pump") for horizon in (5, 20)
        ],
        columns=lambda seen: {"theta": math.atan2(seen[1], seen[0]), "omega": float(seen[2])},
        target=alder.difference("omega", 0.05),
        episode=alder.Episode(
            lambda s, k, read: [1.0 if s["shape"] == "push" else math.copysign(1.0, read["omega"])],
            place=place, actions=("u",), follow=swing,
        ),
        cost=lambda settings: settings["horizon"],
    )
"""
MOVING = {
    "tank": (TANK, "tank:world", ("h", "u"), "dh_dt", ("u - k*h", "u - k*h^0.5")),
    "pendulum": (
        PENDULUM, "pendulum:make", ("theta", "u"), "alpha", ("g*theta + b*u", "g*sin(theta) + b*u"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MOVING)
def test_in_a_world_that_moves_the_start_the_shape_and_the_horizon_are_named(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if name == "pendulum":
        pytest.importorskip("gymnasium")
    code, where, (first, second), target, laws = MOVING[name]
    monkeypatch.syspath_prepend(str(tmp_path))
    rng = np.random.default_rng(0)
    x, u = rng.uniform(0.1, 0.3, 30), rng.uniform(0.4, 0.6, 30)
    y = (u - 0.6 * np.sqrt(x) if name == "tank" else 15.0 * np.sin(x) + 3.0 * u) + 0.01 * u
    rows = {first: x, second: u, target: y + 0.005 * rng.standard_normal(30)}
    for i, law in enumerate(laws):
        alder.fit(law, rows, target=target).law.save(f"{name}{i}.json")
    (tmp_path / f"{name}.py").write_text(code, "utf-8")
    np.savetxt(
        f"{name}.csv", np.column_stack(list(rows.values())), delimiter=",",
        header=",".join(rows), comments="",
    )  # fmt: skip
    Path("study.toml").write_text(
        f'[grammar]\nvariables = ["{first}", "{second}"]\ntarget = "{target}"\n'
        f'[rows]\ninitial = "{name}.csv"\n[world]\nkind = "python"\nobject = "{where}"\n',
        "utf-8",
    )
    assert _ask("--between", f"{name}0.json", f"{name}1.json") == 0
    shown = capsys.readouterr().out
    assert f"separates  {name}0 from {name}1 by " in shown
    header = next(line for line in shown.splitlines() if line.split()[:1] == ["experiment"])
    assert {"shape", "horizon"} <= set(header.split())
