"""Worlds whose law the grammar cannot say, and a control arm of worlds whose law it can."""
