"""Hypothesis draws the same examples on every run of CI, and new ones on a desk; no test connects
to anything it did not plan."""

import os
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings
from network import forbidden

# The first example of a test may compile the kernel, so no example has a deadline.
settings.register_profile("desk", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("repeatable", settings.get_profile("desk"), derandomize=True)
settings.load_profile("repeatable" if os.environ.get("CI") else "desk")


@pytest.fixture(autouse=True, scope="session")
def no_unplanned_network() -> Generator[None, None, None]:
    """Make an unplanned connection an error, in every test."""
    with forbidden():
        yield
