"""Systems of sampled states: what a description of them costs."""

import numpy as np

from alder.expr.text import parse
from alder.fitting.flows import Flow
from alder.fitting.samples import Samples
from alder.proposers.states.model import Pick, Problem
from alder.proposers.states.search import polish, terms_length
from alder.proposers.summands.shapes import make_library
from alder.proposers.summands.terms import Term


def test_a_number_that_the_samples_leave_open_is_more_than_one_too_many() -> None:
    """With w next to nothing, only w times k is known of x^2/(k + x + x^2/w)."""
    t = np.linspace(0.0, 2.0, 41)
    starts = np.array([[0.3], [1.0], [2.5]])
    blank = Samples.of([(t, np.zeros((41, 1))) for _ in starts])
    law = parse("1.2 - 0.9*x^2/(0.8 + x^2)", ("x",))
    clean = Flow.of([law], ("x",)).solve(blank, starts, {}).states
    samples = blank.with_states(clean + 0.002 * np.random.default_rng(0).normal(size=clean.shape))
    problem = Problem(samples, ("x",), np.array([0.002]), clean)
    library = make_library(("x",), ("add", "mul", "div", "pow"), {"x": clean[:, 0]})
    sinking = Term(parse("x*(x/(k + x + x^2/w))", ("x",)), 7, (8e7, 1e-8))
    hill = Term(parse("x^2/(k + x^2)", ("x",)), 6, (0.8,))
    one = Pick(0, Term(parse("1", ("x",)), 0), 1.2)
    models = [
        polish((one, Pick(0, term, c)), problem, library)
        for term, c in ((hill, -0.9), (sinking, -9e7))
    ]
    closed, open_ = (m.length - terms_length(m.picks, problem, library) for m in models)
    assert all(model.shot is not None and model.shot.sound for model in models)
    assert open_ - closed > 10.0
