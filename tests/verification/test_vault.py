import io
import os
import signal
import stat
import struct
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import alder
from alder.arrays import FloatArray
from alder.errors import BadLedger, BadTable, VerifierFailed
from alder.ports import Verifier
from alder.records.protected import Protected
from alder.records.verdict import Verdict
from alder.verification.admit import Sealed, admit
from alder.verification.serve import serve
from alder.verification.vault import Vault
from alder.verification.wire import Message, encode, pack_rows
from verification.cases import SIGMA, TERMS, TRUE, WRONG, law_of, observed

COMMAND = [sys.executable, "-P", "-m", "alder.verification.vault"]


def protected(seed: int = 0) -> Protected:
    rng = np.random.default_rng(seed)
    return Protected(observed(rng, 80), {"far": observed(rng, 60, 2.0, 4.0)})


def pid_of(vault: Vault) -> int:
    return vault._process.pid


def is_alive(pid: int) -> bool:
    """Say whether a process is there and is not merely waiting to be buried."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def test_the_vault_answers_as_the_criteria_do() -> None:
    rows = protected().columns(TERMS.columns)
    with Vault.seal(protected(), TERMS) as vault:
        assert isinstance(vault, Verifier)
        assert vault.submit(WRONG) == admit(Sealed(rows, TERMS), WRONG, [])
        answer = vault.submit(TRUE)
        assert answer == admit(Sealed(rows, TERMS), TRUE, ["inaccurate"])
    assert answer.accepted
    assert answer.bound is not None
    assert SIGMA < answer.bound < 2.0 * SIGMA


def test_the_same_law_gets_the_same_answer_and_uses_nothing_up() -> None:
    with Vault.seal(protected(), TERMS) as vault:
        first = vault.submit(TRUE)
        vault.submit(WRONG)
        assert vault.submit(TRUE) == first


def test_commitments_are_salted_by_role() -> None:
    rows = observed(np.random.default_rng(0), 20)
    with Vault.seal(Protected(rows, rows), TERMS) as one, Vault.seal(Protected(rows), TERMS) as two:
        digests = [c.digest for c in (*one.commitments(), *two.commitments())]
        assert [c.role for c in one.commitments()] == ["admission", "shift"]
    assert len(set(digests)) == 3


def shown_of(pid: int, name: str) -> bytes:
    """Read what a process shows; the vault shows some of it to nobody but root."""
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except PermissionError:
        assert os.geteuid() != 0
        return b""


def test_rows_are_neither_in_the_environment_nor_on_the_command_line() -> None:
    rows = protected()
    values = [float(v) for v in rows.columns(TERMS.columns)["admission"]["y"]]
    with Vault.seal(rows, TERMS) as vault:
        for name in ("environ", "cmdline"):
            seen = shown_of(pid_of(vault), name)
            assert not any(repr(value).encode() in seen for value in values)
            assert not any(struct.pack("<d", value) in seen for value in values)


def test_answers_hold_a_category_and_nothing_about_rows() -> None:
    with Vault.seal(protected(), TERMS) as vault:
        answer = vault._ask(Message({"kind": "submit"}, WRONG.text().encode()), expected="verdict")
    assert answer == {
        "kind": "verdict",
        "category": "inaccurate",
        "submissions": 1,
        "bound": None,
        "confidence": None,
        "shift_bound": None,
    }


def test_the_directory_is_private_and_holds_no_row(tmp_path: Path) -> None:
    home = tmp_path / "run.alder.vault"
    rows = protected()
    with Vault.seal(rows, TERMS, directory=home) as vault:
        vault.submit(WRONG)
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    files = sorted(home.iterdir())
    assert [file.name for file in files] == ["answers.jsonl", "salts.json"]
    for file in files:
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        for value in rows.columns(TERMS.columns)["admission"]["y"]:
            assert struct.pack("<d", value) not in file.read_bytes()
            assert repr(float(value)) not in file.read_text()


def test_an_interrupted_study_goes_on_with_its_commitments_and_answers(tmp_path: Path) -> None:
    with Vault.seal(protected(), TERMS, directory=tmp_path / "v") as vault:
        promised = vault.commitments()
        vault.submit(WRONG)
        os.kill(pid_of(vault), signal.SIGKILL)
    with Vault.seal(protected(), TERMS, directory=tmp_path / "v", published=promised) as vault:
        assert vault.commitments() == promised
        assert vault.submit(TRUE).submissions == 2


def test_other_rows_do_not_pass_for_those_committed_to(tmp_path: Path) -> None:
    with Vault.seal(protected(), TERMS, directory=tmp_path / "v") as vault:
        promised = vault.commitments()
    with pytest.raises(BadLedger, match="admission are not those the ledger committed to"):
        Vault.seal(protected(1), TERMS, directory=tmp_path / "v", published=promised)


def test_other_roles_do_not_pass_either(tmp_path: Path) -> None:
    with Vault.seal(protected(), TERMS, directory=tmp_path / "v") as vault:
        promised = vault.commitments()
    less = Protected(protected().admission)
    with pytest.raises(BadLedger, match="admission, far"):
        Vault.seal(less, TERMS, directory=tmp_path / "v", published=promised)


def test_a_ledger_without_its_vault_is_told_so_and_the_folder_is_not_made(tmp_path: Path) -> None:
    with Vault.seal(protected(), TERMS, directory=tmp_path / "v") as vault:
        promised = vault.commitments()
    with pytest.raises(BadLedger, match="elsewhere, which belongs to the ledger, is missing"):
        Vault.seal(protected(), TERMS, directory=tmp_path / "elsewhere", published=promised)
    assert not (tmp_path / "elsewhere").exists()


def test_lost_salts_are_said_so(tmp_path: Path) -> None:
    (tmp_path / "salts.json").write_text("{}")
    with pytest.raises(BadLedger, match=r"salts\.json cannot be read"):
        Vault.seal(protected(), TERMS, directory=tmp_path)


def test_a_torn_answer_spoils_no_later_one(tmp_path: Path) -> None:
    home = tmp_path / "v"
    with Vault.seal(protected(), TERMS, directory=home) as vault:
        promised = vault.commitments()
        vault.submit(WRONG)
    with (home / "answers.jsonl").open("a") as file:
        file.write('\n{"law": "ab')
    with Vault.seal(protected(), TERMS, directory=home, published=promised) as vault:
        assert vault.submit(TRUE).submissions == 2
    with Vault.seal(protected(), TERMS, directory=home, published=promised) as vault:
        assert vault.submit(law_of("a*x", {"a": 1.0})).submissions == 3


def test_answers_of_a_study_whose_ledger_is_gone_are_not_taken_over(tmp_path: Path) -> None:
    with Vault.seal(protected(), TERMS, directory=tmp_path / "v") as vault:
        vault.submit(WRONG)
    with pytest.raises(BadLedger, match="another study"):
        Vault.seal(protected(), TERMS, directory=tmp_path / "v")


def test_a_vault_that_was_killed_is_a_sentence() -> None:
    with Vault.seal(protected(), TERMS) as vault:
        os.kill(pid_of(vault), signal.SIGKILL)
        with pytest.raises(VerifierFailed, match="stopped"):
            vault.submit(TRUE)
        with pytest.raises(VerifierFailed, match="closed"):
            vault.submit(TRUE)


def test_a_vault_that_hangs_is_ended() -> None:
    vault = Vault.seal(protected(), TERMS)
    os.kill(pid_of(vault), signal.SIGSTOP)
    vault._patience = 0.2
    with pytest.raises(VerifierFailed, match="did not answer"):
        vault.submit(TRUE)
    assert not is_alive(pid_of(vault))


@pytest.mark.parametrize(
    "answer",
    [b"", b"rubbish", encode(Message({"kind": "verdict", "category": "fine", "submissions": 1}))],
)
def test_rubbish_instead_of_an_answer_is_a_sentence(answer: bytes) -> None:
    program = (
        f"import sys; sys.stdout.buffer.write({answer!r}); sys.stdout.flush(); sys.stdin.read()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,
    )
    with Vault(process, 1.0) as vault, pytest.raises(VerifierFailed):
        vault.submit(TRUE)


def test_a_law_that_is_no_law_is_invalid_and_counted() -> None:
    with Vault.seal(protected(), TERMS) as vault:
        for number, body in enumerate((b"", b"{}", b"\xff", b"[" * 5000), start=1):
            answer = vault._ask(Message({"kind": "submit"}, body), expected="verdict")
            assert (answer["category"], answer["submissions"]) == ("invalid", number)
        assert vault.submit(TRUE).accepted


def test_a_vault_ends_when_it_is_closed_or_forgotten() -> None:
    vault = Vault.seal(protected(), TERMS)
    closed = pid_of(vault)
    vault.close()
    vault.close()
    forgotten = pid_of(Vault.seal(protected(), TERMS))
    assert not is_alive(closed)
    assert not is_alive(forgotten)


_PARENT = """
import os, sys, time
sys.path[:0] = {path!r}
from verification.cases import TERMS, observed
import numpy as np
from alder.records.protected import Protected
from alder.verification.vault import Vault
vault = Vault.seal(Protected(observed(np.random.default_rng(0), 30)), TERMS)
fork = os.fork()          # inherits the pipe, so that the vault sees no end of file
if fork:
    print(vault._process.pid, fork, flush=True)
