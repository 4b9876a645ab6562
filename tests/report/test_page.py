"""The page of a study: what is on it, what never is, and how a real browser shows it."""

import re
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from alder.ledger import entries
from alder.ledger.configuration import Configuration
from alder.ledger.events import replay
from alder.ledger.store import SqliteStore, read_events
from alder.records.budget import Budget
from alder.records.experiment import Trajectory
from alder.records.grammar import Grammar
from alder.records.outcome import CAUSES, Refusal
from alder.records.roles import Roles
from alder.records.variable import Variable
from alder.report.front import _levels, lines
from alder.report.page import render
from alder.report.proofs import proof
from alder.report.story import tell
from report.browser import BROWSER, look
from report.ledgers import GUESSES, PROTECTED, Plan, draw, measured, write_study

PLANS = {
    "admitted": Plan(),
    "budget": Plan(guesses=GUESSES[:5]),
    "no-safe-experiment": Plan(unsafe=True),
}
MOST_BYTES = 300_000


@pytest.fixture(scope="module", params=list(PLANS))
def ledger(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    name = str(request.param)
    return write_study(tmp_path_factory.mktemp("study") / f"{name}.alder", PLANS[name])


@pytest.fixture(scope="module")
def page(ledger: Path) -> str:
    return render(read_events(ledger))


def test_the_same_ledger_gives_the_same_bytes(ledger: Path, page: str) -> None:
    assert render(read_events(ledger)) == page


def test_the_page_is_small_and_needs_no_network(page: str) -> None:
    assert len(page.encode()) < MOST_BYTES
    assert re.findall(r"(?:https?:)?//[\w.]+|url\(|@import|<link|<script [^>]*src", page) == []


def test_the_page_shows_no_path_and_no_file_name(page: str, ledger: Path) -> None:
    assert str(ledger.parent) not in page
    assert ledger.name not in page
    assert Path.home().as_posix() + "/" not in page


def test_protected_values_are_not_on_the_page(page: str) -> None:
    assert [y for y in PROTECTED["a"] if f"{y:.6g}"[:8] in page] == []


def test_a_law_is_shown_with_bound_intervals_and_digest(tmp_path: Path) -> None:
    events = read_events(write_study(tmp_path / "run.alder"))
    shown = render(events)
    assert "✓ ADMITTED" in shown
    assert re.search(r"valid after \d+ submission", shown)
    assert shown.count('<span class="unc">') == 5
    assert events[-1].digest in shown


def test_a_refusal_names_its_cause_and_advice_and_offers_no_law(tmp_path: Path) -> None:
    shown = render(read_events(write_study(tmp_path / "run.alder", PLANS["no-safe-experiment"])))
    assert "REFUSED · no-safe-experiment" in shown
    assert "What to do next" in shown
    assert 'class="eqbox"' not in shown
    assert "ADMITTED" not in shown
    assert "failed" not in shown.lower()


def test_a_study_that_runs_has_a_page_at_any_event(tmp_path: Path) -> None:
    events = read_events(write_study(tmp_path / "run.alder", Plan(budget=Budget(2, 4, 2))))
    for n in range(3, len(events), 2):
        assert "STILL RUNNING" in render(events[:n])


def test_names_from_users_are_escaped(tmp_path: Path) -> None:
    name = "<b>x</b>&"
    grammar = Grammar([Variable(name, description="<i>")], Variable("y<", description='"<u>'))
    rows = {name: np.linspace(1.0, 2.0, 9), "y<": np.linspace(2.0, 4.0, 9)}
    with SqliteStore(tmp_path / "run.alder") as store:
        asked = Configuration(grammar, Roles(), Budget(), 0, "search", "<s>", versions={"<v>": "1"})
        store.append(*entries.configuration(asked))
        store.append(*entries.initial(Trajectory(rows)))
        shown = render(store.events())
    assert not re.search(r"<b>x|<i>|<u>|<s>|<v>", shown)


def test_the_front_is_drawn_and_its_laws_are_listed(page: str, ledger: Path) -> None:
    front = replay(read_events(ledger)).front
    section = page[page.index('<section id="front">') : page.index('<section id="rivals">')]
    assert section.count("<tr") == 1 + len(front)
    assert all(escape(one.text) in section for one in front)
    assert 'data-chart="front"' in section
    assert "noise" in section


def test_the_admitted_law_is_marked_on_the_front(tmp_path: Path) -> None:
    shown = render(read_events(write_study(tmp_path / "run.alder")))
    section = shown[shown.index('<section id="front">') : shown.index('<section id="rivals">')]
    assert section.count('class="win"') == 1
    assert section.count("A ✓ admitted</text>") == 1


def test_an_admitted_law_beside_the_front_is_listed_with_it(tmp_path: Path) -> None:
    events = list(read_events(write_study(tmp_path / "run.alder")))
    place = max(i for i, event in enumerate(events) if event.kind == "front")
    kept = [one for one in replay(events).front if one.standing != "admitted"]
    events[place] = replace(events[place], content=entries.front(kept)[1])
    found = lines(tell(events))
    assert [line.is_on for line in found if line.standing == "admitted"] == [False]
    assert "beside the front" in render(events)


def test_a_ledger_from_before_there_was_a_front_has_a_page_without_one(tmp_path: Path) -> None:
    events = read_events(write_study(tmp_path / "run.alder"))
    shown = render([event for event in events if event.kind != "front"])
    assert 'id="front"' not in shown
    assert 'href="#front"' not in shown


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_the_front_of_any_noise_has_a_few_numbers_at_its_side(noise: float) -> None:
    ends = (-13.0, 1.0) if noise == 0.0 else (-1.4, 0.3)
    levels = _levels(ends)
    assert 2 <= len(levels) <= 8
    assert all(ends[0] <= level <= ends[1] for level, _ in levels)


@pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine")
@pytest.mark.parametrize("width", [420, 720, 1280])
def test_a_browser_shows_every_picture_and_nothing_overflows(
    page: str, tmp_path: Path, width: int
) -> None:
    file = tmp_path / "report.html"
    file.write_text(page, encoding="utf-8")
    seen = look(file, width)
    assert seen["console"] == []
    assert seen["wide"] == []
    assert seen["width"] <= width
    assert seen["small"] == []
    assert len(seen["charts"]) == seen["figures"] >= 5
    assert seen["math"] >= 5
    assert seen["theme"] == "dark"


@pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine")
def test_the_law_in_the_page_says_what_the_law_says(tmp_path: Path) -> None:
    events = read_events(write_study(tmp_path / "run.alder"))
    law = tell(events).law
    assert law is not None
    file = tmp_path / "report.html"
    file.write_text(render(events), encoding="utf-8")
    rows = draw(9, 12, {"r": (0.2, 6.0), "v": (-3.0, 3.0), "u": (-6.0, 6.0)})
    names = [variable.name for variable in law.variables]
    asked = np.column_stack([rows[name] for name in names]).tolist()
    seen = look(file, 1280, asked)
    answers = seen["answers"]
    lower, upper = law.predict_interval(rows)
    assert [a["value"] for a in answers] == pytest.approx(law.predict(rows).tolist(), rel=1e-9)
    assert [a["half"] for a in answers] == pytest.approx(((upper - lower) / 2.0).tolist(), rel=1e-4)
    assert [a["inside"] for a in answers] == law.in_scope(rows).tolist()
    assert len(set(law.in_scope(rows).tolist())) == 2
    assert "inside the scope" in seen["card"]


def test_a_refusal_has_no_law_to_try(tmp_path: Path) -> None:
    shown = render(read_events(write_study(tmp_path / "run.alder", PLANS["budget"])))
    assert "<script" not in shown
    assert 'id="try"' not in shown


def test_a_refusal_shows_what_every_test_found(tmp_path: Path) -> None:
    events = read_events(write_study(tmp_path / "run.alder", PLANS["budget"]))
    shown = render(events)
    refusal = replay(events).end
    assert refusal is not None
    assert refusal.refusal is not None
    plain = shown.replace("\N{MINUS SIGN}", "-")
    for finding in refusal.refusal.findings:
        assert finding.sentence in plain
    assert shown.count(">ruled out<") == len(refusal.refusal.ruled_out)


def test_a_refusal_of_an_older_ledger_says_that_the_others_were_not_kept(tmp_path: Path) -> None:
    events = list(read_events(write_study(tmp_path / "run.alder", PLANS["budget"])))
    with SqliteStore(tmp_path / "old.alder") as store:
        for event in events:
            content: Any = event.content
            if event.kind == "end":
                kept = {k: v for k, v in content["refusal"].items() if k != "findings"}
                content = {**content, "refusal": kept}
            store.append(event.kind, content)
        shown = render(store.events())
    assert "written before the others were kept" in shown
    assert ">ruled out<" not in shown


def test_rows_left_out_and_cross_validation_are_on_the_page(tmp_path: Path) -> None:
    events = list(read_events(write_study(tmp_path / "run.alder")))
    with SqliteStore(tmp_path / "dropped.alder") as store:
        for event in events:
            more = {"n_dropped": 3} if event.kind == "initial" else {}
            store.append(event.kind, {**event.content, **more})
        shown = render(store.events())
    assert "3 left out, a value missing" in shown
    assert "cross-validated over 5 folds" in shown


def test_every_cause_has_its_picture(tmp_path: Path) -> None:
    events = read_events(write_study(tmp_path / "run.alder", PLANS["budget"]))
    story = tell(events)
    best = story.best
    for cause in CAUSES:
        drawn = proof(story, Refusal(cause, "", "", best))
        if cause != "no-valid-proposal":  # every proposal of this study passed the checks
            assert drawn is not None
            assert drawn.wide.startswith("<svg")


def test_a_page_of_many_rows_stays_small(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    n = 20_000
    columns = {name: rng.uniform(0.9, 1.4, n) for name in ("r", "v", "u")}
    events = list(read_events(write_study(tmp_path / "run.alder")))
    with SqliteStore(tmp_path / "long.alder") as store:
        for event in events:
            if event.kind == "initial":
                store.append(*entries.initial(Trajectory(measured(columns, 1))))
            else:
                store.append(event.kind, event.content)
        assert len(render(store.events()).encode()) < MOST_BYTES
