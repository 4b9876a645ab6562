"""A study while it runs: what is kept of each round, and one last line that moves."""

from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, final

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from alder.ledger.events import Replayed
    from alder.records.experiment import Experiment

_BAR = 28
_INDENT = " " * 9
# A table of rivals longer than this hides what matters; the report has them all.
_MOST_RIVALS = 6
# What stands in a line of that table beside the law and the three numbers.
_BESIDE = len(_INDENT) + len("  A   said    saw     σ  × refuted")
_SHORTEST_LAW = 12

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

    On a terminal a line below shows what is being done; elsewhere only what is kept is printed.
    """

    def __init__(self, console: "Console", *, keeps: str) -> None:
        """Begin with nothing seen; `keeps` is the name of the ledger, or empty."""
        from rich.live import Live

        self._console = console
        self._keeps = keeps
        self._doing = "proposing"
        self._n_before = 0
        self._state: Replayed | None = None
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
        self._doing = _DOING["choice"] if state.pending else _DOING.get(kind, self._doing)
        match kind:
            case "verdict" | "problems":
                show_verdict(self._console, state)
            case "candidates":
                self._n_before = len(state.choices)
            case "outcome" | "failed" if not state.pending:
                asked = [choice.experiment for choice in state.choices[self._n_before :]]
                show_answers(self._console, state, asked)
            case _:
                pass

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
        keeps = f"{self._keeps} keeps everything so far" if self._keeps else "nothing is kept"
        line.append(f"\n  Ctrl-C stops; {keeps}", style="dim")
        line.no_wrap, line.overflow = True, "ellipsis"
        return line


def show_verdict(console: "Console", state: "Replayed") -> None:
    """Print which law was submitted and what the verifier answered."""
    from alder.expr.text import to_text

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


@final
@dataclass(frozen=True, slots=True)
class Told:
    """What a rival said of the row on which rivals parted most, what was seen, and the miss."""

    label: str
    law: str
    said: float
    saw: float
    sigmas: float


def show_answers(console: "Console", state: "Replayed", asked: "Sequence[Experiment]") -> None:
    """Print the experiment that told most about the rivals, and what each had said of it."""
    failed = {failure.experiment: failure for failure in state.failures}
    n_failed = sum(experiment.id in failed for experiment in asked)
    few = f"; {n_failed} gave no rows" if n_failed else ""
    head = f"asked {count(len(asked), 'experiment')}{few}"
    found = [(experiment, tell(state, experiment)) for experiment in asked]
    found = [(experiment, told) for experiment, told in found if told]
    if not found:
        console.print(f"{_INDENT}{head}")
        return
    experiment, told = max(found, key=lambda pair: _weight(pair[1]))
    settings = ", ".join(
        f"{name} = {value:.4g}" if isinstance(value, float) else f"{name} = {value}"
        for name, value in experiment.settings.items()
    )
    console.print(f"{_INDENT}{head}; the telling one: {settings}")
    _show_told(console, told)


def _weight(told: "Sequence[Told]") -> tuple[int, float]:
    from alder.report.measure import REFUTED

    return sum(one.sigmas >= REFUTED for one in told), max(one.sigmas for one in told)


def tell(state: "Replayed", experiment: "Experiment") -> list[Told]:
    """Compare what each candidate said of an experiment with what was seen.

    Of several rows the one on which the candidates part most is taken; what was seen has no say.
    """
    import numpy as np

    from alder.expr.text import to_text
    from alder.report.measure import yardstick

    rows = next((t for t in state.trajectories if t.experiment == experiment.id), None)
    evidence = state.evidence
    if rows is None or evidence is None or not state.candidates:
        return []
    unit = yardstick(state.candidates[0].law, evidence)
    said = np.array([unit.predict(c.law, rows.columns) for c in state.candidates])
    place = int(np.argmax(np.ptp(said, axis=0)))
    row = {name: column[place : place + 1] for name, column in rows.columns.items()}
    saw = float(row[unit.target][0])
    names = evidence.grammar.variable_names
    return [
        Told(
            candidate.label,
            to_text(candidate.law.structure, names),
            float(said[i, place]),
            saw,
            abs(float(unit.misses(candidate.law, row)[0])),
        )
        for i, candidate in enumerate(state.candidates)
    ]


def _show_told(console: "Console", told: "Sequence[Told]") -> None:
    """Print one line for each rival; laws are cut where they do not fit, numbers never."""
    from rich.text import Text

    from alder.report.measure import REFUTED

    shown = told[:_MOST_RIVALS]
    said = [f"{one.said:.4g}" for one in shown]
    saw = [f"{one.saw:.4g}" for one in shown]
    missed = [f"{one.sigmas:.1f}" for one in shown]
    wide = [max(map(len, words)) for words in (said, saw, missed)]
    room = max(console.width - sum(wide) - _BESIDE, _SHORTEST_LAW)
    width = min(max(len(one.law) for one in shown), room)
    for i, one in enumerate(shown):
        law = one.law if len(one.law) <= width else one.law[: width - 1] + "…"
        refuted = one.sigmas >= REFUTED
        line = Text(
            f"{_INDENT}  {one.label:<2}{law:<{width}}  said {said[i]:>{wide[0]}}   "
            f"saw {saw[i]:>{wide[1]}}   {missed[i]:>{wide[2]}} σ  "
        )
        line.append("× refuted" if refuted else "stands", style="dim" if refuted else "green")
        console.print(line)
    if len(told) > len(shown):
        console.print(f"{_INDENT}  and {len(told) - len(shown)} more")
