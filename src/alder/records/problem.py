"""What is wrong with a proposal: a result, kept in the ledger and read by the proposer."""

from dataclasses import dataclass
from typing import Literal, TypeAlias, final

ProblemCode: TypeAlias = Literal[
    "no-proposal",
    "not-json",
    "too-long",
    "duplicate-key",
    "bad-shape",
    "unknown-operator",
    "operator-not-in-grammar",
    "unknown-variable",
    "wrong-arity",
    "bad-exponent",
    "bad-number",
    "bad-bound",
    "unknown-parameter",
    "too-large",
    "too-deep",
    "wrong-unit",
    "bad-composition",
    "not-executable",
]


@final
@dataclass(frozen=True, slots=True)
class Problem:
    """A stable code, a JSON pointer to the place, and a sentence."""

    code: ProblemCode
    pointer: str
    message: str

    def __str__(self) -> str:
        """Say it in one line."""
        return f"{self.code} at {self.pointer or '/'}: {self.message}"
