"""The problems found so far, and when to stop looking."""

from dataclasses import dataclass, field

from alder.records.problem import Problem, ProblemCode

MAX_PROBLEMS = 20
"""How many problems one check reports."""


@dataclass(slots=True)
class Findings:
    """Problems in the order they were found, at most `MAX_PROBLEMS` of them."""

    problems: list[Problem] = field(default_factory=list[Problem])

    @property
    def full(self) -> bool:
        """Whether there is no point in looking on."""
        return len(self.problems) >= MAX_PROBLEMS

    def add(self, code: ProblemCode, pointer: str, message: str) -> None:
        """Note a problem, unless there are enough."""
        if not self.full:
            self.problems.append(Problem(code, pointer, message))

    def has(self, *codes: ProblemCode) -> bool:
        """Say whether a problem of one of these codes was found."""
        return any(problem.code in codes for problem in self.problems)
