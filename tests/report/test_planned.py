"""A planned move as a picture."""

import xml.etree.ElementTree as ET

import pytest
from control.laws import MOTION, REST

import alder
from alder.errors import BadParameter


def test_a_plan_is_drawn_with_its_target_and_what_happened() -> None:
    plan = alder.plan(MOTION, None, {"x": 0.4}, start=REST, horizons=1.0)
    picture = alder.draw_plan(plan, "x", executed={"x": [0.0, 0.1, 0.39]})
    ET.fromstring(picture)
    assert all(word in picture for word in ("predicted", "target", "executed"))
    assert "target" not in alder.draw_plan(plan, "v")


def test_a_column_that_was_not_planned_is_misuse() -> None:
    plan = alder.plan(MOTION, None, {"x": 0.4}, start=REST, horizons=1.0)
    with pytest.raises(BadParameter, match="`heat` is no column"):
        alder.draw_plan(plan, "heat")
