"""The phase portrait of equations of motion."""

from typing import Any

import pytest

import alder


def _motion() -> alder.Dynamics:
    v = [-1.0, 0.0, 1.0, 2.0]
    x = [0.5, -1.0, 2.0, 1.0]
    rows = {"x": x, "v": v, "dv_dt": [-2.0 * a - b for a, b in zip(x, v, strict=True)]}
    law = alder.fit("a*x + b*v", rows, target="dv_dt").law
    return alder.Dynamics({"v": law}, {"x": "v"})


def test_every_start_of_the_grid_is_drawn_and_samples_are_dots() -> None:
    picture = alder.phase_portrait(
        _motion(), ("x", (-2, 2)), ("v", (-2, 2)), span=1.0,
        samples={"x": [0.5, 1.0], "v": [0.0, 0.5]},
    )  # fmt: skip
    assert picture.startswith("<svg")
    assert picture.count('class="ln') >= 49


@pytest.mark.parametrize(
    ("x", "y", "span", "words"),
    [
        (("w", (-1, 1)), ("v", (-1, 1)), 1.0, "`w` is no state"),
        (("x", (2, -2)), ("v", (-1, 1)), 1.0, "from a lower number to a higher one; got 2 to -2"),
        (("x", (-1, 1)), ("x", (-1, 1)), 1.0, "`x` stands for both axes"),
        (("x", (-1, 1)), ("v", (-1, 1)), -2.0, "`span` is the time.*got -2"),
    ],
)
def test_a_plane_that_is_none_is_told_in_one_sentence(
    x: Any, y: Any, span: float, words: str
) -> None:
    with pytest.raises(alder.BadParameter, match=words):
        alder.phase_portrait(_motion(), x, y, span=span)
