"""Coefficients for structures: what they are, how well they are known, what is not known."""

from alder.fitting.fit import fit
from alder.fitting.many import Fits, fit_many

__all__ = ["Fits", "fit", "fit_many"]
