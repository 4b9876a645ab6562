"""Any Gymnasium environment as a world: settings to a start and actions, episodes to rows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast, final

import numpy as np
import numpy.typing as npt

from alder.arrays import FloatArray
from alder.errors import BadWorld, MissingExtra
from alder.ports import World
from alder.records.experiment import Setting
from alder.records.grammar import Grammar
from alder.records.law import Law
from alder.records.roles import Roles
from alder.worlds.episodes import Played
from alder.worlds.foresight import rehearse, steps_of
from alder.worlds.guard import Guard
from alder.worlds.offers import Cost, Experiments, Offers, Safety, Settings, make_offers

Environment: TypeAlias = Any
"""A `gymnasium.Env`; the package is optional, so its types are not used."""

Reading: TypeAlias = Sequence[str] | Callable[[npt.NDArray[Any]], Mapping[str, float]]
Target: TypeAlias = Callable[[Mapping[str, FloatArray]], npt.ArrayLike]
Follow: TypeAlias = Callable[[Mapping[str, FloatArray], FloatArray], Mapping[str, npt.ArrayLike]]


@final
@dataclass(frozen=True, slots=True)
class Episode:
    """How an experiment becomes an episode.

    `act` says what to do in a step, given the settings, the number of the step and the columns
    read before it. `place` puts the environment, already reset with `seed`, where the settings
    want it, and returns the observation there. `actions` names the columns of the action. The
    episode ends after `n_steps`, or where the environment ends it; a setting named `horizon`
    replaces that number in its experiment.

    `follow` is what is no secret about the motion: it gets the columns of a step, actions among
    them, and the target, all as arrays with one entry for each experiment, and returns the columns
    read after the step. With it, laws are followed along whole episodes before they are run.
    """

    act: Callable[[Settings, int, Mapping[str, float]], object]
    n_steps: int = 1
    place: Callable[[Environment, Settings], object] | None = None
    actions: Sequence[str] = ()
    seed: int = 0
    follow: Follow | None = None

    def __post_init__(self) -> None:
        """Refuse an episode without steps."""
        if self.n_steps < 1:
            raise BadWorld(f"An episode has at least one step; n_steps is {self.n_steps}.")


@final
@dataclass(frozen=True, eq=False)
class GymnasiumWorld:
    """A world whose experiments are episodes of an environment.

    `make` is the id of a registered environment, or a function that makes one. `columns` names the
    numbers of an observation, or is a function from an observation to named numbers. `target` gets
    the columns of an episode, observations having one entry more than actions, and returns the
    target of each step: `difference` is one. A row is what was read before a step.

    Every experiment starts from `reset(seed=...)` with the same seed, so that a deterministic
    environment repeats itself exactly. A forecast is what a law says of the first row, for which
    every variable of the grammar must be a setting of the same name; where the episode says how to
    `follow` the motion it is what the law says of every row, and actions need be no settings.
    """

    make: str | Callable[[], Environment]
    experiments: Experiments = field(kw_only=True, repr=False)
    columns: Reading = field(kw_only=True)
    target: Target = field(kw_only=True)
    episode: Episode = field(kw_only=True)
    cost: Cost = field(default=None, kw_only=True, repr=False)
    is_safe: Safety = field(default=None, kw_only=True, repr=False)
    guard: Guard = field(default_factory=Guard, kw_only=True)
    offers: Offers = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check the experiments, and that the environment can be made."""
        offers = make_offers(self.experiments, cost=self.cost, safe=self.is_safe)
        object.__setattr__(self, "offers", offers)
        for settings in offers.settings:
            steps_of(self.episode, settings)
        _open(self.make).close()

    def bind(self, grammar: Grammar, roles: Roles | None = None) -> World:
        """Return the world as a study sees it, once variables and target have names."""
        target = grammar.target.name
        played = Played(
            self.offers, self.episode, lambda settings: _play(self, settings, target), self.guard
        )
        return played.bind(grammar, Roles() if roles is None else roles)

    @property
    def own_horizon(self) -> float:
        """The number of steps of an episode."""
        return float(self.episode.n_steps)

    def rehearse(self, law: Law, settings: Mapping[str, Setting]) -> Mapping[str, FloatArray]:
        """Return the columns a law forecasts along one episode, with those read after it.

        The settings say what is read at the start; the episode must say how to `follow`.
        """
        read = {name: float(v) for name, v in settings.items() if not isinstance(v, str)}
        return rehearse(self.episode, law, dict(settings), read)


def difference(column: str, dt: float) -> Target:
    r"""Return a target: how fast a column changes over a step.

    $$y_k = (x_{k+1} - x_k) / \Delta t$$

    >>> difference("v", 0.5)({"v": np.array([0.0, 1.0, 4.0])})
    array([2., 6.])
    """

    def target(columns: Mapping[str, FloatArray]) -> FloatArray:
        return np.diff(columns[column]) / dt

    return target


def _open(make: str | Callable[[], Environment]) -> Environment:
    if not isinstance(make, str):
        return make()
    try:
        import gymnasium
    except ModuleNotFoundError:
        raise MissingExtra(
            'Gymnasium is not installed; `pip install "alder[gym]"` brings it.'
        ) from None
    try:
        return cast("Environment", gymnasium.make(make))
    except gymnasium.error.DependencyNotInstalled as error:
        raise MissingExtra(
            f"`{make}` needs a package that is not installed: {str(error).splitlines()[0]}"
        ) from None
    except gymnasium.error.Error as error:
        raise BadWorld(f"Gymnasium cannot make `{make}`: {str(error).splitlines()[0]}") from None


def _play(world: GymnasiumWorld, settings: Settings, target: str) -> dict[str, FloatArray]:
    """Play one episode and return its rows."""
    episode, environment = world.episode, _open(world.make)
    try:
        observation, _ = environment.reset(seed=episode.seed)
        if episode.place is not None:
            observation = episode.place(environment, dict(settings))
        read = [_read(world.columns, observation)]
        acted: list[FloatArray] = []
        for step in range(steps_of(episode, settings)):
            action = episode.act(dict(settings), step, read[-1])
            observation, _, terminated, truncated, _ = environment.step(action)
            acted.append(np.atleast_1d(np.asarray(action, dtype=np.float64)))
            read.append(_read(world.columns, observation))
            if terminated or truncated:
                break
    finally:
        environment.close()
    return _rows(world, read, acted, target)


def _rows(
    world: GymnasiumWorld,
    read: Sequence[Mapping[str, float]],
    acted: Sequence[FloatArray],
    target: str,
) -> dict[str, FloatArray]:
    n = len(acted)
    columns = {name: np.array([one[name] for one in read]) for name in read[0]}
    for k, name in enumerate(world.episode.actions):
        columns[name] = np.array([action[k] for action in acted])
    found = np.asarray(world.target(columns), dtype=np.float64).ravel()
    if len(found) not in (n, n + 1):
        raise BadWorld(f"target gave {len(found)} values for an episode of {n} steps")
    return {**{name: column[:n] for name, column in columns.items()}, target: found[:n]}


def _read(columns: Reading, observation: object) -> Mapping[str, float]:
    numbers = np.asarray(observation)
    if callable(columns):
        return columns(numbers)
    values = np.asarray(numbers, dtype=np.float64).ravel()
    if len(values) != len(columns):
        raise BadWorld(
            f"An observation has {len(values)} numbers and columns names {len(columns)} of them"
        )
    return dict(zip(columns, values.tolist(), strict=True))
