"""How many protected rows it takes is said at the start."""

import dataclasses

import numpy as np
import pytest

from alder.errors import BadStudy
from alder.records.protected import Protected
from alder.study.stages import verify
from alder.verification.admit import Sealed, admit
from alder.verification.criteria import Criteria, Thresholds
from alder.verification.enough import fewest_rows, require_enough
from alder.verification.spending import AlphaSpending, Naive, Spending, Thresholdout
from verification.cases import TERMS, TRUE, observed


@pytest.mark.parametrize(
    "spending", [AlphaSpending(), AlphaSpending(0.2), Naive(), Thresholdout(scale=1e-9)]
)
def test_as_many_rows_as_are_asked_for_can_admit_and_one_fewer_cannot(spending: Spending) -> None:
    terms = dataclasses.replace(TERMS, spending=spending)
    n = fewest_rows(terms)
    rows = observed(np.random.default_rng(0), n)
    rows["x"] = np.linspace(0.0, 0.3, n)  # far from the mean, so that every row tells
    rows["y"] = 1.0 + 2.0 * rows["x"]
    few = {name: column[1:] for name, column in rows.items()}
    assert admit(Sealed({"admission": rows}, terms), TRUE, []).category == "accept"
    assert admit(Sealed({"admission": few}, terms), TRUE, []).category != "accept"
    require_enough(terms, {"admission": rows})
    with pytest.raises(BadStudy, match=rf"{n - 1} protected rows .* at least {n} rows"):
        require_enough(terms, {"admission": few})


def test_a_shifted_regime_needs_rows_too() -> None:
    rows = observed(np.random.default_rng(0), 20)
    few = {name: column[:4] for name, column in rows.items()}
    with pytest.raises(BadStudy, match=r"4 protected rows \(cold\).*at least 5.*leave this regime"):
        require_enough(TERMS, {"admission": rows, "cold": few})


def test_rows_of_one_group_count_less() -> None:
    terms = dataclasses.replace(TERMS, group="g")
    rows = observed(np.random.default_rng(0), 12)
    rows["g"] = np.repeat([0.0, 1.0, 2.0, 3.0, 4.0, 5.0], 2)
    with pytest.raises(BadStudy, match=r"12 protected rows in 6 groups"):
        require_enough(terms, {"admission": rows})
    rows["g"] = np.repeat([0.0, 1.0], 6)
    require_enough(terms, {"admission": rows})


def test_fixed_thresholds_ask_for_no_number_of_rows() -> None:
    rows = observed(np.random.default_rng(0), 2)
    limits = Criteria(thresholds=Thresholds(0.5))
    require_enough(dataclasses.replace(TERMS, criteria=limits), {"admission": rows})


def test_a_law_judged_by_itself_needs_as_many_rows() -> None:
    rows = observed(np.random.default_rng(0), 5)
    with pytest.raises(BadStudy, match="5 protected rows"):
        verify(TRUE, Protected(rows), public=observed(np.random.default_rng(1), 50))
