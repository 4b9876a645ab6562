"""Why no law was admitted, from public evidence alone, and what to do next."""

from alder.diagnosis.diagnose import diagnose
from alder.diagnosis.signs import COVERED, MOVED, NOISY, SCATTER, SHOWN, Stop

__all__ = ["COVERED", "MOVED", "NOISY", "SCATTER", "SHOWN", "Stop", "diagnose"]
