"""Any MuJoCo model as a world: settings to knobs, controlled rollouts to rows."""

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias, final

import numpy as np

from alder.arrays import FloatArray, freeze
from alder.errors import BadWorld, MissingExtra
from alder.ports import World
from alder.records.experiment import Setting
from alder.records.grammar import Grammar
from alder.records.law import Law
from alder.records.plan import Ends
from alder.records.roles import Roles
from alder.worlds.episodes import Played
from alder.worlds.foresight import rehearse, steps_of
from alder.worlds.guard import Guard
from alder.worlds.gymnasium import Episode, Target
from alder.worlds.mjplaces import Place, Simulation
from alder.worlds.offers import Cost, Experiments, Offers, Safety, Settings, make_offers

Sensor: TypeAlias = str | Callable[[Simulation, Simulation], float]
"""What a column shows: a place such as `joint.hinge.qpos`, or a function of model and data."""
Controller: TypeAlias = Callable[[Simulation, Simulation, Settings], None]
"""Sets controls or forces before every step of the physics, given model, data and settings."""

PRELUDE = "prelude"
STATE = "state"


@final
@dataclass(frozen=True, slots=True, eq=False)
class Drive:
    """What acts on a simulation, and from where it begins.

    `knobs` maps settings to what they set before the first step: places such as
    `joint.hinge.qvel`, `actuator.slide.ctrl` for a constant control, or any field of the model,
    `model.body.pole.mass`. `controller` is called before every step of the physics, of which
    `substeps` make a step of the episode. A setting named `prelude`, or else the number here, says
    how many steps are taken before the first row; their numbers are negative. `states` are
    integration states by name, of which a setting named `state` chooses one to begin from.
    """

    knobs: Mapping[str, str] = field(default_factory=dict[str, str])
    controller: Controller | None = None
    substeps: int = 1
    prelude: int = 0
    states: Mapping[str, FloatArray] = field(default_factory=dict[str, FloatArray])

    def __post_init__(self) -> None:
        """Refuse numbers of steps that are none."""
        if self.substeps < 1 or self.prelude < 0:
            raise BadWorld(
                f"A step has at least one substep, and a prelude no fewer than zero steps; got "
                f"{self.substeps} and {self.prelude}."
            )
        object.__setattr__(self, "states", {n: freeze(s) for n, s in self.states.items()})


