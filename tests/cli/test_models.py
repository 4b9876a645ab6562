"""`--proposer llm:...`: a whole study on the command line, with a server of the test's own."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from cli.studies import STUDY, with_proposer, write_study
from network import served

from alder.cli.main import main
from alder.expr.json import to_json
from alder.expr.text import parse

KEY = "sk-nobody-may-see-this"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("ALDER_LLM_KEY", KEY)


def answer(path: str, headers: Mapping[str, str], body: Any) -> tuple[int, dict[str, str], object]:
    """Say the right law, as any OpenAI-compatible server would."""
    assert headers["Authorization"] == f"Bearer {KEY}"
    structure = to_json(parse("p0*r^p1 - p2*v", ("r", "v")))
    text = json.dumps({"rationale": "A pull and a drag.", "structure": structure})
    return 200, {}, {
        "choices": [{"message": {"content": text}}],
        "usage": {"prompt_tokens": 1500, "completion_tokens": 60},
    }  # fmt: skip


def test_a_model_on_a_server_finds_a_law_and_its_key_is_nowhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_study(tmp_path, with_proposer(STUDY, ""))
    with served(answer) as address:
        words = ["--proposer", f"llm:{address}:m", "--ledger", "run.alder"]
        assert main(["discover", "study.toml", *words]) == 0
    shown = capsys.readouterr().out
    assert "✓ ADMITTED  a = p0*r^p1 - p2*v" in shown
    assert "1,560 tokens" in shown
    assert main(["audit", "run.alder"]) == 0
    kept = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert [path for path in kept if KEY.encode() in path.read_bytes()] == []


@pytest.mark.parametrize("wanted", ["llm:opnai:gpt", "llm:http://h/v1", "hybrid:"])
def test_a_name_that_cannot_be_read_is_misuse_in_one_sentence(
    wanted: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_study(tmp_path, with_proposer(STUDY, ""))
    assert main(["discover", "study.toml", "--proposer", wanted]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


def test_a_name_that_cannot_be_read_is_said_before_anything_is_compiled(tmp_path: Path) -> None:
    write_study(tmp_path, with_proposer(STUDY, ""))
    ran = subprocess.run(
        [sys.executable, "-m", "alder", "discover", "study.toml", "--proposer", "llm:opnai:gpt"],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "nothing-compiled-here")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 2
    assert "Did you mean `openai`?" in ran.stderr
    assert "Compiling" not in ran.stdout + ran.stderr
