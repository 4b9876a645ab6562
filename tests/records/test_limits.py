"""Limits as values."""

import math

import pytest

from alder.errors import BadStudy
from alder.records.limits import Limits


@pytest.mark.parametrize(
    "ends", [(1.0, 1.0), (2.0, 1.0), (-math.inf, math.inf), (math.nan, 1.0), (0.0, math.nan)]
)
def test_ends_that_limit_nothing_or_everything_are_refused(ends: tuple[float, float]) -> None:
    with pytest.raises(BadStudy, match="The limits of `T`"):
        Limits({"T": ends})


@pytest.mark.parametrize("sigmas", [-1.0, math.inf, math.nan])
def test_deviations_are_a_finite_number_from_zero_on(sigmas: float) -> None:
    with pytest.raises(BadStudy, match=r"limits\.sigmas"):
        Limits({"T": (0.0, 1.0)}, sigmas)


def test_limits_need_a_column() -> None:
    with pytest.raises(BadStudy, match="Limits need a column"):
        Limits({})


def test_limits_read_as_inequalities() -> None:
    assert str(Limits({"T": (0, 350), "v": (-math.inf, 2), "p": (1, math.inf)})) == (
        "0 <= T <= 350 and v <= 2 and 1 <= p"
    )
