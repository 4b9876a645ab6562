"""Language models for tests: one that follows a script, one that repeats what was recorded."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import cast, final

from alder.errors import BadStudy, ModelFailed
from alder.ports import Form, Message, Model, Reply


@final
@dataclass(slots=True, eq=False)
class ScriptedModel:
    """A model that gives the replies of a list, one after the other, and keeps what it was asked.

    A reply is a text, for which the model reads and writes no tokens, a `Reply`, or an error to
    raise. A study that resumes begins the script anew: give it the replies that are left.

    >>> model = ScriptedModel(["p0*r"])
    >>> model.reply([Message("user", "{}")], Form({}, "", 100)).text
    'p0*r'
    """

    replies: Sequence[str | Reply | ModelFailed]
    name: str = "scripted"
    asked: list[tuple[Message, ...]] = field(default_factory=list[tuple[Message, ...]])
    forms: list[Form] = field(default_factory=list[Form])

    def reply(self, messages: Sequence[Message], form: Form) -> Reply:
        """Return the next reply; raise `ModelFailed` where the script has ended."""
        self.asked.append(tuple(messages))
        self.forms.append(form)
        if len(self.asked) > len(self.replies):
            raise ModelFailed(
                f"The script has {len(self.replies)} replies, and one more was asked for."
            )
        answer = self.replies[len(self.asked) - 1]
        if isinstance(answer, ModelFailed):
            raise answer
        return Reply(answer) if isinstance(answer, str) else answer


@final
@dataclass(frozen=True, slots=True, eq=False)
class RecordedModel:
    """A model that repeats the replies in a file, each to the very messages it was given to.

    With `model`, what is not in the file yet is asked of that model and added, so that a set-up is
    recorded once with a key and tested for ever without. Without, it is an error: nothing is ever
    asked that nobody planned. The file has one JSON object a line, and holds no key.
    """

    path: str | Path
    model: Model | None = None
    name: str = "recorded"

    def reply(self, messages: Sequence[Message], form: Form) -> Reply:
        """Return the reply that was recorded for these messages and this form."""
        digest = _digest(messages, form)
        known = self._read()
        if digest in known:
            return known[digest]
        if self.model is None:
            raise ModelFailed(
                f"{Path(self.path).name} holds no reply to this brief ({digest[:12]}); record it "
                f"again with model=..., since the brief or the study has changed."
            )
        reply = self.model.reply(messages, form)
        line = {
            "digest": digest,
            "model": self.model.name,
            "text": reply.text,
            "input_tokens": reply.input_tokens,
            "output_tokens": reply.output_tokens,
            "money": reply.money,
        }
        with Path(self.path).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        return reply

    def _read(self) -> dict[str, Reply]:
        path = Path(self.path)
        if not path.exists():
            return {}
        lines = path.read_text(encoding="utf-8").splitlines()
        return dict(_line(line, n, path) for n, line in enumerate(lines, 1) if line.strip())


def _line(line: str, number: int, path: Path) -> tuple[str, Reply]:
    try:
        value: object = json.loads(line)
    except ValueError:
        value = None
    nothing: Mapping[str, object] = {}
    fields = cast("Mapping[str, object]", value) if isinstance(value, dict) else nothing
    digest, text, money = (fields.get(name) for name in ("digest", "text", "money"))
    if not (isinstance(digest, str) and isinstance(text, str)):
        raise BadStudy(f"Line {number} of {path.name} is no recorded reply.")
    counts = [fields.get(name) for name in ("input_tokens", "output_tokens")]
    read, written = (count if isinstance(count, int) else 0 for count in counts)
    price = float(money) if isinstance(money, int | float) else None
    return digest, Reply(text, read, written, price)


def _digest(messages: Sequence[Message], form: Form) -> str:
    asked = {
        "messages": [[one.role, one.text] for one in messages],
        "schema": form.schema,
        "at_most": form.at_most,
    }
    return sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()
