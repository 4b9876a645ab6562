"""Where a row comes from: the commit and the versions it was measured with."""

import platform
import subprocess
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_PACKAGES = ("alder", "numpy", "scipy", "numba", "scikit-learn", "pysindy", "pyoperon", "gplearn")


def commit() -> str:
    """Return the commit of the source, with a plus where files differ from it; "" outside git."""
    folder = Path(__file__).parent
    head = _git(folder, ["rev-parse", "--short=12", "HEAD"])
    changed = _git(folder, ["status", "--porcelain", "--untracked-files=no", "--", ".."])
    return f"{head}+" if head and changed else head


def versions() -> Mapping[str, str]:
    """Return the versions of Python and of the packages a figure may depend on."""
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _git(folder: Path, arguments: Sequence[str]) -> str:
    try:
        answer = subprocess.run(
            ["git", *arguments], cwd=folder, capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        return ""
    return answer.stdout.strip() if answer.returncode == 0 else ""