time.sleep(60)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the signal is Linux's")
def test_a_vault_ends_with_its_parent_though_a_fork_holds_the_pipe() -> None:
    # From standard input, without a guard: that is how notebooks and shells run programs.
    parent = subprocess.Popen(
        [sys.executable, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert parent.stdin is not None
    assert parent.stdout is not None
    parent.stdin.write(_PARENT.format(path=[str(Path(__file__).parents[1])]))
    parent.stdin.close()
    child, fork = map(int, parent.stdout.readline().split())
    try:
        assert is_alive(child)
        parent.kill()
        parent.wait()
        parent.stdout.close()
        end = time.monotonic() + 20.0
        while is_alive(child) and time.monotonic() < end:
            os.sched_yield()
        assert not is_alive(child)
    finally:
        os.kill(fork, signal.SIGKILL)


def test_a_vault_outlives_the_thread_that_started_it() -> None:
    from threading import Thread

    made: list[Vault] = []
    thread = Thread(target=lambda: made.append(Vault.seal(protected(), TERMS)))
    thread.start()
    thread.join()
    with made[0] as vault:
        assert vault.submit(TRUE).accepted


def talk(sent: bytes) -> bytes:
    """Run the inside of the vault here, which is faster than a process for every example."""
    answers: list[bytes] = []
    serve(io.BytesIO(sent).read, answers.append)
    return b"".join(answers)


SECRET: FloatArray = np.array([3.14159e77, 2.71828e77])


def sealing(changes: dict[str, object] | None = None) -> bytes:
    rows = Protected({"x": SECRET, "u": SECRET, "y": SECRET})
    shapes, body = pack_rows(rows.columns(TERMS.columns))
    good = {
        "kind": "seal",
        "tables": shapes,
        "terms": TERMS.to_json(),
        "directory": None,
        "published": [],
    }
    return encode(Message({**good, **(changes or {})}, body))


@given(st.binary(max_size=200), st.booleans())
def test_arbitrary_bytes_neither_crash_the_vault_nor_draw_rows(sent: bytes, framed: bool) -> None:
    message = struct.pack("<IQ", len(sent), 0) + sent if framed else sent
    answers = talk(sealing() + message)
    assert struct.pack("<d", SECRET[0]) not in answers
    assert b"e+77" not in answers


@settings(max_examples=5)
@given(st.binary(min_size=1, max_size=200))
def test_the_process_survives_arbitrary_bytes_too(sent: bytes) -> None:
    ran = subprocess.run(COMMAND, input=sealing() + sent, capture_output=True, timeout=60)
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert struct.pack("<d", SECRET[0]) not in ran.stdout


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(st.sampled_from(["tables", "terms", "directory", "published", "kind"]), json_values)
def test_arbitrary_headers_do_not_crash_the_vault(key: str, value: object) -> None:
    if key == "directory" and isinstance(value, str):
        value = {"not": "a path"}
    answers = talk(sealing({key: value}))
    assert b'"kind":"' in answers


def test_rows_without_the_columns_of_the_terms_are_refused() -> None:
    with pytest.raises(BadTable, match="`y` is not a column"):
        Vault.seal(Protected({"x": [1.0], "u": [1.0]}), TERMS)


def test_a_closed_vault_says_so_instead_of_answering() -> None:
    vault = Vault.seal(protected(), TERMS)
    vault.close()
    with pytest.raises(VerifierFailed, match="closed"):
        vault.submit(TRUE)


def test_a_verdict_carries_a_bound_only_when_it_accepts() -> None:
    with Vault.seal(protected(), TERMS) as vault:
        answers: list[Verdict] = [vault.submit(law) for law in (WRONG, TRUE)]
    assert [answer.bound is not None for answer in answers] == [False, True]


def test_the_vault_runs_the_alder_of_its_harness_where_there_are_two(tmp_path: Path) -> None:
    own = Path(str(alder.__file__)).parents[1]
    other = tmp_path / "alder"
    other.mkdir()
    (other / "__init__.py").write_text("raise SystemExit('another Alder')\n")
    script = (
        f"import sys; sys.path[:0] = [{str(own)!r}, {str(tmp_path)!r}]\n"
        "from verification.test_vault import TERMS, Vault, protected\n"
        "with Vault.seal(protected(), TERMS) as vault: print(len(vault.commitments()))\n"
    )
    # What is on our own path stays there: packages may have come by PYTHONPATH and no other way.
    path = [str(Path(__file__).parents[1]), *(entry for entry in sys.path if entry)]
    done = subprocess.run(
        [sys.executable, "-P", "-c", script],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == "2", done.stderr
