"""Whole studies that a language model drives, scripted so that no model is needed."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from proposers.evidence import evidence
from study.problems import BUDGET, GRAMMAR, GUESSES, rows, run

from alder.checking import check
from alder.errors import BadStudy, ModelFailed
from alder.expr.json import to_json
from alder.expr.text import parse
from alder.ledger.audit import audit
from alder.ledger.events import replay
from alder.ledger.leaks import Secrets
from alder.ledger.store import read_events
from alder.ports import Reply
from alder.proposers.guesses import Guesses
from alder.proposers.hybrid import Hybrid
from alder.proposers.llm.names import choose_names
from alder.proposers.llm.proposer import ModelProposer
from alder.records.budget import Budget
from alder.records.outcome import Outcome
from alder.records.proposal import Proposal
from alder.records.protected import Protected
from alder.testing import ScriptedModel, check_proposer


def reply(law: str, *, hidden: bool = False) -> str:
    structure = choose_names(GRAMMAR, hidden=hidden).rename(parse(law, GRAMMAR.variable_names))
    return json.dumps({"rationale": "It may be.", "structure": to_json(structure)})


def driven(*replies: str | Reply | ModelFailed, **changes: Any) -> tuple[Outcome, ScriptedModel]:
    model = ScriptedModel(replies)
    asked: dict[str, Any] = {"proposer": ModelProposer(model), "guesses": ()}
    return run(**{**asked, **changes}), model


def state_of(ledger: Path) -> Any:
    return replay(read_events(ledger))


@pytest.mark.parametrize("anonymous", [False, True])
def test_a_scripted_model_reaches_the_law_that_the_same_proposals_given_directly_reach(
    tmp_path: Path, anonymous: bool
) -> None:
    direct = run()
    model = ScriptedModel([reply(law, hidden=anonymous) for law in GUESSES])
    ledger = tmp_path / "run.alder"
    outcome = run(proposer=ModelProposer(model, anonymous), guesses=(), ledger=ledger)
    assert direct.law is not None
    assert outcome.law is not None
    assert outcome.law.structure == direct.law.structure
    assert outcome.law.digest == direct.law.digest
    secrets = Secrets({"admission": rows(40, seed=2)})
    assert audit(read_events(ledger), secrets=secrets).findings == ()


def test_every_reply_is_one_proposal_and_its_tokens_and_price_are_in_the_ledger(
    tmp_path: Path,
) -> None:
    ledger = tmp_path / "run.alder"
    replies = [Reply("What a nice table!", 900, 10, 0.25), Reply(reply(GUESSES[1]), 1000, 50, 0.5)]
    outcome, _ = driven(*replies, ledger=ledger)
    assert outcome.law is not None
    assert outcome.spent.proposals == 2
    assert outcome.spent.tokens == 1960
    assert outcome.spent.money == 0.75
    written = [event.content for event in read_events(ledger) if event.kind == "proposal"]
    assert [one["tokens"] for one in written] == [910, 1050]
    assert audit(read_events(ledger)).findings == ()


def test_what_is_wrong_with_a_reply_stands_in_the_next_brief() -> None:
    _, model = driven('{"structure": {"var": "z"}}', reply(GUESSES[1]))
    first, second = (json.loads(asked[1].text)["attempts"] for asked in model.asked)
    assert first == []
    assert second[0]["problems"][0]["code"] == "unknown-variable"
    assert "`z` is not a variable" in second[0]["problems"][0]["why"]


def test_nothing_protected_is_in_any_brief() -> None:
    hidden = rows(40, seed=2)
    _, model = driven(*map(reply, GUESSES), protected=Protected(hidden))
    texts = " ".join(message.text for asked in model.asked for message in asked)
    public = {f"{value:.4g}" for value in rows(8, seed=1, v=(1.0, 1.5))["y"]}
    assert public & set(texts.replace("]", ",").split(","))
    kept_back = {f"{value:.4g}" for value in hidden["y"]} - public
    shown = set(texts.replace("]", ",").replace("[", ",").split(","))
    # Four digits of forty numbers meet one of some hundred others by chance now and then.
    assert len(kept_back & shown) <= 2


@pytest.mark.parametrize("budget", [Budget(proposals=9, tokens=100), Budget(proposals=9, money=1)])
def test_a_study_ends_when_its_tokens_or_its_money_are_spent(
    budget: Budget, tmp_path: Path
) -> None:
    ledger = tmp_path / "run.alder"
    outcome, model = driven(*[Reply("?", 60, 1, 0.6)] * 3, budget=budget, ledger=ledger)
    assert outcome.refusal is not None
    assert outcome.refusal.cause in ("budget", "no-valid-proposal")
    assert len(model.asked) == 2
    assert audit(read_events(ledger)).findings == ()


def test_a_reply_may_not_be_longer_than_the_tokens_that_are_left() -> None:
    _, model = driven(reply(GUESSES[1]), budget=Budget(proposals=2, tokens=3000))
    assert 256 <= model.forms[0].at_most < 2000


def test_a_budget_of_money_needs_a_price() -> None:
    with pytest.raises(BadStudy, match="price of scripted is not known"):
        driven(Reply("?", 1, 1, None), budget=Budget(money=1.0))


def test_a_model_that_fails_stops_the_study_which_resumes_where_it_was(tmp_path: Path) -> None:
    ledger = tmp_path / "run.alder"
    with pytest.raises(ModelFailed, match="gone"):
        driven(reply(GUESSES[0]), ModelFailed("gone"), ledger=ledger)
    assert state_of(ledger).spent.proposals == 1
    outcome, _ = driven(reply(GUESSES[1]), ledger=ledger)
    direct = run()
    assert outcome.law is not None
    assert direct.law is not None
    assert outcome.law.digest == direct.law.digest
    assert audit(read_events(ledger)).findings == ()


def test_an_interrupted_reply_is_not_in_the_ledger(tmp_path: Path) -> None:
    class Interrupted:
        name = "scripted"

        def reply(self, messages: object, form: object) -> Reply:
            raise KeyboardInterrupt

    ledger = tmp_path / "run.alder"
    with pytest.raises(KeyboardInterrupt):
        run(proposer=ModelProposer(Interrupted()), guesses=(), ledger=ledger)
    assert state_of(ledger).spent.proposals == 0
    assert driven(*map(reply, GUESSES), ledger=ledger)[0].law is not None


def test_model_and_search_take_turns_and_share_the_budget() -> None:
    model = ScriptedModel([reply(GUESSES[0]), reply("a*v")])
    other = Guesses([Proposal(parse("a*x", ("x", "v")))])
    outcome = run(proposer=Hybrid(ModelProposer(model), other), guesses=(), budget=BUDGET)
    assert outcome.spent.proposals == 3
    laws = [one["law"] for one in json.loads(model.asked[1][1].text)["attempts"]]
    assert laws == [GUESSES[0], "a*x"]


def test_guesses_come_before_the_model() -> None:
    model = ScriptedModel([reply(GUESSES[1])])
    first = Guesses([Proposal(parse(GUESSES[0], ("x", "v")))], ModelProposer(model))
    assert run(proposer=first, guesses=()).law is not None
    assert len(model.asked) == 1


def test_a_model_proposer_keeps_the_contract_of_proposers() -> None:
    check_proposer(lambda: ModelProposer(ScriptedModel([reply(GUESSES[1])])), evidence=evidence())
    check_proposer(
        lambda: Hybrid(ModelProposer(ScriptedModel([reply(GUESSES[1])] * 2)), Silent()),
        evidence=evidence(),
    )


class Silent:
    """Has nothing to say."""

    def propose(self, evidence: object, rng: np.random.Generator) -> None:
        return None


def test_the_scripted_replies_are_laws_of_the_grammar() -> None:
    assert [check(reply(law), GRAMMAR) for law in GUESSES] == [(), ()]
