"""A search that is watched tells how far it is, and finds the very same."""

import numpy as np
import pytest
from proposers.evidence import evidence, rng
from study.spoken import as_bytes

from alder.checking import check
from alder.expr.nodes import size
from alder.proposers.search.laws import Fitter
from alder.proposers.search.proposer import Search
from alder.proposers.search.table import read_table
from alder.proposers.search.watch import Watch
from alder.records.evidence import Evidence
from alder.records.glimpse import Glimpse
from alder.records.grammar import Grammar
from alder.records.variable import Variable

GRAMMAR = Grammar([Variable("x")], Variable("y"), operators=("add", "mul", "pow"), max_nodes=9)


def line() -> Evidence:
    x = np.linspace(0.5, 3.0, 30)
    noise = np.random.default_rng(1).normal(0.0, 0.05, 30)
    return evidence(table={"x": x, "y": 2.0 * x**2 + noise}, grammar=GRAMMAR)


@pytest.fixture(scope="module")
def told() -> tuple[list[Glimpse], bytes, bytes]:
    seen: list[Glimpse] = []
    watched = Search().watched(seen.append).propose(line(), rng())
    return seen, as_bytes(watched), as_bytes(Search().propose(line(), rng()))


def test_a_watched_search_proposes_the_same(told: tuple[list[Glimpse], bytes, bytes]) -> None:
    _, watched, alone = told
    assert watched == alone


def test_fits_only_grow_and_stages_follow(told: tuple[list[Glimpse], bytes, bytes]) -> None:
    seen, _, _ = told
    fits = [glimpse.fits for glimpse in seen]
    assert fits == sorted(fits)
    assert fits[-1] > 0
    assert seen[0].stage != seen[-1].stage


def test_the_best_law_so_far_has_its_numbers(told: tuple[list[Glimpse], bytes, bytes]) -> None:
    seen, _, _ = told
    last = seen[-1]
    assert last.best is not None
    assert size(last.best) <= GRAMMAR.max_nodes
    assert last.values


def test_a_search_offers_its_front_within_the_grammar() -> None:
    submission = Search().propose(line(), rng())
    assert submission is not None
    sizes = [size(one.structure) for one in submission.front]
    assert sizes == sorted(set(sizes))
    assert not [problem for one in submission.front for problem in check(one, GRAMMAR)]


def test_time_that_is_up_is_over_whoever_listens() -> None:
    seen: list[Glimpse] = []
    watch = Watch.of(0.0, Fitter(read_table(line()), 9), seen.append)
    watch.enter("looking")
    assert watch.is_over()
    assert [glimpse.stage for glimpse in seen] == ["looking", "looking"]
