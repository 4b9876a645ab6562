"""`alder bench odebase`."""

from alder.bench.odes.run import make

BENCHMARK = make("odebase", __name__, 59)
"""59 systems of two and three states, models of biology."""
