"""A study while it runs: what is kept of each round, and one last line that moves."""

import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, final

from alder.cli.layout import ascii_numbers, number, shortened

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from alder.ledger.events import Replayed
    from alder.records.evidence import Choice
    from alder.records.glimpse import Glimpse
    from alder.report.measure import Yardstick
    from alder.report.story import Answer

_BAR = 28
_INDENT = " " * 9
# A table of rivals longer than this hides what matters; the report has them all.
_MOST_RIVALS = 6
# What stands in a line of that table beside the law and the three numbers.
_BESIDE = len(_INDENT) + len("  A   said    saw     σ  × refuted")
_SHORTEST_LAW = 12
# A search that takes longer than this says how far it is, in seconds.
_PATIENCE = 2.0

_DOING = {
    "proposal": "fitting",
    "problems": "proposing",
    "fit": "verifying",
    "verdict": "refitting the rivals",
    "candidates": "choosing experiments",
    "choice": "running experiments",
    "outcome": "proposing",
    "failed": "proposing",
}


@final
class Progress:
    """Prints the rounds of a study as its events come; call it with each of them.

    On a terminal a line below shows what is being done, and while a search takes long the best law
    it has so far; elsewhere only what is kept is printed. Misses are in the noise of the best law
    at the time, unless a yardstick is given. `clock` counts seconds.
    """

    def __init__(
        self,
        console: "Console",
        *,
        keeps: str,
        unit: "Yardstick | None" = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin with nothing seen; `keeps` is the name of the ledger, or empty."""
        from rich.live import Live

        self._console = console
        self._keeps = keeps
        self._unit = unit
        self._doing = "proposing"
        self._n_before = 0
        self._state: Replayed | None = None
        self._clock = clock
        self._since = 0.0
        self._glimpse: Glimpse | None = None
        self._live = Live(
            get_renderable=self._moving, console=console, transient=True, refresh_per_second=4
        )
        self.seen = False

    def __enter__(self) -> "Progress":
        """Show the moving line."""
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Remove the moving line."""
        self._live.stop()

    def __call__(self, kind: str, state: "Replayed") -> None:
        """Take note of one event."""
        if not self.seen and kind != "configuration":
            self._resume(kind, state)
        self.seen = True
        self._state = state
        self._glimpse = None
        self._doing = _DOING["choice"] if state.pending else _DOING.get(kind, self._doing)
        match kind:
            case "initial" if state.n_dropped:
                n = count(state.n_dropped, "row")
                self._console.print(f"{n} left out: a value is missing.")
            case "verdict" | "problems":
                show_verdict(self._console, state)
            case "candidates":
                self._n_before = len(state.choices)
            case "outcome" | "failed" if not state.pending:
                asked = state.choices[self._n_before :]
                show_answers(self._console, state, asked, self._unit)
            case _:
                pass

    def glimpse(self, seen: "Glimpse") -> None:
        """Take note of how far the proposer is, for the moving line."""
        if self._glimpse is None:
            self._since = self._clock()
        self._glimpse = seen

    def _resume(self, kind: str, state: "Replayed") -> None:
        """Say how far a study was when it was left: before its first new event."""
        n_answers = kind in ("outcome", "failed")
        self._n_before = len(state.choices) - len(state.pending) - n_answers
        proposals = count(len(state.attempts) - (kind == "proposal"), "proposal")
        experiments = count(self._n_before, "experiment")
        name = self._keeps or "The study"
        self._console.print(f"{name} goes on: {proposals} and {experiments} so far")

    def _moving(self) -> "Text":
        from rich.text import Text

        state = self._state
        if state is None or state.budget is None:
            return Text("  reading the rows", style="dim")
        spent, budget = state.spent, state.budget
        share = spent.queries / budget.queries if budget.queries else 0.0
        if not budget.queries or len(state.choices) == 0:
            share = spent.proposals / budget.proposals
        full = min(round(_BAR * share), _BAR)
        line = Text.assemble("  ", ("━" * full, "green"), ("━" * (_BAR - full), "dim"))
        line.append(
            f"  experiments {spent.queries}/{budget.queries}   proposals {spent.proposals}/"
            f"{budget.proposals}   {self._doing}"
        )
        found = self._searching()
        if found:
            line.append(f"\n  {shortened(found, self._console.width - 2)}")
        keeps = f"{self._keeps} keeps everything so far" if self._keeps else "nothing is kept"
        line.append(f"\n  Ctrl-C stops; {keeps}", style="dim")
        line.no_wrap, line.overflow = True, "ellipsis"
        return line

    def _searching(self) -> str:
        """Say what a search that takes long is at, what it has fitted, and its best law so far."""
        seen, state = self._glimpse, self._state
        seconds = self._clock() - self._since
        if seen is None or state is None or state.configuration is None or seconds < _PATIENCE:
            return ""
        words = f"{seen.stage}   {count(seen.fits, 'fit')}   {seconds:.0f} s"
        if seen.best is None:
            return words
        from alder.expr.text import to_display

        target = state.configuration.grammar.target.name
        return f"{words}   best: {target} = {to_display(seen.best, seen.values, 3)}"


def show_verdict(console: "Console", state: "Replayed") -> None:
    """Print which law was submitted and what the verifier answered."""
    from alder.expr.text import to_text
    from alder.report.words import held_out

    attempt = state.attempts[-1]
    evidence = state.evidence
    assert evidence is not None, "a verdict has rows before it"
    n_rows = evidence.initial.n_rows + sum(t.n_rows for t in state.trajectories)
    round_ = f"Round {len(state.attempts)}"
    if attempt.proposal is None or attempt.problems:
        console.print(f"\n{round_:<9}{n_rows} rows   a proposal that is no law of this grammar")
        words = attempt.problems[0].message if attempt.problems else "It could not be read."
        console.print(f"{_INDENT}{words}")
        return
    law = to_text(attempt.proposal.structure, evidence.grammar.variable_names)
    console.print(f"\n{round_:<9}{n_rows} rows   submitted {law}")
    error = held_out(attempt, evidence)
    if error:
        console.print(f"{_INDENT}{ascii_numbers(error)}")
    if attempt.category == "accept":
        console.print(f"{_INDENT}✓ admitted by the verifier", style="green")
    else:
        console.print(f"{_INDENT}rejected by the verifier: {attempt.category}")


def count(n: int, thing: str) -> str:
    """Write a number of things.

    >>> count(1, "proposal"), count(2, "proposal")
    ('1 proposal', '2 proposals')
    """
    return f"{n} {thing}{'' if n == 1 else 's'}"


def show_answers(
    console: "Console",
    state: "Replayed",
    asked: "Sequence[Choice]",
    unit: "Yardstick | None" = None,
) -> None:
    """Print the experiment that told most about the rivals, and what each had said of it.

    Misses are in the noise of the best candidate, unless another yardstick is given.
    """
    from alder.report.measure import REFUTED, yardstick
    from alder.report.story import answer_of, telling

    failed = {failure.experiment: failure.reason for failure in state.failures}
    reasons = [failed[one.experiment.id] for one in asked if one.experiment.id in failed]
    few = f"; {len(reasons)} gave no rows: {reasons[0]}" if reasons else ""
    head = f"asked {count(len(asked), 'experiment')}{few}"
    if unit is None and state.candidates and state.evidence is not None:
        unit = yardstick(state.candidates[0].law, state.evidence)
    rows = {trajectory.experiment: trajectory for trajectory in state.trajectories}
    answers = [
        answer_of(0, choice, rows[choice.experiment.id], state.candidates, unit)
        for choice in asked
        if choice.experiment.id in rows and unit is not None
    ]
    answer = telling(answers, REFUTED) if state.candidates else None
    if answer is None:
        console.print(f"{_INDENT}{head}")
        return
    settings = ", ".join(
        f"{name} = {number(value)}" if isinstance(value, float) else f"{name} = {value}"
        for name, value in answer.choice.experiment.settings.items()
    )
    console.print(f"{_INDENT}{head}; the telling one: {settings}")
    _show_said(console, answer, state)


def _show_said(console: "Console", answer: "Answer", state: "Replayed") -> None:
    """Print one line for each rival; laws are cut where they do not fit, numbers never."""
    from rich.text import Text

    from alder.expr.text import to_text
    from alder.report.measure import REFUTED
    from alder.report.numbers import sigmas

    shown = answer.said[:_MOST_RIVALS]
    laws = [
        to_text(c.law.structure, [variable.name for variable in c.law.variables])
        for c in state.candidates[:_MOST_RIVALS]
    ]
    said, saw = [number(one.said) for one in shown], number(answer.saw)
    missed = [sigmas(one.sigmas).replace("∞", "inf") for one in shown]
    wide = [max(map(len, said)), len(saw), max(map(len, missed))]
    room = max(console.width - sum(wide) - _BESIDE, _SHORTEST_LAW)
    width = min(max(map(len, laws)), room)
    for i, one in enumerate(shown):
        law = laws[i] if len(laws[i]) <= width else laws[i][: width - 1] + "…"
        refuted = one.sigmas >= REFUTED
        line = Text(
            f"{_INDENT}  {one.label:<2}{law:<{width}}  said {said[i]:>{wide[0]}}   "
            f"saw {saw}   {missed[i]:>{wide[2]}} σ  "
        )
        line.append("× refuted" if refuted else "stands", style="dim" if refuted else "green")
        console.print(line)
    if len(answer.said) > len(shown):
        console.print(f"{_INDENT}  and {len(answer.said) - len(shown)} more")
