"""Every page of the docs runs, and so does what runs them."""

import re
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest
from docs.pages import Command, blocks, commands, matches, run_page

ROOT = Path(__file__).parents[2]
# A page names the programs it cannot be run without in a comment.
NEEDS = re.compile(r"<!-- needs (\w+) -->")
NEEDS_MODULE = re.compile(r"<!-- needs module (\w+) -->")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_block_of_the_page_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    for program in NEEDS.findall(text):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed; apt install bubblewrap brings bwrap")
    for module in NEEDS_MODULE.findall(text):
        if find_spec(module) is None:
            pytest.skip(f"{module} is not installed; make test or make robots brings it")
    run_page(text, tmp_path)


def test_a_console_block_is_split_into_commands_and_outputs() -> None:
    assert list(commands("$ a \\\n  b\nout\n\nmore\n$ c\n")) == [
        Command("a \\\n  b", "out\n\nmore"),
        Command("c", None),
    ]


@pytest.mark.parametrize(
    ("expected", "shown", "answer"),
    [
        ("a  b", "a b\n", True),
        ("a ... d", "a b\nc d", True),
        ("a\n...\nb", "a\nb", True),
        ("took ...s", "took 0.3s", True),
        ("a", "a b", False),
        ("a ... d", "a b c", False),
        ("1.5", "1x5", False),
    ],
)
def test_three_dots_stand_for_any_text(expected: str, shown: str, answer: bool) -> None:
    assert matches(expected, shown) == answer


def test_a_wrong_output_fails_the_page(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="The page says"):
        run_page("```console\n$ echo one\ntwo\n```\n", tmp_path)


def test_a_failing_command_fails_the_page(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="exit status 1"):
        run_page("```console\n$ false\n```\n", tmp_path)


def test_a_wrong_doctest_fails_the_page(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="Expected"):
        run_page("```python\n>>> 1 + 1\n3\n```\n", tmp_path)


def test_python_blocks_share_names_and_titled_blocks_are_files(tmp_path: Path) -> None:
    page = (
        '```csv title="rows.csv"\nx\n1\n```\n```python\nx = 2\n```\n'
        "```python\n>>> x\n2\n```\n```console\n$ cat rows.csv\nx\n1\n```\n"
    )
    run_page(page, tmp_path)
    assert [block.line for block in blocks(page)] == [1, 5, 8, 12]
