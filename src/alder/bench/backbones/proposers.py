"""The proposers that are compared, and why one of them may be missing."""

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias, final

from alder.bench.backbones.codex import scripted_codex
from alder.bench.benchmark import Settings
from alder.bench.novellaw.cases import GRAMMAR
from alder.bench.novellaw.library import LIBRARY
from alder.errors import AlderError
from alder.ports import Proposer
from alder.proposers.agent import Agent
from alder.proposers.hybrid import Hybrid
from alder.proposers.llm.proposer import ModelProposer
from alder.proposers.search.proposer import Search
from alder.records.grammar import Grammar
from alder.study.parts import as_proposer
from alder.testing.models import ScriptedModel

HOSTED = "llm:openai:gpt-5.6"
"""The hosted model unless another is named: the paper's."""


@final
@dataclass(frozen=True, slots=True)
class Subject:
    """What proposers must know of the worlds: the grammar, and the built-in proposer for it.

    The scripted model says `script` in its order; the scripted agent chooses from `library`.
    """

    grammar: Grammar
    built_in: Proposer
    script: tuple[str, ...]
    library: tuple[str, ...]


NOVELLAW = Subject(
    GRAMMAR, Search(), (LIBRARY[5], LIBRARY[4], LIBRARY[1], LIBRARY[2]), tuple(LIBRARY)
)
"""NovelLaw: the script has the structures of the library that say most, the fullest first."""


# Has four structures of a library fitted, other ones each round, and submits the best that was
# not submitted before.
_AGENT = """
n=$(grep -c '"number"' attempts.json)
while [ "$n" -gt 0 ]; do first=$1; shift; set -- "$@" "$first"; n=$((n - 1)); done
for law in "$1" "$2" "$3" "$4"; do
  grep -qF "\\"law\\": \\"$law\\"" attempts.json && continue
  error=$(./try "$law" | sed -n 's/.*"nmse": \\([^,]*\\),.*/\\1/p')
  printf '%s\\t%s\\n' "${error:-1e9}" "$law"
done | sort -g | head -n 1 | cut -f 2 > proposal.json
"""


def _scripted(subject: Subject) -> Proposer:
    return ModelProposer(ScriptedModel(subject.script))


def _agent(subject: Subject) -> str:
    return f"set -- {shlex.join(subject.library)}\n{_AGENT}"


Make: TypeAlias = Callable[[Settings, Subject], str | Proposer]

BACKBONES: Mapping[str, Make] = {
    "search": lambda _, subject: subject.built_in,
    "llm:local": lambda _, __: "llm:local",
    "hosted": lambda settings, _: str(settings["model"]),
    "codex": lambda _, subject: scripted_codex(_agent(subject)),
    "scripted-agent": lambda _, subject: Agent(("sh", "-c", _agent(subject))),
    "scripted-model": lambda _, subject: _scripted(subject),
    "scripted-hybrid": lambda _, subject: Hybrid(_scripted(subject), subject.built_in),
}
"""How each proposer is made, the built-in one first.

The scripted ones say what everybody would try first, whatever the world: structures of the initial
library of NovelLaw, among which no target is, and plain laws of a joint, among which some are. They
measure the harness, and what the gate does with such laws.
"""


def proposer(method: str, settings: Settings, subject: Subject = NOVELLAW) -> Proposer:
    """Make a proposer; raise an `AlderError` where its extra, key or program is missing."""
    made = BACKBONES[method](settings, subject)
    return as_proposer(made, (), subject.grammar)[1] if isinstance(made, str) else made


def missing(method: str, settings: Settings) -> str | None:
    """Say in one sentence why a proposer cannot be measured here, where it cannot."""
    try:
        proposer(method, settings)
    except AlderError as error:
        return f"{method} is left out: {error}"
    return None
