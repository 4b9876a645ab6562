"""The shape of the source: sizes, cycles, public names and documented commands."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import grimp
import pytest

import alder
from alder.cli.main import COMMANDS

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "alder"
MODULES = sorted(SOURCE.rglob("*.py"))

MAX_LINES = 500
MAX_FUNCTION_LINES = 60
MAX_PARAMETERS = 6

# Folders whose files and functions may be longer or take more, each with its reason.
LONG = {
    "kernel": "one interpreter loop: a call per operator would cost more than the operator",
}
MANY_PARAMETERS = {
    "kernel": "compiled functions take flat arrays, not records",
    "cli": "a command is a user's whole request in one call",
}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def _functions(module: Path) -> Iterator[Function]:
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, Function):
            yield node


def _name(module: Path) -> str:
    return module.relative_to(SOURCE).as_posix()


def _is_exempt(module: Path, exemptions: dict[str, str]) -> bool:
    return module.relative_to(SOURCE).parts[0] in exemptions


def _n_lines(module: Path, function: Function) -> int:
    """Count the lines of a function; the options of a command, in its signature, do not count."""
    is_command = module.parent.name == "cli" and function.name == "command"
    first = function.body[0].lineno if is_command else function.lineno
    return (function.end_lineno or first) - first + 1


def _gives_a_reason(module: Path, function: Function) -> bool:
    """A single function is exempt where its first line says why: `noqa: PLR0913 (the reason)`."""
    return "noqa: PLR0913 (" in module.read_text("utf-8").splitlines()[function.lineno - 1]


def _n_parameters(function: Function) -> int:
    arguments = function.args
    names = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    return len([name for name in names if name not in ("self", "cls")])


def test_no_module_is_over_500_lines() -> None:
    lines = {
        _name(module): len(module.read_text("utf-8").splitlines())
        for module in MODULES
        if not _is_exempt(module, LONG)
    }
    assert {name: n for name, n in lines.items() if n > MAX_LINES} == {}


def test_no_function_is_over_60_lines() -> None:
    long = [
        f"{_name(module)}:{function.lineno} {function.name}"
        for module in MODULES
        if not _is_exempt(module, LONG)
        for function in _functions(module)
        if _n_lines(module, function) > MAX_FUNCTION_LINES
    ]
    assert long == []


def test_no_parameter_list_is_over_six() -> None:
    long = [
        f"{_name(module)}:{function.lineno} {function.name}"
        for module in MODULES
        if not _is_exempt(module, MANY_PARAMETERS)
        for function in _functions(module)
        if _n_parameters(function) > MAX_PARAMETERS and not _gives_a_reason(module, function)
    ]
    assert long == []


def test_no_modules_import_each_other_in_a_cycle() -> None:
    graph = grimp.build_graph("alder", exclude_type_checking_imports=True, cache_dir=None)
    in_cycles = {
        module
        for module in graph.modules
        for imported in graph.find_modules_directly_imported_by(module)
        if module in graph.find_upstream_modules(imported)
    }
    assert in_cycles == set()


def test_every_public_name_is_documented_and_nothing_else_is() -> None:
    page = (ROOT / "docs" / "reference" / "api.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^::: alder\.(\w+)$", page, re.MULTILINE)) == sorted(alder.__all__)


@pytest.mark.parametrize("name", alder.__all__)
def test_every_public_name_loads(name: str) -> None:
    assert getattr(alder, name).__name__ == name


def test_an_unknown_public_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        getattr(alder, "no_such_name")  # noqa: B009 (the type checker knows that it does not exist)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_documented(name: str) -> None:
    page = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    assert f"## alder {name}\n" in page


@pytest.mark.parametrize(
    "statement",
    ["import alder", "import alder.cli.main", "import alder.records.law, alder.expr.text"],
)
def test_what_is_always_imported_imports_nothing_heavy(statement: str) -> None:
    heavy = ("numba", "pint", "sympy", "scipy", "pandas", "polars", "jax")
    program = f"import sys; {statement}; print([m for m in {heavy} if m in sys.modules])"
    ran = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT / "src",
    )
    assert ran.stdout.strip() == "[]"


def test_alder_itself_does_not_import_numpy() -> None:
    program = "import sys, alder; print('numpy' in sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT / "src",
    )
    assert ran.stdout.strip() == "False"
