"""`alder bench door`."""

from alder.bench.articulated.run import make

BENCHMARK = make("door", __name__)
"""40 worlds with a door."""
