"""Study files whose targets are sums over rows."""

import csv
from pathlib import Path

import pytest
from fitting.bodies import newton, scenes

from alder.errors import AlderError
from alder.records.roles import Roles
from alder.studyfile import read_study

STUDY = """
[proposer]
kind = "guesses"
guesses = ["k*m*r^p"]

[grammar]
variables = ["r", "m"]
target = "a"

[rows]
initial = "pairs.csv"
sums = "o"

[budget]
proposals = 1
"""


def write(folder: Path, text: str = STUDY) -> Path:
    rows = scenes(newton, 28, 3, noise=0.03)
    with (folder / "pairs.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(rows)
        writer.writerows(zip(*rows.values(), strict=True))
    path = folder / "study.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_study_file_names_the_column_of_observations(tmp_path: Path) -> None:
    settings = read_study(write(tmp_path))
    assert settings.roles == Roles(sums="o")
    with settings.open(None) as study:
        outcome = study.run()
    assert outcome.law is not None
    assert outcome.law.values["p"] == pytest.approx(-2.0, rel=0.02)


def test_a_column_of_observations_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(AlderError, match=r"`scene` is not a column of pairs\.csv"):
        read_study(write(tmp_path, STUDY.replace('sums = "o"', 'sums = "scene"')))
