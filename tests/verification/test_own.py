"""Criteria of a study's own: how they travel to the vault, and what they answer there."""

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alder.errors import BadStudy, VerifierFailed
from alder.records.protected import Protected
from alder.verification.admit import Sealed, admit
from alder.verification.criteria import Criteria
from alder.verification.own import OwnCriterion, describe, make, named
from alder.verification.terms import Terms
from alder.verification.vault import Vault
from verification.cases import TERMS, TRUE, WRONG, observed
from verification.owned import (
    AtMost,
    Elsewhere,
    Listed,
    Quiet,
    Raises,
    Stateful,
    Talkative,
    Undecided,
    Writes,
)

ROWS = {
    "admission": observed(np.random.default_rng(0), 80),
    "shift": observed(np.random.default_rng(1), 80, 2.0, 4.0),
}


def terms(*own: Any) -> Terms:
    return Terms(TERMS.variables, TERMS.target, TERMS.references, Criteria(own=own))


def sealed(*own: Any) -> Sealed:
    return Sealed(ROWS, terms(*own))


@given(
    st.floats(allow_nan=False, allow_infinity=False),
    st.lists(st.text()).map(tuple),
)
def test_a_dataclass_is_made_again_as_it_was(limit: float, roles: tuple[str, ...]) -> None:
    criterion = AtMost(limit, roles)
    assert make(describe(criterion)) == criterion


def test_a_criterion_without_a_state_is_made_again() -> None:
    assert isinstance(make(describe(Quiet())), Quiet)


@pytest.mark.parametrize(
    ("criterion", "words"),
    [
        (Stateful(), "it has a state but is no dataclass"),
        (Listed([1.0]), "`limits` is a list"),
        (AtMost(float("nan")), "`limit` is a float"),
        (3, "A int is no criterion"),
    ],
)
def test_what_the_vault_could_not_make_is_refused_in_a_sentence(criterion: Any, words: str) -> None:
    with pytest.raises(BadStudy, match=words):
        Criteria(own=[criterion])


def test_a_class_that_cannot_be_imported_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    class Local(Quiet):
        pass

    with pytest.raises(BadStudy, match="Local is no top-level name of"):
        describe(Local())
    monkeypatch.setattr(Local, "__module__", "__main__")
    with pytest.raises(BadStudy, match="the program that runs, which cannot be imported"):
        describe(Local())


@pytest.mark.parametrize(
    ("own", "words"),
    [
        (OwnCriterion("x", "not_there:X"), "ModuleNotFoundError"),
        (OwnCriterion("x", "verification.owned:Missing"), "AttributeError"),
        (OwnCriterion("x", "verification.owned:AtMost"), "TypeError"),
        (OwnCriterion("x", "builtins:dict"), "makes a dict, which is no criterion"),
        (OwnCriterion("x", "verification.owned:Quiet", code="0" * 64), "is not the file it was"),
    ],
)
def test_what_cannot_be_made_is_refused_in_a_sentence(own: OwnCriterion, words: str) -> None:
    with pytest.raises(BadStudy, match=words):
        make(own)


def test_own_criteria_and_their_code_are_part_of_the_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digests = {terms(*own).digest for own in ((), (Quiet(),), (AtMost(1.0),), (AtMost(2.0),))}
    assert len(digests) == 4
    monkeypatch.syspath_prepend(str(tmp_path))
    codes: set[str] = set()
    for comment in ("", "# another\n"):
        (tmp_path / "theirs.py").write_text("from verification.owned import Quiet\n" + comment)
        monkeypatch.delitem(sys.modules, "theirs", raising=False)
        codes.add(named("theirs", "theirs:Quiet").code)
    assert len(codes) == 2


def test_terms_with_own_criteria_round_trip() -> None:
    with_own = terms(AtMost(4.0, ("shift",)), Quiet())
    assert Terms.from_json(with_own.to_json()) == with_own
    assert "own" not in terms().to_json()["criteria"]


def test_terms_take_no_bare_names() -> None:
    with pytest.raises(BadStudy, match="`mine` is a name, which only a study resolves"):
        terms("mine")


def test_a_violated_criterion_has_its_category_and_comes_last() -> None:
    assert admit(sealed(AtMost(100.0)), TRUE, []).category == "accept"
    assert admit(sealed(AtMost(4.0)), TRUE, []).category == "fails-criterion"
    assert admit(sealed(Quiet(), AtMost(4.0)), WRONG, []).category == "inaccurate"


def test_every_role_is_shown_to_a_criterion() -> None:
    assert admit(sealed(AtMost(6.0, ("admission",))), TRUE, []).category == "accept"
    assert admit(sealed(AtMost(6.0, ("shift",))), TRUE, []).category == "fails-criterion"


def test_an_answer_that_may_come_is_paid_for_before_it_comes() -> None:
    plain, more = (admit(sealed(*own), TRUE, ["inaccurate"]).bound for own in ((), (Quiet(),)))
    assert plain is not None
    assert more is not None
    assert more > plain


@pytest.mark.parametrize(
    ("criterion", "words"),
    [
        (Raises(), "raised ValueError on a law"),
        (Writes(), "raised ValueError on a law"),
        (Undecided(), "answered with a str; True or False"),
    ],
)
def test_a_criterion_that_fails_is_no_verdict(criterion: Any, words: str) -> None:
    with pytest.raises(VerifierFailed, match=words) as failure:
        admit(sealed(criterion), TRUE, [])
    assert "secret" not in str(failure.value)


def test_criteria_run_in_the_vault_and_what_they_print_goes_nowhere() -> None:
    own = terms(Elsewhere(os.getpid()), Talkative(), AtMost(100.0))
    with Vault.seal(Protected(ROWS["admission"], ROWS["shift"]), own) as vault:
        assert vault.submit(TRUE).category == "accept"
        assert vault.submit(WRONG).category == "inaccurate"
    with Vault.seal(Protected(ROWS["admission"]), terms(Raises())) as vault:
        with pytest.raises(VerifierFailed, match="raised ValueError"):
            vault.submit(TRUE)
        assert vault.submit(WRONG).category == "inaccurate"


def test_a_module_of_the_current_directory_is_found_by_the_vault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "beside.py").write_text(
        "class Beside:\n    def violated(self, law, rows, role):\n        return True\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend("")
    import beside  # pyright: ignore[reportMissingImports]

    own = terms(beside.Beside())
    with Vault.seal(Protected(ROWS["admission"]), own) as vault:
        assert vault.submit(TRUE).category == "fails-criterion"


def test_what_the_vault_cannot_make_is_a_fault_of_the_study() -> None:
    missing = OwnCriterion("x", "not_there:X")
    with pytest.raises(BadStudy, match="cannot be made from not_there:X"):
        Vault.seal(Protected(ROWS["admission"]), terms(missing))
