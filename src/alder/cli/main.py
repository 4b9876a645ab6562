"""The command `alder`: finds the command asked for, and says in one sentence what went wrong.

Only the module of the command asked for is imported, so that help and mistakes are answered at
once. A command is a module of this package with a function `command`.
"""

import re
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import Annotated

import typer
from typer.main import get_command

import alder
from alder.errors import AlderError

COMMANDS = MappingProxyType(
    {
        "demo": "Watch two laws fit the same rows, and one experiment tell them apart.",
        "discover": "Run a whole study: propose, verify, experiment, until a law is admitted.",
        "ask": "Say which experiments a person should run next.",
        "tell": "Take what experiments of a person showed.",
        "fit": "Fit the coefficients of a law to rows.",
        "predict": "Say what a saved law predicts.",
        "check": "Say whether a saved law still holds on new rows.",
        "plan": "Choose the action that brings a law's target where you want it.",
        "export": "Write a saved law as LaTeX, SymPy, Python, C or JAX.",
        "show": "Show the rounds of a study and how it ended.",
        "report": "Write one page about a study.",
        "audit": "Say whether a ledger keeps its promises.",
        "bench": "Measure Alder on a benchmark.",
        "doctor": "Say what is ready on this computer and what is missing.",
    }
)
"""Every command and the line that `alder --help` shows for it."""

MISUSE = 2
INTERRUPTED = 130

# A law may begin with a minus sign; a space in front keeps it from being read as an option.
_NEGATIVE_LAW = re.compile(r"-[^-].*[-+*/^( ]")

_WIDTH = {"max_content_width": 100}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status: 0 done, 2 misuse, 3 refused, 130 stopped."""
    words = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    words = [f" {word}" if _NEGATIVE_LAW.match(word) else word for word in words]
    wanted = next((word for word in words if not word.startswith("-")), None)
    application = get_command(_application(wanted))
    try:
        status = application.main(args=words, prog_name="alder", standalone_mode=False)
    except typer.TyperException as misuse:
        known = f"alder {wanted}" if wanted in COMMANDS else "alder"
        return _report(f"{misuse.format_message()}\nSee {known} --help.")
    except AlderError as misuse:
        return _report(str(misuse))
    except (FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError) as refusal:
        if refusal.filename is None:
            raise
        return _report(_about_file(refusal))
    if status == INTERRUPTED:
        print("stopped", file=sys.stderr)
    return status if isinstance(status, int) else 0


def _application(wanted: str | None) -> typer.Typer:
    """Register every command; all but the wanted one are known by name only."""
    application = typer.Typer(
        add_completion=False, rich_markup_mode=None, context_settings=dict(_WIDTH)
    )
    application.callback()(_alder)
    for name, summary in COMMANDS.items():
        command = load(name) if name == wanted else _placeholder
        application.command(name, short_help=summary, context_settings=dict(_WIDTH))(command)
    return application


def load(name: str) -> Callable[..., object]:
    """Import the function behind a command."""
    return import_module(f"alder.cli.{name}").command


def _show_version(asked: bool) -> None:
    if asked:
        print(f"alder {alder.__version__}")
        raise typer.Exit


def _alder(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Example: alder demo

    Alder discovers laws: it proposes equations, fits them, asks for the experiments that tell them
    apart, and has them verified. Every command has a help of its own: alder discover --help.
    """


def _placeholder() -> None:
    """Stand for a command that was not asked for."""


def _about_file(refusal: OSError) -> str:
    match refusal:
        case FileNotFoundError():
            return f"{refusal.filename} does not exist.\nCheck the spelling and the folder."
        case IsADirectoryError():
            return f"{refusal.filename} is a folder; a file was expected."
        case NotADirectoryError():
            return f"{refusal.filename} lies below something that is not a folder."
        case _:
            return f"{refusal.filename} may not be read or written.\nCheck its permissions."


def _report(message: str) -> int:
    """Print `error` and the message, its further lines indented; return the status of misuse."""
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True, highlight=False, soft_wrap=True)
    indented = message.replace("\n", "\n      ")
    console.print(Text.assemble(("error", "bold red"), " ", indented))
    return MISUSE
