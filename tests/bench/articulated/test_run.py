"""The benchmark as the command line sees it, on rows written by hand."""

from typing import Any

import pytest

from alder.bench.articulated.methods import METHODS, control_figures
from alder.bench.articulated.packages import missing_packages
from alder.bench.articulated.planning import Reach
from alder.bench.articulated.robocasa import missing_robocasa, robocasa_scene
from alder.bench.articulated.run import figures, table
from alder.bench.benchmark import choose_methods, choose_settings, without_missing
from alder.bench.registry import benchmark
from alder.errors import BadStudy, MissingExtra

SETTINGS = {"seed": 0, "channels": False, "selectors": False}


def _row(method: str, case: str, **values: Any) -> dict[str, Any]:
    return {"method": method, "case": case, "settings": SETTINGS, **values}


def test_methods_follow_from_the_settings() -> None:
    drawer = benchmark("drawer")
    settings = choose_settings(drawer, 0, {"selectors": True})
    assert set(choose_methods(drawer, None, settings)) == {
        "passive", "random", "coverage", "uncertainty", "disagreement",
    }  # fmt: skip
    assert choose_methods(drawer, None, choose_settings(drawer, 0, {})) == METHODS
    channels = choose_settings(drawer, 0, {"channels": True})
    assert choose_methods(drawer, None, channels) == ("force-1", "force-5", "force-10", "estimated")
    with pytest.raises(BadStudy, match="`alder` is not a method"):
        choose_methods(drawer, ["alder"], channels)


def test_channels_and_selectors_are_two_runs() -> None:
    with pytest.raises(BadStudy, match="two runs"):
        choose_settings(benchmark("door"), 0, {"channels": True, "selectors": True})


@pytest.mark.skipif(missing_packages() is None, reason="robots can run here")
def test_without_a_robot_one_sentence_says_what_to_do() -> None:
    with pytest.raises(BadStudy, match="make robots") as said:
        without_missing(benchmark("drawer"), METHODS, SETTINGS)
    assert str(said.value).count("make robots") == 1


def test_refusals_and_failures_stay_in_the_denominators() -> None:
    rows = [
        _row("alder", "mixed-01", targets=16, successes=16, relative_successes=16, unsafe=0,
             errors=[0.001] * 16, ood_rmse=0.002, admitted=True, support=True, queries=1),
        _row("alder", "mixed-02", targets=16, successes=0, relative_successes=0, unsafe=0,
             ood_rmse=None, admitted=False, support=False, queries=6),
        _row("alder", "mixed-03", error="killed"),
    ]  # fmt: skip
    found = figures(rows)
    assert found["success"] == pytest.approx(1.0 / 3.0)
    assert found["admitted"] == pytest.approx(1.0 / 3.0)
    assert found["control_mae"] == pytest.approx(0.001)
    assert found["ood_rmse_mixed"] == pytest.approx(0.002)
    assert found["ood_coverage"] == pytest.approx(1.0 / 3.0)


def test_the_table_sets_the_paper_below_each_method() -> None:
    rows = [_row("nominal", "mixed-01", targets=16, successes=4, errors=[0.02] * 16, ood_rmse=0.01)]
    lines = table("drawer", rows, {"nominal": figures(rows)})
    assert "10.000" in lines[2]
    assert "83.6" in lines[3]


def test_an_unsafe_execution_is_no_success() -> None:
    safe, unsafe = (Reach(0.001, one, "reached", 5, 0.3, 11) for one in (True, False))
    refused = Reach(None, True, "refused", 48, None, 0)
    found = control_figures([safe, unsafe, refused])
    assert (found["successes"], found["unsafe"], found["targets"]) == (1, 1, 3)
    assert found["errors"] == [0.001, 0.001, None]


def test_what_robocasa_lacks_is_said_sentence_by_sentence() -> None:
    missing = missing_robocasa(lambda _name: None)
    assert any("robocasa is not installed" in sentence for sentence in missing)
    assert any("master branch" in sentence for sentence in missing)
    if missing_robocasa():
        with pytest.raises(MissingExtra, match="RoboCasa cannot run here"):
            robocasa_scene("drawer")
