import json
import sys
from pathlib import Path

import pytest
from bench.tiny import BENCHMARK

from alder.bench.benchmark import Row, choose_cases, choose_methods, choose_settings
from alder.bench.registry import BENCHMARKS, benchmark
from alder.bench.runs import TIMES, Plan, read_rows, run
from alder.errors import BadStudy

TESTS = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def workers_find_the_tiny_benchmark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(TESTS))


def plan(out: Path, n_workers: int = 1, limit: float = 60.0, **fates: str) -> Plan:
    named = {key.replace("_", " "): fate for key, fate in fates.items()}
    settings = {"seed": 2, "fates": named}
    cases, methods = BENCHMARK.cases[:3], tuple(BENCHMARK.methods)
    return Plan(BENCHMARK, tuple(cases), methods, settings, out, n_workers, limit)


def same(rows: list[Row]) -> list[Row]:
    left_out = (*TIMES, "pid")
    return [{name: value for name, value in row.items() if name not in left_out} for row in rows]


def test_there_is_a_row_for_each_case_and_method_in_their_order(tmp_path: Path) -> None:
    run(plan(tmp_path))
    rows = read_rows(tmp_path / "rows.jsonl")
    expected = [(c, m) for c in ("one", "two", "three") for m in ("first", "second", "third")]
    assert [(row["case"], row["method"]) for row in rows] == expected
    for row in rows:
        assert {"seed", "commit", "versions", "settings", "cpu_s", "wall_s"} <= set(row)


def test_two_workers_write_what_one_writes(tmp_path: Path) -> None:
    run(plan(tmp_path / "one"))
    run(plan(tmp_path / "two", n_workers=2))
    one, two = (read_rows(tmp_path / name / "rows.jsonl") for name in ("one", "two"))
    assert same(one) == same(two)
    assert len({row["pid"] for row in one}) == 1


@pytest.mark.parametrize(
    ("fate", "words"), [("raise", "a planted failure"), ("die", "status 9"), ("hang", "limit")]
)
def test_a_row_that_fails_says_why_and_costs_no_other(
    tmp_path: Path, fate: str, words: str
) -> None:
    limit = 5.0 if fate == "hang" else 60.0
    result = run(plan(tmp_path, limit=limit, two_second=fate))
    failed = [row for row in result.rows if "error" in row]
    assert [(row["case"], row["method"]) for row in failed] == [("two", "second")]
    assert words in failed[0]["error"]
    assert len(result.rows) == 9
    assert result.figures["second"]["failed"] == pytest.approx(1 / 3)


def test_a_stopped_run_goes_on_where_it_was(tmp_path: Path) -> None:
    run(plan(tmp_path))
    path = tmp_path / "rows.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:4]) + lines[4][:20], encoding="utf-8")
    before = read_rows(path)
    done: list[int] = []
    result = run(plan(tmp_path), resume=True, watch=done.append)
    assert done == [1, 2, 3]
    assert result.rows[:4] == before
    assert same(list(result.rows)) == same([json.loads(line) for line in lines])


def test_a_run_resumes_with_its_own_settings_only(tmp_path: Path) -> None:
    run(plan(tmp_path))
    with pytest.raises(BadStudy, match="choose another --out"):
        run(plan(tmp_path, one_first="raise"), resume=True)


def test_a_new_run_keeps_the_rows_of_the_old_one_beside_it(tmp_path: Path) -> None:
    run(plan(tmp_path))
    before = (tmp_path / "rows.jsonl").read_text(encoding="utf-8")
    run(plan(tmp_path))
    assert (tmp_path / "rows.old.jsonl").read_text(encoding="utf-8") == before


def test_the_summary_holds_figures_by_method(tmp_path: Path) -> None:
    run(plan(tmp_path))
    summary = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))
    assert (summary["benchmark"], summary["seed"]) == ("tiny", 2)
    assert summary["methods"] == {m: {"failed": 0.0} for m in BENCHMARK.methods}


@pytest.mark.parametrize(
    ("pattern", "cases"),
    [
        (None, ("one", "two", "three")),
        ("1", ("one",)),
        ("four-*", ("four-a", "four-b")),
        ("t*,one", ("one", "two", "three")),
    ],
)
def test_cases_are_chosen_by_pattern_or_number(pattern: str | None, cases: tuple[str]) -> None:
    assert choose_cases(BENCHMARK, pattern) == cases


@pytest.mark.parametrize("pattern", ["five", "0", "6", "one,fiv*"])
def test_a_pattern_without_cases_is_refused(pattern: str) -> None:
    with pytest.raises(BadStudy, match="--cases"):
        choose_cases(BENCHMARK, pattern)


def test_methods_keep_the_order_of_the_benchmark() -> None:
    assert choose_methods(BENCHMARK, ["third", "first"]) == ("first", "third")
    with pytest.raises(BadStudy, match="fourth"):
        choose_methods(BENCHMARK, ["fourth"])


def test_an_option_of_another_benchmark_is_refused() -> None:
    with pytest.raises(BadStudy, match="no option of tiny"):
        choose_settings(BENCHMARK, 0, {"forms": "b"})


def test_settings_that_mean_nothing_are_refused_before_anything_is_measured() -> None:
    with pytest.raises(BadStudy, match="--forms z"):
        choose_settings(benchmark("novellaw"), 0, {"forms": "z"})


@pytest.mark.parametrize("name", BENCHMARKS)
def test_every_benchmark_is_found_under_its_name_and_by_its_workers(name: str) -> None:
    found = benchmark(name)
    assert found.name == name
    assert sys.modules[found.home].BENCHMARK is found
    assert choose_cases(found, None)


def test_an_unknown_benchmark_is_misuse() -> None:
    with pytest.raises(BadStudy, match="novellaw"):
        benchmark("novelaw")
