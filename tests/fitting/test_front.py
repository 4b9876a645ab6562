"""The front of a study: nothing that was found beats a law of it in both size and accuracy."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from proposers.evidence import evidence
from study.problems import GRAMMAR, rows

from alder.expr.nodes import size
from alder.expr.text import parse
from alder.fitting import fit, fit_many
from alder.fitting.front import find_front
from alder.records.effort import Tally
from alder.records.evidence import Attempt, Candidate, Evidence
from alder.records.experiment import Trajectory
from alder.records.law import Law
from alder.records.proposal import Bounds, Proposal
from alder.records.roles import Roles

TEXTS = (
    "c",
    "a*x",
    "a*v",
    "a*(x + v)",
    "a*x + b*v",
    "a*x + c",
    "a*x + b*v^2",
    "a*x + b*v^2 + c",
    "a*x*v + b*v^2 + c",
    "a*x + b*x^2 + c*v",
)


def proposed(texts: Sequence[str]) -> tuple[Proposal, ...]:
    return tuple(Proposal(parse(text, GRAMMAR.variable_names)) for text in texts)


def offering(texts: Sequence[str], known: Evidence | None = None) -> Evidence:
    """Return evidence in which the first text was refused and a proposer offered all others."""
    first, *others = proposed(texts)
    known = known or evidence([first.structure])
    attempt = replace(known.attempts[0], front=tuple(others))
    return replace(known, attempts=(attempt,))


def rms(law: Law, known: Evidence) -> float:
    table = known.rows()
    return float(np.sqrt(np.mean(np.square(table["y"] - law.predict(table)))))


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(TEXTS), min_size=1, max_size=6, unique=True))
def test_larger_laws_of_a_front_are_more_accurate(texts: list[str]) -> None:
    front = find_front(offering(texts))
    assert all(a.nodes < b.nodes and a.error > b.error for a, b in pairwise(front))


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(TEXTS), min_size=1, max_size=6, unique=True))
def test_no_law_that_was_offered_beats_the_front(texts: list[str]) -> None:
    known = offering(texts)
    front = find_front(known)
    n = len(known.rows()["y"])
    for offer in proposed(texts):
        law = fit(offer, known.rows(), target="y", variables=GRAMMAR.variables).law
        # A further parameter may buy as much as BIC says that chance does, in laws of one size.
        chance = np.sqrt(n ** ((1 + len(law.coefficients)) / n))
        smaller = [one.error for one in front if one.nodes <= size(law.structure)]
        assert min(smaller) <= rms(law, known) * chance


def test_the_error_is_the_root_mean_square_over_public_rows() -> None:
    known = offering(TEXTS)
    for one in find_front(known):
        assert one.error == pytest.approx(rms(one.law, known), rel=1e-12)


def test_a_law_that_was_submitted_is_on_the_front_as_it_was_fitted() -> None:
    known = offering(["a*x + b*v^2", "a*x", "a*v"])
    submitted = known.attempts[0].fit
    assert submitted is not None
    assert submitted.law in [one.law for one in find_front(known)]


def test_what_is_known_already_is_not_fitted_again() -> None:
    known, tally = offering(["a*x + b*v^2", "a*x", "a*v"]), Tally()
    find_front(known, tally=tally)
    assert tally.fits == 2


def test_offers_outside_the_grammar_are_left_out() -> None:
    known = offering(["a*x + b*v^2", "a*sin(x)", "a*exp(v)"])
    assert len(find_front(known)) == 1


def test_candidates_and_rivals_make_the_front_where_nothing_was_offered() -> None:
    known = offering(["a*x + b*v^2"])
    rival, other = proposed(["a*x", "a*(x + v)"])
    known = replace(known, attempts=(replace(known.attempts[0], rivals=(rival,)),))
    fits = fit_many([other], known.rows(), target="y", variables=GRAMMAR.variables)
    front = find_front(known, [Candidate(fits[0].law, 1.0, "A")])
    assert [one.nodes for one in front] == [3, 5, 9]


def test_a_literal_is_not_beaten_by_a_parameter_that_buys_nothing() -> None:
    grammar = replace(GRAMMAR, operators=("add", "mul", "pow", "powp"))
    free = Proposal(
        parse("a*x + b*v^p", ("x", "v")), {n: Bounds(start=2.0) for n in ("a", "b", "p")}
    )
    known = replace(offering(["a*x + b*v^2"]), grammar=grammar)
    known = replace(known, attempts=(replace(known.attempts[0], front=(free,)),))
    (only,) = find_front(known)
    assert [c.name for c in only.law.coefficients] == ["a", "b"]


def test_laws_that_leave_rounding_alone_are_as_accurate_as_each_other() -> None:
    table = rows(30, seed=1)
    table["y"] = 2.0 * table["x"]
    known = evidence([parse("a*x", ("x", "v"))], table=table)
    front = find_front(offering(("a*x", *TEXTS), known))
    assert [one.nodes for one in front] == [1, 3]


def test_laws_are_measured_on_the_rows_of_this_moment() -> None:
    later = rows(20, seed=4)
    known = offering(TEXTS, evidence([parse("a*x", ("x", "v"))], later=[later]))
    assert {one.law.n_rows for one in find_front(known)} == {50}


def unfitted() -> tuple[Attempt, ...]:
    """Return an attempt that was not fitted yet: its fit did not know the roles of columns."""
    return (Attempt(proposed(["a*x + b*v^2"])[0]),)


@pytest.mark.parametrize("role", ["sigma", "weight"])
def test_rows_that_say_little_weigh_little(role: str) -> None:
    table = rows(40, seed=1)
    spoiled = np.arange(40) < 5
    table["y"][spoiled] += 100.0
    table["w"] = np.where(spoiled, 1e6, 1.0) if role == "sigma" else np.where(spoiled, 0.0, 1.0)
    known = offering(["a*x + b*v^2"], evidence([parse("a*x", ("x", "v"))], table=table))
    known = replace(known, roles=Roles(**{role: "w"}))
    assert find_front(replace(known, attempts=unfitted()))[-1].error < 0.1


def test_offsets_of_groups_are_no_error_of_a_law() -> None:
    table = rows(40, seed=1)
    table["g"] = np.arange(40.0) % 4.0
    table["y"] = table["y"] + 10.0 * (table["g"] - 1.5)
    known = offering(["a*x + b*v^2"], evidence([parse("a*x", ("x", "v"))], table=table))
    known = replace(known, roles=Roles(group="g"), initial=Trajectory(table))
    assert find_front(replace(known, attempts=unfitted()))[-1].error < 0.1


def test_a_submitted_law_stands_for_others_that_are_as_accurate() -> None:
    grammar = replace(GRAMMAR, operators=("add", "mul", "pow", "powp"))
    known = evidence([parse("a*x + b*v^p", ("x", "v"))], grammar=grammar)
    attempt = replace(known.attempts[0], front=proposed(["a*x + b*v^2"]))
    (only,) = find_front(replace(known, attempts=(attempt,)))
    assert attempt.fit is not None
    assert only.law == attempt.fit.law
