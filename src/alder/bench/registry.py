"""The benchmarks by name; each is imported when it is asked for."""

from importlib import import_module
from types import MappingProxyType
from typing import cast

from alder.bench.benchmark import Benchmark
from alder.errors import BadStudy
from alder.spelling import suggestion

BENCHMARKS = MappingProxyType(
    {
        "backbones": "alder.bench.backbones.run",
        "boundary": "alder.bench.boundary.run",
        "causes": "alder.bench.causes.run",
        "channel": "alder.bench.channel.run",
        "door": "alder.bench.articulated.door",
        "drawer": "alder.bench.articulated.drawer",
        "identification": "alder.bench.identification.run",
        "novellaw": "alder.bench.novellaw.run",
        "null": "alder.bench.null.run",
        "odebase": "alder.bench.odes.odebase",
        "odebench": "alder.bench.odes.odebench",
        "odestates": "alder.bench.odestates.run",
        "refusal": "alder.bench.refusal.run",
    }
)
"""The module of each benchmark; it holds one `BENCHMARK`."""


def benchmark(name: str) -> Benchmark:
    """Load a benchmark; raise `BadStudy` for a name that is none."""
    if name not in BENCHMARKS:
        raise BadStudy(
            f"`{name}` is not a benchmark; {', '.join(BENCHMARKS)} are."
            f"{suggestion(name, tuple(BENCHMARKS))}"
        )
    return load(BENCHMARKS[name])


def load(home: str) -> Benchmark:
    """Return the benchmark that a module holds."""
    return cast(Benchmark, import_module(home).BENCHMARK)
