"""Parts that other packages bring."""

import shutil
import subprocess
import sys
from pathlib import Path

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


def test_the_example_is_installed_found_and_keeps_its_promise(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    shutil.copytree(COINFLIP, source)  # building writes beside the source
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "install"]
    options = ["--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--target"]
    subprocess.run([*pip, *options, str(target), str(source)], check=True, capture_output=True)
    program = f"""
import sys
sys.path[:0] = [{str(target)!r}, {str(Path(__file__).parent)!r}]
from alder.plugins import plugin, plugins
from alder.testing import check_selector
from selection.worlds import draw_pool, make_evidence
assert plugins("selectors") == ("coinflip",)
make = plugin("selectors", "coinflip")
check_selector(make, candidates=(), evidence=make_evidence(), forecast=draw_pool(0))
print(make())
"""
    ran = subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, text=True
    )
    assert ran.stdout.strip() == "CoinFlip(heads=0.5)", ran.stderr


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
