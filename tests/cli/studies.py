"""A small study on disk: a pull that weakens with distance, and drag. Shared by tests."""

from pathlib import Path

import numpy as np

STUDY = """\
# A pull and a drag.
seed = 3

[grammar]
target = { name = "a", unit = "m/s^2" }
operators = ["add", "sub", "mul", "div", "neg", "pow", "powp", "exp"]
max_nodes = 21

[[grammar.variables]]
name = "r"
unit = "m"
range = [0.5, 4.0]

[[grammar.variables]]
name = "v"
unit = "m/s"

[rows]
initial = ["first.csv", "second.csv"]
validation = "validation.csv"
protected = { admission = "admission.csv" }

[world]
kind = "pool"
experiments = "experiments.csv"

[budget]
proposals = 4
queries = 8
batch = 3

[proposer]
guesses = [
  "k*exp(-r/s) - c*v",
  { law = "k*r^p - c*v", bounds = { p = [-4, 0] } },
]
"""

WRONG_GUESSES = '[proposer]\nkind = "guesses"\nguesses = ["k*exp(-r/s) - c*v"]\n'


def acceleration(r: float, v: float, noise: float = 0.0) -> float:
    return round(2.4 * r**-1.5 - 0.35 * v + noise, 4)


def write_rows(path: Path, n: int, ends: tuple[float, float], *, seed: int) -> None:
    rng = np.random.default_rng(seed)
    lines = ["r,v,a"]
    for _ in range(n):
        r, v = round(rng.uniform(*ends), 3), round(rng.uniform(-2.0, 2.0), 3)
        lines.append(f"{r},{v},{acceleration(r, v, rng.normal(0.0, 0.03))}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_study(folder: Path, text: str = STUDY) -> Path:
    """Write the study and its rows; the first rows are near each other, so that rivals agree."""
    write_rows(folder / "first.csv", 20, (1.5, 2.0), seed=1)
    write_rows(folder / "second.csv", 20, (1.5, 2.0), seed=2)
    write_rows(folder / "validation.csv", 30, (0.6, 4.0), seed=3)
    write_rows(folder / "admission.csv", 60, (0.6, 4.0), seed=4)
    write_rows(folder / "experiments.csv", 40, (0.6, 4.0), seed=5)
    path = folder / "study.toml"
    path.write_text(text, encoding="utf-8")
    return path


def manual() -> str:
    """Return the study with experiments that a person runs."""
    return STUDY.replace('kind = "pool"', 'kind = "manual"')


def with_proposer(text: str, proposer: str) -> str:
    """Return a study with other guesses."""
    return text[: text.index("[proposer]")] + proposer
