"""Why no law was admitted, from public evidence alone, and what to do next."""

from alder.diagnosis.diagnose import diagnose
from alder.diagnosis.signs import MOVED, NOISY, SCATTER, Stop

__all__ = ["MOVED", "NOISY", "SCATTER", "Stop", "diagnose"]
