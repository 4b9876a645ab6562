import json
import os
from pathlib import Path

import numpy as np
import pytest

from alder.bench.benchmark import choose_cases
from alder.bench.odes.cases import make_case
from alder.bench.odes.odebench import BENCHMARK as ODEBENCH
from alder.bench.odes.scoring import is_exact, score_dynamics, skeleton_of
from alder.bench.odes.systems import OdeSystem, given_law, read_systems, systems_file
from alder.bench.odestates.run import BENCHMARK as ODESTATES
from alder.cli.main import MISUSE, main
from alder.errors import BadStudy

HERE = Path(__file__).resolve().parents[3]


def write(tmp_path: Path, **changed: object) -> Path:
    entry = {
        "id": "decay",
        "equations": ["-0.5*x_0", "x_0**2/(x_0 + 1) - Abs(x_1)"],
        "inits": [[1.0, 0.2], [0.4, 1.1]],
        "ic_bounds": [[0.1, 2.0]],
    }
    path = tmp_path / "systems.json"
    path.write_text(json.dumps([{**entry, **changed}]))
    return path


def one(tmp_path: Path) -> OdeSystem:
    return read_systems(write(tmp_path), "rounded")[0]


def test_a_list_of_systems_is_read_and_a_missing_bound_is_padded(tmp_path: Path) -> None:
    system = one(tmp_path)
    assert system.box == ((0.1, 2.0), (0.1, 2.0))
    rates = system.truth.rates({"x_0": [1.0], "x_1": [-3.0]})
    assert rates["x_1"].tolist() == [-2.5]


def test_an_equation_is_read_and_never_run(tmp_path: Path) -> None:
    with pytest.raises(BadStudy, match="no equation"):
        read_systems(write(tmp_path, equations=["__import__('os').getcwd()"]), "rounded")
    with pytest.raises(BadStudy, match="no list of systems"):
        read_systems(write(tmp_path, inits=None), "rounded")
    with pytest.raises(BadStudy, match="no two starts with a number for each state"):
        read_systems(write(tmp_path, inits=[[1.0, 1.0]]), "rounded")


def test_no_protected_trajectory_begins_where_a_public_one_does(tmp_path: Path) -> None:
    case = make_case(one(tmp_path), 3)
    public = {tuple(start) for start in case.starts.tolist()} | set(case.system.starts)
    for columns in case.protected.columns(("t", "x_0", "x_1")).values():
        first = np.flatnonzero(columns["t"] == 0.0)
        starts = {(float(columns["x_0"][i]), float(columns["x_1"][i])) for i in first}
        assert not starts & public


def test_the_truth_scores_as_the_truth_and_a_near_law_does_not(tmp_path: Path) -> None:
    system = one(tmp_path)
    row = score_dynamics(system, system.truth, admitted=True)
    assert row["functional"]
    assert row["exact"] == [True, True]
    assert row["nmse_future"] == 0.0
    near = given_law("x_0", "-0.501*x_0 + 0.0001*x_1", ("x_0", "x_1"))
    assert not is_exact(system, near, system.truth.laws["x_0"])


def test_skeletons_are_compared_as_one_ratio() -> None:
    names = ("x_0", "x_1")
    first = given_law("x_0", "2*x_0 - 1/(x_1 + 3)", names)
    second = given_law("x_0", "(2.1*x_0*x_1 + 6*x_0 - 1)/(x_1 + 2.9)", names)
    assert skeleton_of(first) == skeleton_of(second)


def test_a_benchmark_without_its_list_says_what_is_needed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.delenv("ALDER_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    assert main(["bench", "odebench"]) == MISUSE
    assert "--systems FILE" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "n"), [("odebench", 63), ("odebase", 59)])
def test_the_published_lists_are_read_whole(name: str, n: int) -> None:
    folder = Path(os.environ.get("ALDER_DATA", HERE.parent / "shared" / "data"))
    if not (folder / f"{name}.json").is_file():
        pytest.skip(f"{name}.json is neither in ALDER_DATA nor in ../shared/data")
    path = systems_file(name, str(folder / f"{name}.json"))
    systems = read_systems(path, "rounded")
    assert len(systems) == n
    assert all(len(system.box) == len(system.truth.states) for system in systems)


def test_a_list_of_ones_own_has_as_many_cases_as_systems(tmp_path: Path) -> None:
    entry = json.loads(write(tmp_path).read_text())[0]
    path = tmp_path / "mine.json"
    path.write_text(json.dumps([{**entry, "id": str(i)} for i in range(101)]))
    for benchmark in (ODEBENCH, ODESTATES):
        asked = benchmark.of({**benchmark.options, "systems": str(path), "seed": 0})
        assert asked.cases[:2] == ("001", "002")
        assert len(asked.cases) == 101
        with pytest.raises(BadStudy, match=r"odebench has 101|odestates has 101"):
            choose_cases(asked, "102")


def test_an_empty_list_is_told_in_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "none.json"
    path.write_text("[]")
    with pytest.raises(BadStudy, match="lists no system"):
        read_systems(path, "rounded")