@final
@dataclass(frozen=True, eq=False)
class MuJoCoWorld:
    """A world whose experiments are rollouts of a MuJoCo model.

    `model` is the path of an MJCF file, its text, or an `mjModel`. `columns` says what a row
    shows: places of the simulation or functions of it, read before each step of the episode and
    once after the last. `target` names one of them, or is a function of all, such as
    `alder.difference`. `episode.act` gives the control of a step, one number for each actuator;
    without it (`episode=None`, or an `act` that returns None) control stays as knobs and
    controller set it.

    A rollout that leaves `limits` ends there as a failed one, with that reason. With `jobs` above
    one, rollouts run in so many threads; what they show is the same, to the last bit. Forecasts
    are those of a `GymnasiumWorld`.
    """

    model: Any
    experiments: Experiments = field(kw_only=True, repr=False)
    columns: Mapping[str, Sensor] = field(kw_only=True)
    target: str | Target = field(kw_only=True)
    episode: Episode | None = field(default=None, kw_only=True)
    drive: Drive = field(default_factory=Drive, kw_only=True)
    limits: Ends = field(default_factory=dict[str, "tuple[float, float]"], kw_only=True)
    cost: Cost = field(default=None, kw_only=True, repr=False)
    is_safe: Safety = field(default=None, kw_only=True, repr=False)
    guard: Guard = field(default_factory=Guard, kw_only=True)
    jobs: int = field(default=1, kw_only=True)
    offers: Offers = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Load the model once; refuse places that it does not have."""
        offers = make_offers(self.experiments, cost=self.cost, safe=self.is_safe)
        set_ = object.__setattr__
        set_(self, "offers", offers)
        set_(self, "episode", self.episode or Episode(_no_action))
        set_(self, "model", load_model(self.model))
        if self.jobs < 1:
            raise BadWorld(f"jobs is the number of rollouts at a time, 1 or more; got {self.jobs}.")
        missing = [name for name in self.limits if name not in self.columns]
        if missing:
            raise BadWorld(f"`{missing[0]}` has limits but is no column; name it in `columns`.")
        data = _mujoco().MjData(self.model)
        sensors = [sensor for sensor in self.columns.values() if isinstance(sensor, str)]
        for text in (*sensors, *self.drive.knobs.values()):
            Place.of(text).require(self.model, data)
        for settings in offers.settings:
            steps_of(self._episode, settings)
            self._require_state(settings)

    @property
    def own_horizon(self) -> float:
        """The number of steps of an episode."""
        return float(self._episode.n_steps)

    @property
    def _episode(self) -> Episode:
        assert self.episode is not None
        return self.episode

    def bind(self, grammar: Grammar, roles: Roles | None = None) -> World:
        """Return the world as a study sees it, once variables and target have names."""
        target = grammar.target.name
        played = Played(
            self.offers, self._episode, lambda s: self._rows(s, target), self.guard, self.jobs
        )
        return played.bind(grammar, Roles() if roles is None else roles)

    def rehearse(self, law: Law, settings: Mapping[str, Setting]) -> Mapping[str, FloatArray]:
        """Return the columns a law forecasts along one episode, with those read after it.

        The settings say what is read at the start; the episode must say how to `follow`.
        """
        read = {name: float(v) for name, v in settings.items() if not isinstance(v, str)}
        return rehearse(self._episode, law, dict(settings), read)

    def play(self, settings: Mapping[str, Setting]) -> dict[str, FloatArray]:
        """Roll out any settings; return the columns, one row more than steps."""
        return self._roll(dict(settings))[0]

    def reach(self, settings: Mapping[str, Setting]) -> FloatArray:
        """Return the integration state after a rollout, to begin others from (`Drive.states`)."""
        return self._roll(dict(settings))[1]

    def _rows(self, settings: Settings, target: str) -> dict[str, FloatArray]:
        columns = self._roll(settings)[0]
        n = len(next(iter(columns.values()))) - 1
        wanted = columns[self.target] if isinstance(self.target, str) else self.target(columns)
        found = np.asarray(wanted, dtype=np.float64).ravel()
        if len(found) not in (n, n + 1):
            raise BadWorld(f"target gave {len(found)} values for a rollout of {n} steps")
        return {**{name: column[:n] for name, column in columns.items()}, target: found[:n]}

    def _roll(self, settings: Settings) -> tuple[dict[str, FloatArray], FloatArray]:
        mj, drive, episode = _mujoco(), self.drive, self._episode
        model, data = self._begin(settings)
        before = int(settings.get(PRELUDE, drive.prelude))
        rows: list[dict[str, float]] = []
        for step in range(-before, steps_of(episode, settings)):
            row = self._read(model, data)
            action = episode.act(dict(settings), step, row)
            if action is not None:
                data.ctrl[:] = np.asarray(action, dtype=np.float64)
                row = self._read(model, data)
            if step >= 0:
                rows.append(self._within(row, step))
            for _ in range(drive.substeps):
                if drive.controller is not None:
                    drive.controller(model, data, settings)
                mj.mj_step(model, data)
        rows.append(self._within(self._read(model, data), len(rows)))
        columns = {name: np.array([row[name] for row in rows]) for name in self.columns}
        return columns, save_state(model, data)

    def _begin(self, settings: Settings) -> tuple[Simulation, Simulation]:
        """Return model and data as the settings want them; a model that is changed is a copy."""
        mj, knobs = _mujoco(), {n: Place.of(p) for n, p in self.drive.knobs.items()}
        turned = {name: place for name, place in knobs.items() if name in settings}
        in_model = {name: place for name, place in turned.items() if place.in_model}
        model = copy.copy(self.model) if in_model else self.model
        data = mj.MjData(model)
        for name, place in in_model.items():
            place.write(model, data, float(settings[name]))
        if in_model:  # masses and sizes have consequences, which MuJoCo computes once
            mj.mj_setConst(model, data)
            mj.mj_resetData(model, data)
        self._require_state(settings)
        if STATE in settings:
            restore_state(model, data, self.drive.states[str(settings[STATE])])
        for name, place in turned.items():
            if not place.in_model:
                place.write(model, data, float(settings[name]))
        return model, data

    def _read(self, model: Simulation, data: Simulation) -> dict[str, float]:
        """Bring all that follows from the state up to date, and read the columns."""
        warm = data.qacc_warmstart.copy()
        _mujoco().mj_forward(model, data)
        data.qacc_warmstart[:] = warm
        return {
            name: Place.of(sensor).read(model, data)
            if isinstance(sensor, str)
            else float(sensor(model, data))
            for name, sensor in self.columns.items()
        }

    def _within(self, row: dict[str, float], step: int) -> dict[str, float]:
        for name, (low, high) in self.limits.items():
            if not low <= row[name] <= high:
                raise BadWorld(
                    f"stopped at step {step}: {name} is {row[name]:.4g}, beyond its limits "
                    f"{low:g} to {high:g}"
                )
        return row

    def _require_state(self, settings: Mapping[str, Setting]) -> None:
        name = settings.get(STATE)
        if name is not None and str(name) not in self.drive.states:
            known = ", ".join(self.drive.states) or "none"
            raise BadWorld(f"There is no state `{name}` to begin from; {known} are in `states`.")


def save_state(model: Simulation, data: Simulation) -> FloatArray:
    """Return everything the next step depends on, as numbers (`mjSTATE_INTEGRATION`)."""
    mj = _mujoco()
    kind = mj.mjtState.mjSTATE_INTEGRATION
    state = np.empty(mj.mj_stateSize(model, kind))
    mj.mj_getState(model, data, state, kind)
    return state


def restore_state(model: Simulation, data: Simulation, state: FloatArray) -> None:
    """Go back to a saved state; what follows is the same to the last bit."""
    mj = _mujoco()
    kind = mj.mjtState.mjSTATE_INTEGRATION
    if len(state) != mj.mj_stateSize(model, kind):
        raise BadWorld("The state to begin from belongs to another model: its length differs.")
    mj.mj_setState(model, data, np.array(state), kind)


def load_model(source: object) -> Simulation:
    """Return a model from a file, from text, or as it is."""
    mj = _mujoco()
    if not isinstance(source, str | Path):
        return source
    try:
        if isinstance(source, str) and source.lstrip().startswith("<"):
            return mj.MjModel.from_xml_string(source)
        if not Path(source).is_file():
            raise BadWorld(f"There is no model file {Path(source).name}.")
        return mj.MjModel.from_xml_path(str(source))
    except ValueError as error:
        raise BadWorld(f"MuJoCo cannot read the model: {str(error).splitlines()[0]}") from None


def _mujoco() -> Any:  # noqa: ANN401 (an optional package)
    try:
        return import_module("mujoco")
    except ModuleNotFoundError:
        raise MissingExtra(
            'MuJoCo is not installed; `pip install "alder[mujoco]"` brings it.'
        ) from None


def _no_action(_settings: Settings, _step: int, _row: Mapping[str, float]) -> None:
    """Leave control to knobs and controller."""
