"""A coding agent as Law Revision Agent: any command that reads a folder and writes a proposal.

    agent:"model=openai codex exec -"
    agent:"seconds=600 model=anthropic reads=/opt/claude claude -p"
    agent:"file=mine.py python3 mine.py"

Words of the form `name=value` before the command are settings of its sandbox. The instructions of
the round are on its standard input, and in INSTRUCTIONS.md of the folder in which it starts.
"""

import math
import os
import shlex
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, final

import numpy as np

from alder.errors import BadStudy
from alder.ports import Submission
from alder.proposers.broker.endpoint import (
    BEGIN,
    ENVIRONMENT,
    Brokered,
    Endpoint,
    brokered,
    endpoint_from_text,
    require_socat,
)
from alder.proposers.casefolder import INSTRUCTIONS, Case, case_folder, require_copyable
from alder.proposers.jail import View, require_bubblewrap, require_narrow
from alder.proposers.launch import Allowance, sandbox_owner
from alder.proposers.proposalfile import read_proposal_file
from alder.proposers.sandbox import Ended, run_confined
from alder.proposers.tryout import TryDesk
from alder.records.evidence import Evidence
from alder.spelling import printable, suggestion

PREFIX: Final = "agent:"

_SETTINGS: Final = ("seconds", "memory_mb", "processes", "reads", "socket", "model", "file")
_SYSTEM_PATH: Final = ("/usr/local/bin", "/usr/bin", "/bin")
_LEAST_S: Final = 1.0
# Settings that are numbers, and the least of each: half a process would be none.
_LEAST: Final = {"seconds": 0.0, "memory_mb": 0.0, "processes": 1.0}
_MOST: Final = 1e9
_SHOWN: Final = 200
_LIMITS: Final = {
    "time": "it took more than {seconds:g} s",
    "memory": "it used more than {memory} bytes of memory",
    "cpu": "it used more than {cpu_seconds:g} s of processor time",
    "disk": "it wrote more than {folder_bytes} bytes or {n_entries} files",
    "output": "it printed more than {output_bytes} bytes",
}


@final
@dataclass(frozen=True, slots=True)
class Agent:
    """Runs a command in a sandbox once a round, and submits what it wrote.

    `reads` are folders it may see besides the system, such as that of its own program; `files` are
    copied into its case. Its only way out is a model: `model` is asked through a broker of ours,
    which holds the key and counts tokens; or `socket` is the unix socket of your own broker,
    /run/model.sock inside. Every round is charged as one proposal, whatever the command did.
    """

    command: tuple[str, ...]
    allowance: Allowance = field(default_factory=Allowance)
    reads: tuple[Path, ...] = ()
    files: tuple[Path, ...] = ()
    socket: Path | None = None
    model: Endpoint | None = None

    def __post_init__(self) -> None:
        """Refuse what could not be run, before a study begins."""
        require_bubblewrap()
        if not self.command:
            raise BadStudy('An agent needs a command, such as agent:"model=openai codex exec -".')
        require_narrow(self.reads, [Path.cwd()])
        if self.socket is not None and not _is_socket(self.socket):
            raise BadStudy(
                f"socket={self.socket} is no unix socket; start the model's broker first."
            )
        if self.model is not None:
            if self.socket is not None:
                raise BadStudy("model= and socket= both name a model; give one of them.")
            require_socat()
            self.model.key()
        require_copyable(self.files)
        _require_program(self.command[0], self.reads, self.files)

    @property
    def name(self) -> str:
        """The model and the command, under which a configuration knows it."""
        model = () if self.model is None else (f"model={self.model.name}",)
        return f"{PREFIX}{shlex.join((*model, *self.command))}"

    def propose(self, evidence: Evidence, rng: np.random.Generator) -> Submission | None:
        """Run the command on what is public, and return what it wrote, or why it is not read."""
        if self.model is not None and math.isfinite(evidence.budget.money):
            raise BadStudy(
                "The price of what an agent asks is not known, so a budget of money cannot be "
                "kept; set a budget of tokens instead."
            )
        with (
            case_folder(evidence, self.files, sandbox_owner()) as case,
            TryDesk(evidence, case.desk) as desk,
        ):
            with self._endpoint(evidence, case) as endpoint:
                view = View(
                    case.folder, sealed=(".git",), reads=self.reads, hidden=_private(),
                    endpoint=None if endpoint is None else endpoint.socket, desk=case.desk,
                    environment={"PATH": ":".join(_search_path(self.reads)), **self._told()},
                )  # fmt: skip
                limits = self._limits(evidence, case.folder)
                words = INSTRUCTIONS.encode()
                ended = run_confined(self._begun(), view, limits, words=words, desk=desk)
            found = read_proposal_file(case.folder)
        rivals, tokens = tuple(desk.tried), 0 if endpoint is None else endpoint.tokens
        if isinstance(found, bytes):
            return Submission(found, rivals=rivals, fits=desk.n_tries, tokens=tokens)
        problem = replace(found, message=f"{found.message} {_how_it_ended(ended, limits)}")
        return Submission(
            _last_words(ended), rivals=rivals, fits=desk.n_tries, tokens=tokens, problems=(problem,)
        )

    @contextmanager
    def _endpoint(self, evidence: Evidence, case: Case) -> Generator[Brokered | None]:
        """Give the way to the model, if there is one; a broker of ours lives for one round."""
        if self.model is None:
            yield None if self.socket is None else Brokered(self.socket)
            return
        (case.desk / "begin").write_text(BEGIN, encoding="utf-8")
        (case.desk / "begin").chmod(0o755)
        most, spent = evidence.budget.tokens, evidence.spent.tokens
        left = None if most is None else max(most - spent, 0)
        with brokered(self.model, case.folder.parent, sandbox_owner(), left) as running:
            yield running

    def _begun(self) -> tuple[str, ...]:
        return self.command if self.model is None else ("sh", "/run/desk/begin", *self.command)

    def _told(self) -> dict[str, str]:
        return {} if self.model is None else dict(ENVIRONMENT)

    def _limits(self, evidence: Evidence, case: Path) -> Allowance:
        """Leave the command no more time than the study has, and room for what it was given."""
        given = sum(path.lstat().st_size for path in case.rglob("*"))
        left = evidence.budget.seconds - evidence.spent.seconds
        return replace(
            self.allowance,
            seconds=min(self.allowance.seconds, max(_LEAST_S, left)),
            folder_bytes=self.allowance.folder_bytes + 2 * given,
        )


