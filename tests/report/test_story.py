"""The story of a study and how its rivals ended."""

from pathlib import Path

import numpy as np
import pytest

from alder.errors import BadLedger
from alder.ledger.store import read_events
from alder.report.measure import REFUTED
from alder.report.rivals import rivals
from alder.report.story import Story, tell, telling
from report.ledgers import Plan, write_study


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    return tell(read_events(write_study(tmp_path_factory.mktemp("study") / "run.alder")))


def test_every_proposal_begins_a_round(story: Story) -> None:
    assert [r.number for r in story.rounds] == list(range(1, story.state.spent.proposals + 1))
    assert sum(len(r.answers) for r in story.rounds) == story.state.spent.queries


def test_one_law_is_admitted_and_others_are_refuted_by_a_named_experiment(story: Story) -> None:
    found = rivals(story)
    assert [r.standing for r in found].count("admitted") == 1
    refuted = [r for r in found if r.standing == "refuted"]
    assert refuted
    for rival in refuted:
        assert rival.answer is not None
        assert rival.said is not None
        assert rival.said.sigmas >= REFUTED


def test_a_miss_is_measured_by_noise_and_coefficients_together(story: Story) -> None:
    answer = next(a for r in story.rounds for a in r.answers)
    candidates = story.rounds[answer.round - 1].candidates
    assert story.unit is not None
    for candidate, said in zip(candidates, answer.said, strict=True):
        row = {name: np.array([value]) for name, value in answer.inputs.items()}
        noise = story.unit.noise.sigma(candidate.law.predict(row))
        known = candidate.law.standard_error(row)
        missed = abs(answer.saw - said.said) / float(np.hypot(noise, known)[0])
        assert said.sigmas == pytest.approx(missed)


def test_letters_are_unique_and_kept_through_the_rounds(story: Story) -> None:
    labels = [rival.label for rival in rivals(story)]
    assert len(set(labels)) == len(labels)
    for round_ in story.rounds:
        for candidate in round_.candidates:
            assert story.letter(candidate.law.structure) == candidate.label


def test_the_telling_answer_refuted_most(story: Story) -> None:
    answers = [a for r in story.rounds for a in r.answers]
    best = telling(answers, REFUTED)
    assert best is not None
    most = max(sum(s.sigmas >= REFUTED for s in a.said) for a in answers)
    assert sum(s.sigmas >= REFUTED for s in best.said) == most


def test_a_study_without_experiments_has_initial_rows_only(
    tmp_path: Path,
) -> None:
    story = tell(read_events(write_study(tmp_path / "run.alder", Plan(unsafe=True))))
    assert story.rounds[0].n_rows == 40
    assert story.rounds[0].answers == ()


def test_a_ledger_without_a_study_is_refused() -> None:
    with pytest.raises(BadLedger, match="no study yet"):
        tell([])
