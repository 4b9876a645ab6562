"""Does the fitter find coefficients it should be able to find? Noise-free data of random laws.

    python benchmarks/groundtruth.py [--structures 500] [--seed 0] [--unbounded]

Structures are random trees over all operators, sizes uniform over 5 to 31 nodes, at most four
parameters, true values uniform in the bounds -5 to 5, 256 rows of three variables. A draw is
rejected, and counted, where it has no parameter or no variable, where the target overflows, hardly
varies, or is numerically undefined: rounding at each node, amplified by the law, already moves a
row by more than 1e-5 of the spread (the sine of 1e200, say), so that no two programs agree on it.
Recovered: normalised error below 1e-8 with 8 restarts, by number of nonlinear parameters.
"""

import argparse
from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Table

from alder.expr.evaluate import evaluate, rounding_bound
from alder.expr.nodes import Expr, parameters, size, variables
from alder.expr.sample import random_tree
from alder.fitting import fit_many
from alder.kernel.ready import ensure
from alder.records.effort import THOROUGH

VARIABLES = ("x", "y", "z")
BOUNDS = (-5.0, 5.0)
N_ROWS = 256
RECOVERED = 1e-8
ROUNDING = 1e-13
UNDEFINED = 1e-5


@dataclass(frozen=True)
class Case:
    """A law and rows it made."""

    law: Expr
    rows: dict[str, NDArray[np.float64]]


def draw(rng: np.random.Generator) -> Case | str:
    """Draw a law with data, or say why the draw is rejected."""
    n_nodes = int(rng.integers(5, 32))
    law = random_tree(rng, n_nodes, VARIABLES, n_parameters=4)
    if size(law) != n_nodes or not parameters(law) or not variables(law):
        return "no parameter or no variable"
    truth = {name: float(rng.uniform(*BOUNDS)) for name in parameters(law)}
    rows = {
        "x": rng.uniform(0.5, 3.0, N_ROWS),
        "y": rng.uniform(-2.0, 2.0, N_ROWS),
        "z": rng.normal(size=N_ROWS),
    }
    target = evaluate(law, rows, truth)
    if np.abs(target).max() > 1e8:
        return "overflows"
    if target.std() <= 1e-6 * np.abs(target).max():
        return "hardly varies"
    shaken = ROUNDING * rounding_bound(law, rows, truth)
    if not shaken.max() <= UNDEFINED * target.std():
        return "numerically undefined"
    return Case(law, {**rows, "target": target})


def main() -> None:
    """Print recovery by number of nonlinear parameters."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--structures", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--unbounded", action="store_true", help="declare no bounds")
    options = parser.parse_args()
    ensure()
    rng = np.random.default_rng(options.seed)
    rejected: Counter[str] = Counter()
    cases: list[Case] = []
    while len(cases) < options.structures:
        case = draw(rng)
        if isinstance(case, str):
            rejected[case] += 1
        else:
            cases.append(case)
    outcomes: dict[int, list[bool]] = defaultdict(list)
    for case in track(cases, "fitting"):
        bounds = {} if options.unbounded else dict.fromkeys(parameters(case.law), BOUNDS)
        fits = fit_many([case.law], case.rows, target="target", bounds=bounds, effort=THOROUGH)
        outcomes[int(fits.n_nonlinear[0])].append(bool(fits.nmse[0] < RECOVERED))
    table = Table("nonlinear parameters", "structures", "recovered", "%")
    for count, found in sorted(outcomes.items()):
        table.add_row(str(count), str(len(found)), str(sum(found)), f"{100.0 * np.mean(found):.1f}")
    found = [one for some in outcomes.values() for one in some]
    table.add_section()
    table.add_row("all", str(len(found)), str(sum(found)), f"{100.0 * np.mean(found):.1f}")
    console = Console(width=100)
    console.print(table)
    console.print("Rejected draws: " + ", ".join(f"{n} {why}" for why, n in rejected.items()))


if __name__ == "__main__":
    main()
