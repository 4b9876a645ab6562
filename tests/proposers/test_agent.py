"""Scripted agents in the sandbox: what they write is proposed, and every round is charged."""

import json
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from proposers.evidence import evidence
from sandboxes import needs_bubblewrap
from study.problems import GUESSES, run

from alder.errors import BadStudy, SandboxFailed
from alder.expr.text import to_text
from alder.ledger.store import read_events
from alder.ports import Submission
from alder.proposers.agent import Agent, agent_from_text
from alder.proposers.launch import Allowance
from alder.records.budget import Budget
from alder.testing import check_proposer

SOURCE = Path(__file__).parents[2] / "src"

# Proposes the first guess, then the second, as `Guesses` does, and has the other one tried.
SCRIPT = f"""
case $(grep -c '"number"' attempts.json) in
  0) ./try '{GUESSES[1]}' > answers; echo '{GUESSES[0]}' > proposal.json ;;
  *) echo '{GUESSES[1]}' > proposal.json ;;
esac
"""


def propose(script: str) -> Submission:
    submission = Agent(("sh", "-c", script)).propose(evidence(), np.random.default_rng(0))
    assert submission is not None
    return submission


@needs_bubblewrap
def test_an_agent_reaches_the_law_that_its_proposals_reach_when_given_directly(
    tmp_path: Path,
) -> None:
    path = tmp_path / "run.alder"
    given = run(proposer="guesses")
    written = run(proposer=Agent(("sh", "-c", SCRIPT)), guesses=(), ledger=path)
    assert given.law is not None
    assert written.law == given.law
    words = [sys.executable, "-m", "alder", "audit", str(path)]
    ran = subprocess.run(
        words, env={"PYTHONPATH": str(SOURCE)}, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


@needs_bubblewrap
def test_every_round_is_charged_whatever_the_agent_did(tmp_path: Path) -> None:
    path = tmp_path / "run.alder"
    script = f"[ $(grep -c number attempts.json) != 0 ] && echo '{GUESSES[1]}' > proposal.json"
    agent = Agent(("sh", "-c", f"echo words of its own >&2; {script}"))
    outcome = run(proposer=agent, guesses=(), ledger=path, budget=Budget(proposals=2, queries=0))
    assert outcome.spent.proposals == 2
    offered, problems = (
        [event.content for event in read_events(path) if event.kind == kind]
        for kind in ("proposal", "problems")
    )
    assert len(offered) == 2
    assert problems[0]["problems"][0]["code"] == "no-proposal"  # pyright: ignore[reportIndexIssue]
    assert offered[0]["source"] == {"text": "words of its own"}


@needs_bubblewrap
def test_what_was_tried_is_counted_and_goes_along_as_rivals() -> None:
    submission = propose("./try 'a*x' 'a*x + b*v^2'; echo 'a*v' > proposal.json")
    assert submission.source == b"a*v\n"
    assert submission.fits == 2
    names = ("x", "v")
    assert [to_text(one.structure, names) for one in submission.rivals] == ["a*x", "a*x + b*v^2"]


@needs_bubblewrap
def test_a_fifth_try_is_refused_and_answers_say_how_well_the_others_do() -> None:
    law = '{"structure": {"op": "mul", "args": [{"param": "a"},\n {"var": "x"}]}}'
    script = f"""
    printf '%s' '{law}' > law.json
    ./try law.json 'a*x + b*v^2' 'sin(x)' 'a*' 'a*v' > proposal.json
    """
    submission = propose(script)
    assert isinstance(submission.source, bytes)
    tree, right, outside, broken, fifth = map(json.loads, submission.source.splitlines())
    assert right["nmse"] < 0.1 * tree["nmse"]
    assert right["coefficients"]["b"] == pytest.approx(0.5, rel=0.1)
    assert "operator-not-in-grammar" in outside["problems"][0]
    assert broken["tries_left"] == 0
    assert "4 structures were tried" in fifth["problems"][0]
    assert submission.fits == 4


@needs_bubblewrap
def test_a_flood_of_questions_is_neither_answered_nor_waited_for() -> None:
    flood = "head -c 300000 /dev/zero | tr '\\0' x; yes | head -n 20000"
    submission = propose(f"({flood}) > /run/desk/ask; echo 'a*x' > proposal.json")
    assert submission.source == b"a*x\n"
    assert submission.fits == 4


@needs_bubblewrap
def test_an_agent_that_is_ended_says_at_which_limit() -> None:
    agent = Agent(("sleep", "30"), Allowance(seconds=0.2))
    submission = agent.propose(evidence(), np.random.default_rng(0))
    assert submission is not None
    (problem,) = submission.problems
    assert "was not written" in problem.message
    assert "more than 0.2 s" in problem.message


@needs_bubblewrap
def test_a_study_that_is_run_inside_the_system_stays_hidden(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    script = "ls /usr/share | wc -l > proposal.json"
    assert propose(script).source != b"0\n"
    monkeypatch.chdir("/usr/share")
    assert propose(script).source == b"0\n"


@needs_bubblewrap
def test_a_scripted_agent_keeps_the_contract_of_proposers() -> None:
    check_proposer(lambda: Agent(("sh", "-c", SCRIPT)), evidence=evidence())


@needs_bubblewrap
def test_instructions_are_on_the_standard_input() -> None:
    assert propose("cmp - INSTRUCTIONS.md && echo 'a*x' > proposal.json").source == b"a*x\n"


@needs_bubblewrap
def test_settings_stand_before_the_command(tmp_path: Path) -> None:
    script = tmp_path / "mine.sh"
    script.write_text("echo 'a*x' > proposal.json", "utf-8")
    text = f"agent:seconds=7 memory_mb=300 file={script} reads=/usr/share sh mine.sh 'two words'"
    agent = agent_from_text(text)
    assert agent.command == ("sh", "mine.sh", "two words")
    assert (agent.allowance.seconds, agent.allowance.memory) == (7.0, 300 * 2**20)
    submission = agent.propose(evidence(), np.random.default_rng(0))
    assert submission is not None
    assert submission.source == b"a*x\n"


@needs_bubblewrap
@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("agent:", "needs a command"),
        ("agent:second=3 true", "Did you mean `seconds`"),
        ("agent:seconds=-3 true", "above 0"),
        ("agent:seconds=inf true", "above 0 to 1e"),
        ("agent:memory_mb=inf true", "above 0 to 1e"),
        ("agent:processes=0.5 true", "from 1 to 1e"),
        ("agent:file=no-such-file true", "no file that can be read"),
        ("agent:file=/tmp true", "no file that can be read"),
        ("agent:file=/etc/hosts file=/etc/../etc/hosts true", "rename one"),
        ("agent:model=http://127.0.0.1:9/v1?key=secret true", "no password and no query"),
        ("agent:model=http://me:secret@127.0.0.1:9/v1 true", "no password and no query"),
        ("agent:'true", "split into words"),
        ("agent:no-such-program", "shows no program"),
        ("agent:/root/agent", "shows no program"),
        ("agent:./mine.sh", "file=SCRIPT"),
        ("agent:reads=/no-such-folder true", "a folder that exists"),
        ("agent:reads=/ true", "where the study is"),
        ("agent:socket=/dev/null true", "no unix socket"),
        # An ordinary user may not even look into this folder.
        ("agent:reads=/root/agent true", "a folder that exists"),
        ("agent:socket=/root/agent true", "no unix socket"),
    ],
)
def test_what_cannot_be_run_is_refused_before_the_study(text: str, sentence: str) -> None:
    with pytest.raises(BadStudy, match=sentence):
        run(proposer=text, guesses=())


def test_without_bubblewrap_no_agent_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SandboxFailed, match="apt install bubblewrap"):
        Agent(("true",))


@needs_bubblewrap
def test_guesses_are_proposed_before_the_agent_is_asked() -> None:
    assert run(proposer="agent:false", guesses=GUESSES).law == run(proposer="guesses").law


@needs_bubblewrap
def test_a_socket_of_a_model_is_accepted(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as model:
        path = Path("/tmp", f"alder-{tmp_path.name[-40:]}.sock")
        path.unlink(missing_ok=True)
        model.bind(str(path))
        try:
            assert agent_from_text(f"agent:socket={path} true").socket == path
        finally:
            path.unlink()
