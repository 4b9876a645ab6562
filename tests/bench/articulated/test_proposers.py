"""Any proposer on a joint: the study of the drawer and the door, on a numerical stand-in."""

from collections import Counter
from pathlib import Path

import pytest
from bench.articulated.standin import World, world

from alder.bench.articulated.discovery import (
    VARIABLES,
    JointOutcome,
    JointSettings,
    discover_joint,
    vocabulary,
)
from alder.bench.articulated.packages import missing_packages
from alder.bench.articulated.scoring import optional_terms
from alder.bench.articulated.terms import kinds_in
from alder.bench.backbones.joints import JOINTS, subject_of, summed_up
from alder.bench.backbones.proposers import proposer
from alder.bench.backbones.run import BENCHMARK, figures, table
from alder.bench.benchmark import Row, choose_cases, without_missing_cases
from alder.cli.main import MISUSE, main
from alder.errors import BadStudy
from alder.expr.text import parse

NAMES = [variable.name for variable in VARIABLES]


def found_by(method: str, case: World, ledger: Path) -> JointOutcome:
    settings = JointSettings(case.joint.stiction)
    return discover_joint(
        case.passive,
        case.pool,
        case.query,
        case.admission,
        0,
        nominal=case.nominal,
        settings=settings,
        ledger=ledger,
        proposer=proposer(method, {"seed": 0}, subject_of(settings)),
    )


@pytest.mark.parametrize(
    ("family", "has_only_true_terms"), [("mixed", True), ("coulomb", False), ("viscous", True)]
)
def test_a_scripted_model_drives_the_study_of_a_joint(
    family: str, has_only_true_terms: bool, tmp_path: Path
) -> None:
    case = world("drawer", family, 21)
    ledger = tmp_path / "joint.alder"
    found = found_by("scripted-model", case, ledger)
    row = summed_up(found, ledger, optional_terms(case.force.terms))
    assert row["admitted"], row["refusal"]
    assert row["support"] is has_only_true_terms
    assert row["invalid"] == row["tokens"] == 0
    assert row["queries"] == found.n_queries


def test_the_built_in_proposer_of_joints_finds_exactly_the_true_terms(tmp_path: Path) -> None:
    case = world("drawer", "coulomb", 21)
    ledger = tmp_path / "joint.alder"
    found = found_by("search", case, ledger)
    row = summed_up(found, ledger, optional_terms(case.force.terms))
    assert row["admitted"]
    assert row["support"]


@pytest.mark.parametrize(
    ("law", "kinds"),
    [
        ("a*v + b", {"velocity", "bias"}),
        ("-a*(q - c) + b*v", {"position", "bias", "velocity"}),
        ("a*v + b*tanh(v/w)", {"velocity", "friction"}),
        ("v*(a + b*abs(v)) + c*sign(v)", {"velocity", "drag", "friction"}),
        ("a*v*v + b*u*q/2", {"velocity_squared", "action_position"}),
        ("a*v/q", {"v/q"}),
    ],
)
def test_the_terms_of_a_law_do_not_depend_on_how_it_is_written(law: str, kinds: set[str]) -> None:
    terms = vocabulary(JointSettings(0.01)).terms
    assert kinds_in(parse(law, NAMES), terms) == kinds


def test_every_family_is_there_three_times_on_two_joints() -> None:
    assert len(set(JOINTS)) == 12
    assert Counter(name.split("-")[0] for name in JOINTS) == {"drawer": 6, "door": 6}
    families = Counter(name.split("-")[1] for name in JOINTS)
    assert families == dict.fromkeys(("viscous", "coulomb", "spring", "mixed"), 3)


def test_joints_have_a_table_of_their_own_without_recovery() -> None:
    joint: Row = {"case": JOINTS[0], "method": "search", "admitted": True, "support": True}
    law: Row = {**joint, "case": BENCHMARK.cases[0], "recovered_1e3": True}
    assert "recovery_1e3" not in figures([joint])
    assert figures([joint, law])["recovery_1e3"] == 1.0
    lines = table([law, joint], {"search": figures([joint, law])})
    assert [line for line in lines if len(line.split()) == 1] == ["NovelLaw", "joints"]


@pytest.mark.skipif(missing_packages() is None, reason="robots can run here")
def test_without_a_robot_joints_are_left_out_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept, said = without_missing_cases(BENCHMARK, choose_cases(BENCHMARK, None))
    assert not set(kept) & set(JOINTS)
    assert len(kept) == 32
    assert len(said) == 1
    with pytest.raises(BadStudy, match="make robots"):
        without_missing_cases(BENCHMARK, JOINTS)
    words = ["backbones", "--cases", "drawer-*", "--out", str(tmp_path / "out")]
    assert main(["bench", *words]) == MISUSE
    assert "make robots" in capsys.readouterr().err
