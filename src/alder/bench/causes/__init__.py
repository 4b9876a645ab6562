"""Planted causes: worlds that must be refused, each for a reason that is known."""
