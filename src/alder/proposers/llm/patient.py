"""Asking again where a connection failed; never where a reply came, which counts as a proposal."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

from alder.errors import ModelFailed
from alder.ports import Form, Message, Model, Reply

LONGEST = 60.0
"""No wait is longer than this many seconds, whatever a server asks for."""


@final
@dataclass(frozen=True, slots=True)
class Patient:
    """A model that is asked up to `tries` times, after 1, 2, 4, ... seconds or what it asks for."""

    model: Model
    tries: int = 5
    sleep: Callable[[float], None] = time.sleep

    @property
    def name(self) -> str:
        """The name of the model that is asked."""
        return self.model.name

    def reply(self, messages: Sequence[Message], form: Form) -> Reply:
        """Return the first reply; raise the last `ModelFailed` where none came."""
        for n in range(self.tries - 1):
            try:
                return self.model.reply(messages, form)
            except ModelFailed as failure:
                if not failure.retry:
                    raise
                self.sleep(min(max(2.0**n, failure.after), LONGEST))
        return self.model.reply(messages, form)
