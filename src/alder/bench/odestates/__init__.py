"""Equations of motion from noisy states alone, beside pysindy on the same samples."""
