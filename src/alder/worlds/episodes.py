"""Worlds whose experiments are episodes, step after step, whatever plays them."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.ports import World
from alder.records.experiment import HORIZON, Experiment, FailedRun, Pool, Trajectory
from alder.records.grammar import Grammar
from alder.records.law import Law
from alder.records.roles import Roles
from alder.worlds.foresight import Foreseen, steps_of, walk
from alder.worlds.guard import Caller, Ended, Guard
from alder.worlds.offers import Offers, Settings
from alder.worlds.outcomes import to_trajectory, wanted_columns

if TYPE_CHECKING:
    from alder.worlds.gymnasium import Episode


@final
@dataclass(frozen=True, slots=True, eq=False)
class Played:
    """Experiments, how each becomes an episode, and what plays it: settings to rows.

    With `jobs` above one, so many episodes are played at a time, each in a thread; `play` must
    then hold nothing that two of them share.
    """

    offers: Offers
    episode: "Episode"
    play: Callable[[Settings], Mapping[str, FloatArray]]
    guard: Guard
    jobs: int = 1

    def bind(self, grammar: Grammar, roles: Roles) -> World:
        """Return the world as a study sees it, once variables and target have names."""
        acted = self.episode.actions if self.episode.follow is not None else ()
        start = tuple(v for v in grammar.variables if v.name not in acted)
        self.offers.require_variables(replace(grammar, variables=start))
        return _Bound(self, grammar, wanted_columns(grammar, roles), Caller(self.guard))


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Bound:
    """Episodes with names for variables and target."""

    world: Played
    grammar: Grammar
    wanted: tuple[str, ...]
    caller: Caller

    def pool(self) -> Pool:
        """Return every experiment on offer."""
        return self.world.offers.pool

    def predict(self, law: Law, experiments: NDArray[np.intp]) -> FloatArray:
        """Return what a law says of the first row, or of all, (experiments, steps).

        Beyond its own horizon an episode shows zeros, on which all laws agree.
        """
        if self.world.episode.follow is None or not len(experiments):
            return self.world.offers.predict(law, experiments)
        walked = self._walk(law, experiments)
        going = np.arange(walked.target.shape[1]) < np.array(walked.lengths)[:, None]
        return np.where(going, walked.target, 0.0)

    def foreseen(self) -> tuple[str, ...]:
        """Name target and columns where episodes are followed, or have one step only."""
        episode, offers = self.world.episode, self.world.offers
        if episode.follow is not None:
            named = (*offers.pool.columns, *self.grammar.variable_names)
            names = (self.grammar.target.name, *(n for n in named if n != HORIZON))
            return tuple(dict.fromkeys(names))
        if max(steps_of(episode, settings) for settings in offers.settings) > 1:
            return ()
        return (self.grammar.target.name, *offers.pool.columns)

    def outlook(self, law: Law, experiments: NDArray[np.intp]) -> Mapping[str, FloatArray]:
        """Return target and columns, (experiments, steps)."""
        if self.world.episode.follow is not None and len(experiments):
            walked = self._walk(law, experiments)
            return {**walked.columns, self.grammar.target.name: walked.target}
        columns = self.world.offers.pool.columns
        shown = {name: column[experiments][:, None] for name, column in columns.items()}
        return {**shown, self.grammar.target.name: self.predict(law, experiments)}

    def _walk(self, law: Law, experiments: NDArray[np.intp]) -> Foreseen:
        offers = self.world.offers
        chosen = [offers.settings[int(i)] for i in experiments]
        start = {name: column[experiments] for name, column in offers.pool.columns.items()}
        return walk(self.world.episode, chosen, start, law)

    def run(self, experiments: Sequence[Experiment]) -> Sequence[Trajectory | FailedRun]:
        """Play an episode for each experiment."""
        rows = self.world.offers.rows_to_run(experiments).tolist()
        if self.world.jobs == 1 or len(rows) < 2:
            return tuple(self._run_one(row, self.caller) for row in rows)
        with ThreadPoolExecutor(self.world.jobs) as pool:
            return tuple(pool.map(self._run_beside, rows))

    def _run_beside(self, row: int) -> Trajectory | FailedRun:
        return self._run_one(row, Caller(self.world.guard))

    def _run_one(self, row: int, caller: Caller) -> Trajectory | FailedRun:
        name, settings = self.world.offers.pool.ids[row], self.world.offers.settings[row]
        answer = caller.call(lambda: self.world.play(dict(settings)))
        if isinstance(answer, Ended):
            return FailedRun(name, answer.reason)
        target = self.grammar.target.name
        return to_trajectory(name, answer.value, settings, wanted=self.wanted, target=target)
