"""Forward models asked within a budget: every call is counted, and what was seen is kept."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np

from alder.arrays import FloatArray
from alder.control.problem import Forward, Inversion, errors, excesses, missed, objections
from alder.errors import BadParameter
from alder.records.plan import Plan, Prediction, nothing_planned

# Limits are drawn in by this much more than the difference that was seen: it varies on the way.
_CAUTION = 1.2


@final
@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """Actions that were asked about, and what the first model says of them."""

    number: int
    actions: FloatArray
    horizon: float
    prediction: Prediction
    errors: FloatArray
    misses: float
    """The largest error in units of its tolerance; one or less is reached."""
    cost: float
    """What is to be small: the same, or the sum of squares along the path where that counts."""

    @property
    def residual(self) -> float:
        """The error of a target of one column, with its sign."""
        return float(self.errors[0])


@final
@dataclass(slots=True)
class Trials:
    """Asks models about actions until the budget is spent.

    The first model leads: it is asked about every action. The others, further laws of a credible
    set, are asked only whether an action is safe, and enough calls are kept back to ask each once.
    """

    models: Sequence[Forward]
    problem: Inversion
    spent: int = 0
    seen: list[Trial] = field(default_factory=list[Trial])
    objection: str = ""
    margins: dict[str, float] = field(default_factory=dict[str, float])
    """How much further than the first model others were seen to exceed each limit, in widths."""
    _strictest: int = 1
    _judged: dict[int, tuple[Prediction, ...] | None] = field(
        default_factory=dict[int, "tuple[Prediction, ...] | None"]
    )

    def __post_init__(self) -> None:
        """Refuse a budget that cannot judge a single action."""
        n = len(self.models)
        if n == 0:
            raise BadParameter("A plan needs a forward model, or several; got none.")
        if self.problem.evaluations < n:
            raise BadParameter(
                f"{n} laws must agree that an action is safe, which takes {n} evaluations; the "
                f"budget is {self.problem.evaluations}."
            )

    @property
    def left(self) -> int:
        """Count the actions that may still be tried and judged."""
        return self.problem.evaluations - self.spent - (len(self.models) - 1)

    def ask(self, actions: FloatArray, horizon: float) -> Trial:
        """Ask the first model; `left` must be above zero."""
        assert self.left > 0
        actions = np.array(actions, dtype=np.float64).reshape(self.problem.moves, -1)
        self.spent += 1
        prediction = self.models[0](actions.copy(), horizon)
        wide = np.abs(missed(prediction, self.problem))
        wide = np.where(np.isfinite(wide), wide, np.inf)
        misses = float(np.max(wide[-len(self.problem.target) :]))
        with np.errstate(over="ignore"):
            cost = float(np.sum(np.square(wide))) if self.problem.along else misses
        found = errors(prediction, self.problem)
        trial = Trial(len(self.seen), actions, horizon, prediction, found, misses, cost)
        self.seen.append(trial)
        return trial

    def is_safe(self, trial: Trial) -> bool:
        """Say whether every model calls these actions safe; what could not be asked is not."""
        if trial.number not in self._judged:
            self._judged[trial.number] = self._judge(trial)
        return self._judged[trial.number] is not None

    def closest(self) -> Trial | None:
        """Return the safe trial nearest to the target, as far as the budget can tell.

        Trials to which a model is likely to object are asked about last; where the budget allows
        no second mistake, the one that is furthest inside its limits is asked about.
        """
        open_ = [trial for trial in self.seen if np.isfinite(trial.cost)]
        others = len(self.models) - 1
        while open_:
            left = self.problem.evaluations - self.spent
            last = 0 < others <= left < 2 * others and len(self._judged) > 0
            trial = min(open_, key=self._depth if last else self._promise)
            if self.is_safe(trial):
                return trial
            open_.remove(trial)
        return None

    def _promise(self, trial: Trial) -> tuple[bool, float]:
        return bool(self.broken(trial).any()), trial.cost

    def _depth(self, trial: Trial) -> float:
        return max(excesses(trial.prediction, self.problem).values(), default=0.0)

    def broken(self, trial: Trial) -> FloatArray:
        """Return how far each limit, drawn in by its margin, is exceeded; zero where it is kept."""
        found = excesses(trial.prediction, self.problem)
        return np.array([max(e + self.margins.get(name, 0.0), 0.0) for name, e in found.items()])

    def plan(self, trial: Trial, reason: str = "") -> Plan:
        """Return a judged trial as the plan to follow."""
        predictions = self._judged[trial.number] or (trial.prediction,)
        ends = {name: [p.end[name] for p in predictions] for name in self.problem.target}
        return Plan(
            status="reached" if trial.misses <= 1.0 else "closest",
            inputs=self.problem.inputs,
            actions=trial.actions,
            horizon=trial.horizon,
            target=self.problem.target,
            predicted=trial.prediction.end,
            path=trial.prediction.path,
            error=float(np.max(np.abs(trial.errors))),
            evaluations=self.spent,
            reason=reason,
            lowest={name: min(values) for name, values in ends.items()},
            highest={name: max(values) for name, values in ends.items()},
        )

    def refuse(self, reason: str) -> Plan:
        """Return a refusal."""
        return nothing_planned(self.problem.inputs, self.problem.target, reason, self.spent)

    def _judge(self, trial: Trial) -> tuple[Prediction, ...] | None:
        """Return what all models predict where all call it safe; the strictest is asked first."""
        predictions = [trial.prediction]
        if self._objects(trial.prediction, ""):
            return None
        others = list(range(1, len(self.models)))
        for number in sorted(others, key=lambda k: k != self._strictest):
            if self.spent >= self.problem.evaluations:
                self.objection = (
                    f"the budget of {self.problem.evaluations} evaluations was spent before all "
                    f"{len(self.models)} laws were asked whether an action is safe"
                )
                return None
            self.spent += 1
            predictions.append(self.models[number](trial.actions.copy(), trial.horizon))
            if self._objects(predictions[-1], f" under law {number + 1} of {len(self.models)}"):
                self._strictest = number
                self._widen(trial.prediction, predictions[-1])
                return None
        return tuple(predictions)

    def _widen(self, lead: Prediction, other: Prediction) -> None:
        """Remember how much further another model goes than the first, and grow more careful."""
        own = excesses(lead, self.problem)
        for name, excess in excesses(other, self.problem).items():
            further = _CAUTION * (excess - own.get(name, excess))
            if excess > 0.0:
                further = max(further, 2.0 * self.margins.get(name, 0.0))
            if np.isfinite(further):
                self.margins[name] = max(self.margins.get(name, 0.0), further)

    def _objects(self, prediction: Prediction, under: str) -> bool:
        found = next(objections(prediction, self.problem), "")
        if found:
            self.objection = found + under
        return bool(found)
