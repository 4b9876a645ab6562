"""The benchmark of noisy states: its cases, and that pysindy is driven as it is meant to be."""

import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from alder.bench.benchmark import Job
from alder.bench.odes.systems import read_systems
from alder.bench.odestates.cases import make_case
from alder.bench.odestates.run import BENCHMARK, figures, measure
from alder.bench.odestates.sindy import SETTINGS, fit_setting
from alder.errors import BadStudy


def _file(folder: Path) -> Path:
    """Write a list of one system, a damped oscillator."""
    entry = {
        "id": 1,
        "equations": ["x_1", "-4.0*x_0 - 0.5*x_1"],
        "inits": [[1.0, 0.0], [0.3, -1.0]],
        "aces_ic_bounds": [[-2.0, 2.0], [-2.0, 2.0]],
    }
    path = folder / "systems.json"
    path.write_text(json.dumps([entry]), encoding="utf-8")
    return path


def test_samples_have_the_noise_that_was_asked_for(tmp_path: Path) -> None:
    system = read_systems(_file(tmp_path), "rounded")[0]
    clean = make_case(system, 3, 0.0, irregular=True)
    noisy = make_case(system, 3, 0.05, irregular=True)
    assert np.array_equal(clean.public.times, noisy.public.times)
    first = clean.public.states[:100]
    assert noisy.sigma == pytest.approx(0.05 * first.std(axis=0))
    added = noisy.public.states - clean.public.states
    assert added.std(axis=0) == pytest.approx(noisy.sigma, rel=0.15)


def test_held_trajectories_are_others_than_the_public_ones(tmp_path: Path) -> None:
    case = make_case(read_systems(_file(tmp_path), "rounded")[0], 0, 0.0, irregular=False)
    assert case.public.n_segments == 11
    assert case.held.n_segments == 4
    starts = {tuple(row) for row in case.public.start_rows().tolist()}
    assert not starts & {tuple(row) for row in case.held.start_rows().tolist()}


def test_alder_recovers_and_admits_an_oscillator_at_five_per_cent(tmp_path: Path) -> None:
    settings = {
        "seed": 0, "noise": 0.05, "sampling": "irregular", "systems": str(_file(tmp_path)),
    }  # fmt: skip
    alder_row, oracle_row = measure(Job("01", ("alder", "oracle"), settings, tmp_path))
    assert alder_row["functional"]
    assert alder_row["admitted"]
    assert oracle_row["functional"]
    assert figures([alder_row])["functional"] == 1.0


@pytest.mark.skipif(find_spec("pysindy") is None, reason="pysindy is not installed")
@pytest.mark.parametrize("setting", SETTINGS)
def test_every_setting_of_pysindy_finds_the_oscillator_without_noise(
    setting: str, tmp_path: Path
) -> None:
    case = make_case(read_systems(_file(tmp_path), "rounded")[0], 0, 0.0, irregular=False)
    field = fit_setting(setting, case.public, ("x_0", "x_1"))
    samples = case.public
    said = field.flow().solve(samples, samples.start_rows(), np.zeros(0)).states
    assert float(np.mean(np.square(said - samples.states))) < 1e-2


def test_an_unknown_sampling_is_refused(tmp_path: Path) -> None:
    settings = {"seed": 0, "noise": 0.0, "sampling": "odd", "systems": str(_file(tmp_path))}
    with pytest.raises(BadStudy, match="regular, irregular"):
        BENCHMARK.require(settings)
