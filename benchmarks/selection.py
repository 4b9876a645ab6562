"""Seconds and memory to choose among many experiments with many laws.

    python benchmarks/selection.py [--laws 64] [--experiments 1000000]

Laws are random structures of seven variables, fitted to the same 256 rows. Ours is the whole call
of a selector: forecasts, spread, coverage, short list and a batch of eight. The plain version
forecasts with the reference evaluator in NumPy and sums over all pairs; it is compared with our
spread alone, on the same pool of at most 200,000, and both times are scaled up to the pool asked
for, to which they are proportional.
"""

import argparse
import json
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from structures import VARIABLES, distinct_structures, rows

from alder.fitting import fit_many
from alder.ports import Selector
from alder.prediction import predict_rows
from alder.records.budget import Budget
from alder.records.evidence import Candidate, Evidence
from alder.records.experiment import Pool, Trajectory
from alder.records.grammar import Grammar
from alder.records.law import Law
from alder.records.roles import Roles
from alder.records.variable import Variable
from alder.selection.candidates import letters
from alder.selection.disagreement import Disagreement
from alder.selection.information import Information
from alder.selection.noise import likeliest, unit_of
from alder.selection.spread import assemble, measure, saturate

PLAIN_POOL = 200_000
BATCH = 8
N_ROWS = 256

HEADINGS = (
    "laws", "experiments", "disagreement, s", "information, s", "memory above the pool, MB",
    "spread alone, s", "plain pairs, s", "plain / spread",
)  # fmt: skip

Array = NDArray[np.float64]


@dataclass(frozen=True)
class PooledForecast:
    """One experiment is one row."""

    offered: Pool

    def pool(self) -> Pool:
        """Return the pool."""
        return self.offered

    def predict(self, law: Law, experiments: NDArray[np.intp]) -> Array:
        """Evaluate the law on the rows asked for."""
        names = [variable.name for variable in law.variables] or list(VARIABLES)[:1]
        columns = {name: self.offered.columns[name][experiments] for name in names}
        return predict_rows(law, columns)[:, None]


def make_candidates(n_laws: int, public: Mapping[str, Array]) -> tuple[Candidate, ...]:
    """Fit that many laws and weigh them alike."""
    fits = fit_many(distinct_structures(n_laws), public, target="a")
    return tuple(Candidate(fits[i].law, 1.0 / n_laws, letters(i)) for i in range(n_laws))


def make_evidence(public: Mapping[str, Array]) -> Evidence:
    """Return the rows as evidence."""
    grammar = Grammar([Variable(name) for name in VARIABLES], target=Variable("a"))
    return Evidence(grammar, Roles(), Budget(), Trajectory(public))


def make_forecast(n: int) -> PooledForecast:
    """Draw a pool, a tenth of it unsafe."""
    columns = rows(n, seed=11)
    del columns["a"]
    rng = np.random.default_rng(2)
    ids = [f"e{i}" for i in range(n)]
    return PooledForecast(Pool(ids, columns, rng.uniform(0.5, 2.0, n), rng.random(n) > 0.1))


def plain_pairs(
    candidates: tuple[Candidate, ...], evidence: Evidence, forecast: PooledForecast
) -> Array:
    """Return the disagreement as one would write it: all forecasts, then all pairs."""
    columns = forecast.offered.columns
    predictions = np.array([candidate.law.predict(columns) for candidate in candidates])
    centre = likeliest(candidates)
    middle = predictions[candidates.index(centre)]
    sigma = unit_of(centre.law, evidence).at(middle)
    z = np.array([saturate((prediction - middle) / sigma) for prediction in predictions])
    w = np.array([candidate.weight for candidate in candidates])
    total, mass = np.zeros(z.shape[1]), 0.0
    for a in range(len(z)):
        for b in range(a):
            total += w[a] * w[b] * np.square(z[a] - z[b])
            mass += w[a] * w[b]
    return total / mass


def seconds_of_spread(
    candidates: tuple[Candidate, ...], evidence: Evidence, n: int
) -> tuple[float, float]:
    """Time our spread and the plain version on one pool, check that they agree, scale to n."""
    forecast = make_forecast(min(PLAIN_POOL, n))
    size = len(forecast.offered)
    centre = likeliest(candidates)
    ensemble = assemble(candidates, centre, unit_of(centre.law, evidence))
    begin = time.perf_counter()
    found = measure(ensemble, forecast, np.arange(size)).pairs
    middle = time.perf_counter()
    expected = plain_pairs(candidates, evidence, forecast)
    end = time.perf_counter()
    if not np.allclose(found, expected, rtol=1e-6, atol=1e-6):
        sys.exit("Ours and the plain version disagree; the times mean nothing.")
    return (middle - begin) * n / size, (end - middle) * n / size


def peak_mb(run: Callable[[], object]) -> float:
    """Return the most memory a call held above what was there before, NumPy's included."""
    tracemalloc.start()
    run()
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return peak


def main() -> None:
    """Measure growth in the pool and in the laws; each row in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--laws", type=int, default=64)
    parser.add_argument("--experiments", type=int, default=1_000_000)
    parser.add_argument("--row", action="store_true", help="print one row as JSON")
    asked = parser.parse_args()
    n, m = asked.experiments, asked.laws
    if asked.row:
        print(json.dumps(measured(m, n)))
        return
    table = Table(title=f"Choosing {BATCH} experiments: seconds of wall time, one process")
    for heading in HEADINGS:
        table.add_column(heading, justify="right")
    for n_laws, n_pool in [(m, n // 100), (m, n // 10), (m // 16, n), (m // 4, n), (m, n)]:
        command = [sys.executable, __file__, "--row", "--laws", str(max(n_laws, 2)),
                   "--experiments", str(n_pool)]  # fmt: skip
        row = subprocess.run(command, stdout=subprocess.PIPE, check=True)
        table.add_row(*json.loads(row.stdout))
    Console(width=120).print(table)


def measured(n_laws: int, n: int) -> list[str]:
    """Return one row of the table."""
    public = rows(N_ROWS)
    evidence = make_evidence(public)
    candidates = make_candidates(n_laws, public)
    forecast = make_forecast(n)

    def choose(selector: Selector) -> float:
        begin = time.perf_counter()
        choices = selector.select(candidates, evidence, forecast, BATCH, np.random.default_rng(0))
        assert len(choices) == BATCH
        return time.perf_counter() - begin

    ours, information = choose(Disagreement()), choose(Information())
    memory = peak_mb(lambda: choose(Disagreement()))
    spread, plain = seconds_of_spread(candidates, evidence, n)
    return [
        str(n_laws), f"{n:,}", f"{ours:.2f}", f"{information:.2f}", f"{memory:.0f}",
        f"{spread:.2f}", f"{plain:.1f}", f"{plain / spread:.1f}",
    ]  # fmt: skip


if __name__ == "__main__":
    main()
