"""Parts that other packages bring."""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from alder.errors import BadStudy
from alder.plugins import plugin, plugins
from alder.study.parts import as_selector

COINFLIP = Path(__file__).parents[1] / "docs" / "how-to" / "alder-coinflip"

_SELECTOR = """
class Mine:
    def select(self, candidates, evidence, forecast, n, rng):
        return ()
"""


def offer(folder: Path, line: str, *, package: str = "stranger", code: str = "") -> None:
    """Write an installed package with one entry point in a folder."""
    (folder / f"{package}.py").write_text(code)
    metadata = folder / f"{package}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[alder.selectors]\n{line}\n")


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


_CHECKS = """
from alder.plugins import plugin, plugins
from alder.testing import check_criterion, check_proposer, check_selector, check_world
from selection.worlds import draw_pool, make_evidence

evidence = make_evidence()
check_selector(plugin("selectors", "coinflip"), candidates=(), evidence=evidence,
               forecast=draw_pool(0))
check_proposer(plugin("proposers", "cointoss"), evidence=evidence)
grammar = alder.Grammar([alder.Variable("n")], target=alder.Variable("heads"))
check_world(plugin("worlds", "coins"), grammar=grammar)
n = np.arange(10.0, 50.0)
rows = {"n": n, "heads": 0.6 * n + np.sin(n)}
law = alder.fit("k*n", rows, target="heads").law
check_criterion(plugin("criteria", "balanced"), law=law, rows=rows)
for group in ("selectors", "proposers", "worlds", "criteria"):
    print(*plugins(group))
"""

_STUDY = """
selector = "coinflip"
[grammar]
variables = ["n"]
target = "heads"
[rows]
initial = "tosses.csv"
[world]
kind = "coins"
[budget]
proposals = 2
queries = 2
[proposer]
kind = "cointoss"
[criteria]
own = ["balanced"]
"""

_RUN = """
from alder.studyfile import read_study
outcome = read_study("study.toml").discover(None)
print(outcome.law is not None, outcome.verdict)
"""


@pytest.fixture(scope="module")
def coinflip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example package, installed in a folder of its own."""
    source, target = (tmp_path_factory.mktemp("coinflip") / name for name in ("source", "target"))
    shutil.copytree(COINFLIP, source)  # building writes beside the source
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "install"]
    options = ["--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--target"]
    subprocess.run([*pip, *options, str(target), str(source)], check=True, capture_output=True)
    return target


def run_with(target: Path, program: str, folder: Path) -> str:
    """Run a program beside an installed package, and return what it prints."""
    paths = [str(target), str(Path(__file__).parent)]
    head = f"import sys; sys.path[:0] = {paths!r}\nimport numpy as np\nimport alder\n"
    ran = subprocess.run(
        [sys.executable, "-c", head + program],
        check=False, capture_output=True, text=True, cwd=folder,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_the_example_is_installed_found_and_keeps_its_promises(
    coinflip: Path, tmp_path: Path
) -> None:
    assert run_with(coinflip, _CHECKS, tmp_path).split() == [
        "coinflip", "cointoss", "coins", "balanced",
    ]  # fmt: skip


def test_a_study_file_takes_all_four_kinds_by_name(coinflip: Path, tmp_path: Path) -> None:
    n = np.arange(20, 120)
    heads = np.random.default_rng(0).binomial(n, 0.6)
    lines = [f"{a},{b}" for a, b in zip(n, heads, strict=True)]
    (tmp_path / "tosses.csv").write_text("\n".join(["n,heads", *lines]))
    (tmp_path / "study.toml").write_text(_STUDY)
    said = run_with(coinflip, _RUN, tmp_path)
    assert said.startswith("True Verdict(category='accept'")


def test_a_name_nobody_brings_is_refused_with_the_nearest_one(installed: Path) -> None:
    offer(installed, "coinflip = stranger:make")
    with pytest.raises(BadStudy, match=r"selector named `coinflop`; coinflip is.*Did you mean"):
        plugin("selectors", "coinflop")


def test_without_plug_ins_there_are_no_names() -> None:
    assert plugins("criteria") == ()
    with pytest.raises(BadStudy, match=r"No installed package brings a criterion .* none is"):
        plugin("criteria", "mine")


def test_names_are_listed_without_importing_anything(installed: Path) -> None:
    offer(installed, "boom = stranger:make", code="raise RuntimeError('imported')")
    assert plugins("selectors") == ("boom",)


@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        ("broken = stranger:make", "raise RuntimeError('no licence')", "RuntimeError: no licence"),
        ("broken = stranger:missing", "", "AttributeError"),
        ("broken = not_there:make", "", "ModuleNotFoundError"),
        ("broken = stranger:make", "make = 3", "is a int; an entry point leads to a class"),
    ],
)
def test_a_broken_plug_in_is_refused_in_a_sentence(
    installed: Path, line: str, code: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(installed, line, code=code)
    monkeypatch.delitem(sys.modules, "stranger", raising=False)
    with pytest.raises(BadStudy, match=words):
        plugin("selectors", "broken")


def test_two_packages_with_one_name_are_refused(installed: Path) -> None:
    offer(installed, "same = one:make", package="one")
    offer(installed, "same = two:make", package="two")
    with pytest.raises(BadStudy, match="Two packages bring a selector named `same`"):
        plugin("selectors", "same")


def test_an_unknown_group_is_refused() -> None:
    with pytest.raises(BadStudy, match="no group of plug-ins"):
        plugins("stores")  # type: ignore[arg-type]


def test_a_study_takes_a_plug_in_by_its_name(
    installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(installed, "mine = mine:Mine", package="mine", code=_SELECTOR)
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    name, selector = as_selector("mine")
    assert (name, type(selector).__name__) == ("mine", "Mine")


def test_a_plug_in_that_is_not_what_its_group_says_is_refused(
    installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(installed, "odd = odd:dict", package="odd", code="dict = dict")
    monkeypatch.delitem(sys.modules, "odd", raising=False)
    with pytest.raises(BadStudy, match="makes a dict, which is no selector"):
        as_selector("odd")
