"""The proposers that are compared, and why one of them may be missing."""

import shlex
from collections.abc import Callable, Mapping

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
from alder.study.parts import as_proposer
from alder.testing.models import ScriptedModel

HOSTED = "llm:openai:gpt-5.6"
"""The hosted model unless another is named: the paper's."""

# The structures of the initial library that say most, the fullest first.
_SCRIPT = (LIBRARY[5], LIBRARY[4], LIBRARY[1], LIBRARY[2])

# Has four structures of the library fitted, other ones each round, and submits the best that was
# not submitted before.
_AGENT = f"""
set -- {shlex.join(LIBRARY)}
n=$(grep -c '"number"' attempts.json)
while [ "$n" -gt 0 ]; do first=$1; shift; set -- "$@" "$first"; n=$((n - 1)); done
for law in "$1" "$2" "$3" "$4"; do
  grep -qF "\\"law\\": \\"$law\\"" attempts.json && continue
  error=$(./try "$law" | sed -n 's/.*"nmse": \\([^,]*\\),.*/\\1/p')
  printf '%s\\t%s\\n' "${{error:-1e9}}" "$law"
done | sort -g | head -n 1 | cut -f 2 > proposal.json
"""


def _scripted(settings: Settings) -> Proposer:
    del settings
    return ModelProposer(ScriptedModel(_SCRIPT))


def _hybrid(settings: Settings) -> Proposer:
    return Hybrid(_scripted(settings), Search())


def _scripted_agent(settings: Settings) -> Proposer:
    del settings
    return Agent(("sh", "-c", _AGENT))


BACKBONES: Mapping[str, Callable[[Settings], str | Proposer]] = {
    "search": lambda _: "search",
    "llm:local": lambda _: "llm:local",
    "hosted": lambda settings: str(settings["model"]),
    "codex": lambda _: scripted_codex(_AGENT),
    "scripted-agent": _scripted_agent,
    "scripted-model": _scripted,
    "scripted-hybrid": _hybrid,
}
"""How each proposer is made, the built-in one first.

The scripted ones say what everybody would try first, whatever the world: structures of the initial
library of NovelLaw, among which no target is. They measure the harness, and what the gate does with
such laws.
"""


def proposer(method: str, settings: Settings) -> Proposer:
    """Make a proposer; raise an `AlderError` where its extra, key or program is missing."""
    made = BACKBONES[method](settings)
    return as_proposer(made, (), GRAMMAR)[1] if isinstance(made, str) else made


def missing(method: str, settings: Settings) -> str | None:
    """Say in one sentence why a proposer cannot be measured here, where it cannot."""
    try:
        proposer(method, settings)
    except AlderError as error:
        return f"{method} is left out: {error}"
    return None
