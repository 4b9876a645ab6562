"""How the table of a log becomes trajectories, and what is held back of them."""

from collections.abc import Callable

import numpy as np
import pytest

import alder
from alder.arrays import FloatArray
from alder.proposers.states.finding import Setting
from alder.study.logs import hold_back, read_samples

Log = dict[str, FloatArray]
X = Setting(("x",))


def _runs(*lengths: int) -> Log:
    """Write runs one below the other; every value of `x` is another."""
    times = [0.1 * np.arange(n, dtype=np.float64) for n in lengths]
    run = np.repeat(np.arange(float(len(lengths))), lengths)
    x = np.arange(float(sum(lengths))) + 1.0
    return {"t": np.concatenate(times), "x": x, "run": run}


def _by_time(log: Log) -> Log:
    """Sort the rows by time, so that runs are interleaved."""
    order = np.argsort(log["t"], kind="stable")
    return {name: column[order] for name, column in log.items()}


def test_runs_too_short_to_cut_are_public_as_a_whole() -> None:
    public, held = hold_back(read_samples(_runs(4, 12, 12), X, "t", "run").samples)
    assert np.diff(public.firsts).tolist() == [4, 9, 9]
    assert np.diff(held.firsts).tolist() == [3, 3]
    seen = np.concatenate([public.states, held.states])[:, 0]
    assert sorted(seen.tolist()) == list(range(1, 29))


def test_runs_that_are_interleaved_are_read_as_if_one_stood_below_the_other() -> None:
    log = _runs(8, 8, 8)
    below = read_samples(log, X, "t", "run").samples
    mixed = read_samples(_by_time(log), X, "t", "run").samples
    assert mixed.firsts.tolist() == below.firsts.tolist()
    assert mixed.states.tolist() == below.states.tolist()
    assert mixed.times.tolist() == below.times.tolist()


def test_a_name_of_a_run_that_is_used_again_begins_another_trajectory() -> None:
    log = _runs(8, 8, 8)
    read = read_samples({**log, "run": log["run"] % 2}, X, "t", "run").samples
    assert np.diff(read.firsts).tolist() == [8, 8, 8]


def test_rows_that_are_left_out_are_counted() -> None:
    log = _runs(12, 12, 3)
    log["x"][5] = np.nan
    read = read_samples(log, X, "t", "run")
    assert (read.n_incomplete, read.n_short) == (1, 3)
    assert len(read.samples.times) == 23


@pytest.mark.parametrize("arrange", [dict, _by_time])
def test_a_time_that_goes_back_in_a_run_is_told_with_the_row_of_the_table(
    arrange: Callable[[Log], Log],
) -> None:
    log = arrange(_runs(12, 12))
    log["x"][:2] = np.nan
    log["t"][20] = 0.01
    with pytest.raises(alder.BadTable, match=r"row 21, where t = 0.01 follows .* of `run`") as told:
        read_samples(log, X, "t", "run")
    assert "column" not in str(told.value)


def test_a_time_that_repeats_in_a_run_of_interleaved_ones_is_told_with_both_rows() -> None:
    log = _by_time(_runs(12, 12))
    log["t"][20] = log["t"][18]
    with pytest.raises(alder.BadTable, match=r"Row 21 has the time of row 19, t = 0.9.*rows\.$"):
        read_samples(log, X, "t", "run")


@pytest.mark.parametrize("size", [1e-160, 1e160])
def test_numbers_whose_squares_are_none_are_refused(size: float) -> None:
    log = _runs(12, 12)
    with pytest.raises(alder.BadTable, match=r"`x` in the log reaches .* choose a unit"):
        read_samples({**log, "x": size * log["x"]}, X, "t", "run")
