"""Pictures of the boundary and of planted causes, made of rows."""

import xml.etree.ElementTree as ElementTree

from alder.bench.benchmark import Row
from alder.bench.boundary.regimes import REGIMES
from alder.bench.boundary.run import ERRORS
from alder.bench.causes.worlds import PLANTS
from alder.report import boundary, causes

SVG = "{http://www.w3.org/2000/svg}"


def _words(picture: str) -> set[str]:
    whole = ElementTree.fromstring(picture)
    assert whole.tag == f"{SVG}svg"
    return {"".join(text.itertext()) for text in whole.iter(f"{SVG}text")}


def _heights(picture: str) -> list[float]:
    rects = [r for r in ElementTree.fromstring(picture).iter(f"{SVG}rect") if "x" in r.attrib]
    return [float(r.attrib["height"]) for r in rects]


def test_a_larger_error_is_a_higher_bar() -> None:
    def first(error: float) -> float:
        rows: list[Row] = [
            {"case": "seed-00", "method": regime, **dict.fromkeys(ERRORS, error)}
            for regime in REGIMES
        ]
        picture = boundary.figures(rows)["shift-errors.svg"]
        assert {*REGIMES, "equation", "gated"} <= _words(picture)
        return _heights(picture)[0]

    assert first(1e-4) < first(1e-2) < first(1.0)


def test_the_confusion_of_causes_holds_every_count() -> None:
    rows: list[Row] = [
        {"case": f"{cause}-{i:02}", "method": "alder", "named": cause, "followed_admitted": True}
        for cause in PLANTS
        for i in range(3)
    ]
    rows[0]["named"] = "admitted"
    pictures = causes.figures(rows)
    assert {"1", "2", "3", *PLANTS} <= _words(pictures["confusion.svg"])
    assert max(_heights(pictures["by-cause.svg"])) > 200.0