def agent_from_text(text: str) -> Agent:
    """Read `agent:"settings command ..."`; raise `BadStudy` with what to write instead."""
    try:
        words = shlex.split(text.removeprefix(PREFIX))
    except ValueError as error:
        raise BadStudy(f"`{printable(text)}` cannot be split into words: {error}.") from None
    settings: list[tuple[str, str]] = []
    while words and "=" in words[0] and "/" not in words[0].partition("=")[0]:
        name, _, value = words.pop(0).partition("=")
        if name not in _SETTINGS:
            raise BadStudy(
                f"`{printable(name)}` is no setting of an agent; {', '.join(_SETTINGS)} are, "
                f"before its command.{suggestion(name, _SETTINGS)}"
            )
        settings.append((name, value))
    paths = {
        name: tuple(Path(value).expanduser() for key, value in settings if key == name)
        for name in ("reads", "socket", "file")
    }
    model = dict(settings).get("model")
    return Agent(
        tuple(words),
        _allowance(dict(settings)),
        reads=paths["reads"],
        files=tuple(path.absolute() for path in paths["file"]),
        socket=next(iter(paths["socket"]), None),
        model=None if model is None else endpoint_from_text(model),
    )


def _allowance(settings: dict[str, str]) -> Allowance:
    numbers: dict[str, float] = {}
    for name, least in _LEAST.items():
        if name in settings:
            try:
                numbers[name] = float(settings[name])
            except ValueError:
                numbers[name] = float("nan")
            if not (0.0 < numbers[name] < _MOST and numbers[name] >= least):
                raise BadStudy(
                    f"{name}={printable(settings[name])}: a number "
                    f"{f'from {least:g}' if least else 'above 0'} to {_MOST:g} was expected."
                )
    usual = Allowance()
    return replace(
        usual,
        seconds=numbers.get("seconds", usual.seconds),
        cpu_seconds=max(usual.cpu_seconds, numbers.get("seconds", 0.0)),
        memory=int(numbers.get("memory_mb", usual.memory / 2**20) * 2**20),
        processes=int(numbers.get("processes", usual.processes)),
    )


def _require_program(program: str, reads: tuple[Path, ...], files: tuple[Path, ...]) -> None:
    """Refuse a program that the sandbox does not show: it would cost a proposal each round."""
    if "/" in program and not program.startswith("/"):
        there = Path(program).name in [file.name for file in files]
    elif program.startswith("/"):
        shown = (Path("/usr"), Path("/bin"), *reads)
        inside = any(Path(program).is_relative_to(one) for one in shown)
        there = inside and os.access(program, os.X_OK)
    else:
        there = any(os.access(Path(one, program), os.X_OK) for one in _search_path(reads))
    if not there:
        raise BadStudy(
            f"The sandbox shows no program `{printable(program)}`: it has what is in /usr. Add "
            "reads=FOLDER before the command for another folder, or file=SCRIPT to copy one file."
        )


def _is_socket(path: Path) -> bool:
    """Say whether a socket is there; one that we may not look at is as good as none."""
    return os.access(path, os.F_OK) and path.is_socket()


def _search_path(reads: tuple[Path, ...]) -> list[str]:
    own = [str(path) for folder in reads for path in (folder, folder / "bin")]
    return [*own, *_SYSTEM_PATH]


def _private() -> tuple[Path, ...]:
    """Return what stays hidden even where it lies in a folder that is shown, such as /usr.

    The folder of the study has its rows, and Alder's benchmarks hold true laws.
    """
    import alder

    return Path(str(alder.__file__)).parent, Path.cwd()


def _how_it_ended(ended: Ended, limits: Allowance) -> str:
    if ended.how == "exited":
        return f"The command ended with status {ended.status}."
    names = Allowance.__dataclass_fields__
    values = {name: getattr(limits, name) for name in names}
    return f"The command was ended: {_LIMITS[ended.how].format(**values)}."


def _last_words(ended: Ended) -> str:
    """Return what the command printed last, for people who read the ledger; no agent sees it."""
    lines = (ended.errors or ended.output).decode("utf-8", "replace").strip().splitlines()
    return printable(lines[-1], _SHOWN) if lines else ""
