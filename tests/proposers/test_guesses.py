"""Laws a person wrote down, tried in the order the rows favour."""

from dataclasses import replace

import numpy as np
from proposers.evidence import evidence, rng
from study.problems import rows

from alder.expr.canonical import skeleton_digest
from alder.expr.nodes import Expr
from alder.expr.text import parse
from alder.fitting.fit import fit
from alder.ports import Submission
from alder.proposers.guesses import Guesses
from alder.records.evidence import Attempt, Evidence
from alder.records.proposal import Proposal

RIGHT, WRONG, WORSE = (parse(text, ("x", "v")) for text in ("a*x + b*v^2", "a*x + b*v", "a*v"))


def guesses(*structures: Expr) -> Guesses:
    return Guesses(tuple(map(Proposal, structures)))


class Written:
    """Writes text, as a model would."""

    def propose(self, evidence: Evidence, rng: np.random.Generator) -> Submission | None:
        return Submission("a*x", tokens=7)


def structure_of(submission: Submission | None) -> Expr:
    assert submission is not None
    assert isinstance(submission.source, Proposal)
    return submission.source.structure


def test_the_guess_that_explains_the_rows_best_comes_first() -> None:
    submission = guesses(WORSE, WRONG, RIGHT).propose(evidence(), rng())
    assert structure_of(submission) == RIGHT
    assert submission is not None
    assert [rival.structure for rival in submission.rivals] == [WRONG, WORSE]


def test_the_order_in_which_guesses_are_given_does_not_matter() -> None:
    first = guesses(WORSE, WRONG, RIGHT).propose(evidence(), rng())
    second = guesses(RIGHT, WORSE, WRONG).propose(evidence(), rng())
    assert structure_of(first) == structure_of(second)


def test_a_refused_guess_is_not_repeated_on_the_same_rows() -> None:
    assert structure_of(guesses(WRONG, RIGHT).propose(evidence([RIGHT]), rng())) == WRONG
    assert guesses(WRONG, RIGHT).propose(evidence([RIGHT, WRONG]), rng()) is None


def test_a_guess_not_refused_yet_comes_before_one_that_fits_better_and_was() -> None:
    known = evidence([RIGHT], later=[rows(5, seed=2)])
    assert structure_of(guesses(WRONG, RIGHT).propose(known, rng())) == WRONG


def test_a_refused_guess_is_proposed_again_when_rows_have_arrived() -> None:
    known = evidence([WRONG, RIGHT], later=[rows(5, seed=2)])
    assert structure_of(guesses(WRONG, RIGHT).propose(known, rng())) == RIGHT


def test_a_refused_guess_that_leaves_structure_in_the_rows_does_not_come_back() -> None:
    known = evidence([WORSE], later=[rows(40, seed=2)])
    assert guesses(WORSE).propose(known, rng()) is None


def test_names_of_parameters_do_not_make_another_guess() -> None:
    renamed = parse("p*x + q*v^2", ("x", "v"))
    assert skeleton_digest(renamed) == skeleton_digest(RIGHT)
    assert guesses(renamed).propose(evidence([RIGHT]), rng()) is None


def test_a_guess_outside_the_grammar_is_never_proposed() -> None:
    outside = parse("a*x + b*v^2 + c*sin(x)", ("x", "v"))
    submission = guesses(outside, WORSE).propose(evidence(), rng())
    assert structure_of(submission) == WORSE
    assert submission is not None
    assert submission.rivals == ()
    assert guesses(outside).propose(evidence(), rng()) is None


def test_once_every_guess_was_refused_another_proposer_goes_on() -> None:
    then = Guesses((Proposal(WORSE),))
    both = Guesses((Proposal(WRONG), Proposal(RIGHT)), then)
    assert structure_of(both.propose(evidence(), rng())) == RIGHT
    assert structure_of(both.propose(evidence([RIGHT]), rng())) == WRONG
    assert structure_of(both.propose(evidence([RIGHT, WRONG]), rng())) == WORSE


def test_a_refused_guess_comes_back_when_rows_have_arrived_and_it_fits_best() -> None:
    then = Guesses((Proposal(WORSE),))
    both = Guesses((Proposal(WRONG), Proposal(RIGHT)), then)
    known = evidence([RIGHT, WRONG], later=[rows(5, seed=2)])
    submission = both.propose(known, rng())
    assert structure_of(submission) == RIGHT
    assert submission is not None
    assert {skeleton_digest(rival.structure) for rival in submission.rivals} == {
        skeleton_digest(WRONG),
        skeleton_digest(WORSE),
    }


def test_a_refused_guess_does_not_come_back_before_a_better_proposal() -> None:
    then = Guesses((Proposal(RIGHT),))
    both = Guesses((Proposal(WRONG),), then)
    known = evidence([WRONG], later=[rows(5, seed=2)])
    assert structure_of(both.propose(known, rng())) == RIGHT


def test_a_guess_refused_on_these_very_rows_does_not_come_back_for_a_worse_one() -> None:
    """The best guess was refused just now; the worse one, open again, may not stand in for it."""
    both = Guesses((Proposal(WRONG), Proposal(RIGHT)), Guesses(()))
    known = evidence([WRONG], later=[rows(5, seed=2)])
    grammar = known.grammar
    found = fit(RIGHT, known.rows(), target=grammar.target, variables=grammar.variables)
    now = Attempt(Proposal(RIGHT), fit=found, category="inaccurate")
    assert both.propose(replace(known, attempts=(*known.attempts, now)), rng()) is None


def test_a_refused_guess_comes_back_where_the_other_proposer_has_nothing_left() -> None:
    both = Guesses((Proposal(WRONG), Proposal(RIGHT)), Guesses(()))
    known = evidence([WRONG, RIGHT], later=[rows(5, seed=2)])
    assert structure_of(both.propose(known, rng())) == RIGHT


def test_what_a_model_wrote_is_not_compared_with_guesses() -> None:
    both = Guesses((Proposal(RIGHT),), Written())
    known = evidence([RIGHT], later=[rows(5, seed=2)])
    submission = both.propose(known, rng())
    assert submission is not None
    assert submission.source == "a*x"


def test_fits_are_counted() -> None:
    first = guesses(WORSE, WRONG, RIGHT).propose(evidence(), rng())
    assert first is not None
    assert first.fits == 3
    both = Guesses((Proposal(WRONG), Proposal(RIGHT)), Guesses((Proposal(WORSE),)))
    later = both.propose(evidence([RIGHT, WRONG], later=[rows(5, seed=2)]), rng())
    assert later is not None
    assert later.fits == 1 + 3
