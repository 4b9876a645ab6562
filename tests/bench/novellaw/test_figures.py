import xml.etree.ElementTree as ElementTree

import pytest

from alder.bench.benchmark import Row
from alder.bench.novellaw.recipes import PLACES
from alder.report.novellaw import figures

NAMES = ("recovery-by-split.svg", "recovery-by-depth.svg", "shift-error.svg", "queries.svg")


def rows(share: float) -> list[Row]:
    found: list[Row] = []
    for i, case in enumerate(list(PLACES)[:60]):
        good = i % 10 < 10 * share
        for method in ("alder", "random-query"):
            found.append(
                {"case": case, "method": method, "depth": ("short", "medium", "deep")[i % 3],
                 "recovered_1e3": good, "shift_nmse": 1e-6 if good else 0.1, "queries": 24}
            )  # fmt: skip
    found[0] = {"case": "iid-01a", "method": "alder", "error": "it crashed"}
    return found


@pytest.mark.parametrize("name", NAMES)
def test_every_picture_is_a_whole_file(name: str) -> None:
    picture = ElementTree.fromstring(figures(rows(0.5))[name])
    assert picture.tag == "{http://www.w3.org/2000/svg}svg"
    words = {"".join(text.itertext()) for text in picture.iter() if text.tag.endswith("}text")}
    assert {"alder", "random-query"} <= words


def test_bars_are_as_high_as_the_share_of_recovered_cases() -> None:
    def height(share: float) -> float:
        picture = ElementTree.fromstring(figures(rows(share))["recovery-by-split.svg"])
        bars = [r for r in picture.iter("{http://www.w3.org/2000/svg}rect") if "x" in r.attrib]
        inside = [r for r in bars if float(r.attrib["x"]) < 580.0]
        # The second bar of the compositional split is random-query's, which has no failed row.
        return float(sorted(inside, key=lambda r: float(r.attrib["x"]))[3].attrib["height"])

    half, most = height(0.5), height(0.9)
    assert most / half == pytest.approx(1.8, rel=0.08)


def test_the_same_rows_give_the_same_bytes() -> None:
    assert figures(rows(0.3)) == figures(rows(0.3))
