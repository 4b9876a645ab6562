"""`alder bench odebench`."""

from alder.bench.odes.run import make

BENCHMARK = make("odebench", __name__, 63)
"""63 systems of one to four states, from textbooks."""
