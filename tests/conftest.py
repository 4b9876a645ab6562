"""Hypothesis draws the same examples on every run of CI, and new ones on a desk."""

import os

from hypothesis import HealthCheck, settings

# The first example of a test may compile the kernel, so no example has a deadline.
settings.register_profile("desk", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("repeatable", settings.get_profile("desk"), derandomize=True)
settings.load_profile("repeatable" if os.environ.get("CI") else "desk")
