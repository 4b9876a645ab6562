"""Misuse, said in one sentence: what was wrong, what was expected, what to do.

A refused law or a fit that fails is a result, not an exception. The command line prints the
message of an `AlderError` and leaves with exit status 2.
"""


class AlderError(Exception):
    """Something was asked of Alder that it cannot do; the message says what to do instead."""


class MalformedLaw(AlderError):
    """A text, a JSON tree or a node is not a law."""


class UnknownVariable(AlderError):
    """A law or a call names a variable that is not there."""


class BadUnit(AlderError):
    """A unit string cannot be read, or two units cannot be reconciled."""


class BadTable(AlderError):
    """Rows cannot be read, or miss a column, or hold what no fit can use."""


class BadGrammar(AlderError):
    """A grammar contradicts itself."""


class BadParameter(AlderError):
    """A bound or a fixed value is impossible, or names no parameter of the law."""


class BadLawFile(AlderError):
    """A saved law cannot be read."""


class BadStudy(AlderError):
    """A study, its file, its budget or its settings contradict themselves."""


class BadLedger(AlderError):
    """A ledger cannot be read, was changed, or belongs to another study."""


class BadWorld(AlderError):
    """A world offers experiments that make no sense, or an experiment is unknown to it."""


class MissingExtra(AlderError):
    """An optional dependency is not installed; the message names the extra that brings it."""


class ModelFailed(AlderError):
    """A language model gave no reply; `retry` says that asking again may help, `after` when."""

    def __init__(self, message: str, *, retry: bool = False, after: float = 0.0) -> None:
        """Say what happened; `after` is in seconds."""
        super().__init__(message)
        self.retry = retry
        self.after = after


class VerifierFailed(AlderError):
    """The process that holds protected rows stopped, hung, or answered what it must not."""


class SandboxFailed(AlderError):
    """A command cannot be confined on this computer, or its sandbox could not be made."""
