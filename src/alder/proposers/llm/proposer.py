"""The proposer that asks a language model."""

import math
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from alder.errors import BadStudy
from alder.ports import Listen, Model, Submission
from alder.proposers.brief import VERSION, estimate_tokens, write_brief
from alder.proposers.llm.form import make_form, make_whole_form
from alder.proposers.llm.names import choose_names
from alder.records.evidence import Evidence
from alder.records.glimpse import Glimpse

_BRIEF = 6000
_REPLY = 8000  # a model that thinks before it writes needs most of them for that
_FEWEST = 256  # a reply of fewer tokens cannot hold a law
_SEEDS = 2**31  # servers read a seed as a number of 32 bits, some with a sign


@final
@dataclass(frozen=True, slots=True)
class ModelProposer:
    """Propose what a language model writes, one reply for one proposal, read or not.

    `tokens` limits the brief it is given and `reply_tokens` what it may write. With `anonymous`
    all columns are called x0, x1, ... and nothing is said about their meaning. With `whole` the
    form holds replies to laws that `reply_tokens` have room for, so that none is cut off; it needs
    a model that is held to its form.

    Example: `alder.ModelProposer(alder.testing.ScriptedModel(["p0*r + p1*v^2"]))`
    """

    model: Model
    anonymous: bool = False
    tokens: int = _BRIEF
    reply_tokens: int = _REPLY
    listen: Listen | None = None
    whole: bool = False

    @property
    def name(self) -> str:
        """The model, the version of the brief, and what of the defaults was changed."""
        words = [f"llm:{'anonymous:' if self.anonymous else ''}{self.model.name}, brief {VERSION}"]
        if (self.tokens, self.reply_tokens) != (_BRIEF, _REPLY):
            words.append(f"{self.tokens} and {self.reply_tokens} tokens")
        return ", ".join(words)

    def watched(self, listen: Listen) -> "ModelProposer":
        """Return the same proposer, which says when it waits for a reply."""
        return replace(self, listen=listen)

    def propose(self, evidence: Evidence, rng: np.random.Generator) -> Submission:
        """Write a brief of the evidence, and submit the reply as it is, in true names.

        Nothing is judged here: the loop reads it as hostile input and charges it as a proposal,
        and what is wrong with it stands in the next brief.
        """
        names = choose_names(evidence.grammar, hidden=self.anonymous)
        messages = write_brief(evidence, names, tokens=self.tokens)
        read = sum(estimate_tokens(message.text) for message in messages)
        make = make_whole_form if self.whole else make_form
        at_most, seed = self._at_most(evidence, read), int(rng.integers(_SEEDS))
        form = make(evidence.grammar, names.shown_variables, at_most, seed)
        if self.listen is not None:
            self.listen(Glimpse(f"waiting for {self.model.name}"))
        reply = self.model.reply(messages, form)
        if reply.money is None and math.isfinite(evidence.budget.money):
            raise BadStudy(
                f"The price of {self.model.name} is not known, so a budget of money cannot be "
                f"kept; set a budget of tokens instead."
            )
        return Submission(
            names.read(reply.text),
            tokens=reply.input_tokens + reply.output_tokens,
            money=reply.money or 0.0,
        )

    def _at_most(self, evidence: Evidence, read: int) -> int:
        """Return the most tokens of a reply: no more than are left, but enough for a law."""
        if evidence.budget.tokens is None or self.whole:
            return self.reply_tokens
        left = evidence.budget.tokens - evidence.spent.tokens - read
        return min(self.reply_tokens, max(left, _FEWEST))
