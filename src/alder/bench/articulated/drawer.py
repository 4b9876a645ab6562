"""`alder bench drawer`."""

from alder.bench.articulated.run import make

BENCHMARK = make("drawer", __name__)
"""40 worlds with a drawer."""
