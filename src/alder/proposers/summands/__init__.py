"""Sums of terms, with numbers inside, that a rate may be: which there are, and which fit."""
