"""Sums over rows on the command line."""

import csv
from pathlib import Path

from fitting.bodies import newton, scenes, screened

from alder.cli.main import main


def write(path: Path, seed: int, *, wrong: bool = False) -> str:
    rows = scenes(screened if wrong else newton, 24, 3, noise=0.02, seed=seed)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(rows)
        writer.writerows(zip(*rows.values(), strict=True))
    return str(path)


def test_a_law_of_pairs_is_fitted_and_checked(tmp_path: Path) -> None:
    law = str(tmp_path / "law.json")
    old, new = (write(tmp_path / f"{seed}.csv", seed) for seed in (1, 2))
    words = ["k*m*r^p", old, "--target", "a", "--sums", "o", "--out", law]
    assert main(["fit", *words]) == 0
    assert main(["check", law, new, "--sums", "o"]) == 0
    other = write(tmp_path / "other.csv", 3, wrong=True)
    assert main(["check", law, other, "--sums", "o"]) == 3
