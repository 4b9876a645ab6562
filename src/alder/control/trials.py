"""Forward models asked within a budget: every call is counted, and what was seen is kept."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np

from alder.arrays import FloatArray
from alder.control.problem import Forward, Inversion, errors, missed, objections
from alder.errors import BadParameter
from alder.records.plan import Plan, Prediction, nothing_planned


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
        """Return the safe trial nearest to the target, as far as the budget can tell."""
        finite = [trial for trial in self.seen if np.isfinite(trial.cost)]
        return next((t for t in sorted(finite, key=lambda t: t.cost) if self.is_safe(t)), None)

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
        """Return what all models predict where all call it safe."""
        predictions = [trial.prediction]
        if self._objects(trial.prediction, ""):
            return None
        for number, model in enumerate(self.models[1:], start=2):
            if self.spent >= self.problem.evaluations:
                self.objection = (
                    f"the budget of {self.problem.evaluations} evaluations was spent before all "
                    f"{len(self.models)} laws were asked whether an action is safe"
                )
                return None
            self.spent += 1
            predictions.append(model(trial.actions.copy(), trial.horizon))
            if self._objects(predictions[-1], f" under law {number} of {len(self.models)}"):
                return None
        return tuple(predictions)

    def _objects(self, prediction: Prediction, under: str) -> bool:
        found = next(objections(prediction, self.problem), "")
        if found:
            self.objection = found + under
        return bool(found)
