r"""Worlds of many objects under one law shared by all pairs.

$$\dot x_i = g(x_i) + \sum_{j \ne i} \varphi(e_{ij})$$

$e_{ij}$ are the features of the pair that acts on object i, $\varphi$ is the law, and $g$ is what
an object does by itself.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, final

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.errors import BadTable, BadWorld
from alder.ports import World
from alder.records.experiment import Experiment, FailedRun, Pool, Trajectory
from alder.records.grammar import Grammar
from alder.records.law import Law
from alder.records.roles import Roles
from alder.segments import numbered_through
from alder.tables import Rows, as_columns
from alder.worlds.guard import Caller, Ended, Guard, reason_of
from alder.worlds.offers import Cost, Offers, Safety, make_offers
from alder.worlds.outcomes import as_numbers, what_is_no_measurement

Body: TypeAlias = Mapping[str, float]
Scene: TypeAlias = Mapping[str, FloatArray]

RECEIVER = "receiver"
SHARE = "share"


@final
@dataclass(frozen=True, eq=False)
class PairwiseWorld:
    """Scenes of objects; one law acts between all pairs, and each target is a sum over pairs.

    A scene maps each property of the objects (a place, a speed, a mass) to a column, one row for
    each object. `run` gets a scene and returns the target of every object. `features` gets the
    object acted upon and the one that acts, each as a dict, and returns the variables of the law.
    `own` is what an object does by itself, where that is known; it is subtracted, so that rows
    hold the sum over pairs alone.

    Rows are ordered pairs. Beside the features they have the number of the object acted upon as
    `receiver`, one over the number of its pairs as `share`, and as target the sum over all pairs of
    that object, repeated on each of them. Tell a study so with `sums="receiver"`; scenes of two
    objects need no such word. `rows` makes such rows of scenes that were measured already.

    Where `own` is not known it can be fitted along: let the features have what it depends on, and
    the law a term times `share`, which adds up to the term itself.
    """

    run: Callable[[Scene], npt.ArrayLike]
    scenes: Sequence[Rows] = field(kw_only=True, repr=False)
    features: Callable[[Body, Body], Mapping[str, float]] = field(kw_only=True)
    own: Callable[[Body], float] | None = field(default=None, kw_only=True)
    is_safe: Safety = field(default=None, kw_only=True, repr=False)
    cost: Cost = field(default=None, kw_only=True, repr=False)
    arranged: Sequence[Scene] = field(init=False, repr=False)
    offers: Offers = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check that scenes hold the same properties of the same number of objects."""
        scenes = tuple(_scene(i, rows) for i, rows in enumerate(self.scenes))
        shapes = {(tuple(scene), _n_objects(scene)) for scene in scenes}
        if len(shapes) > 1:
            raise BadWorld(
                "All scenes must have the same properties and as many objects; make a world for "
                "each kind of scene."
            )
        settings = [
            {
                f"{name}_{k + 1}": float(x)
                for name, column in scene.items()
                for k, x in enumerate(column)
            }
            for scene in scenes
        ]
        offers = make_offers(settings, cost=self.cost, safe=self.is_safe)
        object.__setattr__(self, "arranged", scenes)
        object.__setattr__(self, "offers", offers)

    @property
    def n_objects(self) -> int:
        """The number of objects of every scene."""
        return _n_objects(self.arranged[0])

    def rows(
        self, scenes: Sequence[Rows], targets: Sequence[npt.ArrayLike], target: str
    ) -> dict[str, FloatArray]:
        """Return the rows of scenes that were measured: for a study to begin, or to be verified.

        `targets` holds for each scene the target of every object, as `run` would return it. The
        scenes need not be on offer, nor have as many objects as those that are. Receivers are
        numbered through, so that each is one observation.
        """
        if len(scenes) != len(targets):
            raise BadWorld(f"There are {len(scenes)} scenes but targets of {len(targets)}.")
        tables: list[dict[str, FloatArray]] = []
        for number, (rows, values) in enumerate(zip(scenes, targets, strict=True)):
            scene = _scene(number, rows)
            sums = self.sums(scene, values)
            if isinstance(sums, str):
                raise BadWorld(f"The targets of scene {number + 1} cannot be used: {sums}.")
            pairs = self._pairs(number, scene)
            repeated = np.repeat(sums, _n_objects(scene) - 1)
            tables.append({**pairs, target: repeated})
        if not tables:
            raise BadWorld("There is no scene; give at least one, with its targets.")
        joined = {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}
        joined[RECEIVER] = numbered_through([table[RECEIVER] for table in tables])
        return joined

    def bind(self, grammar: Grammar, roles: Roles | None = None) -> World:
        """Return the world as a study sees it; its rows are pairs."""
        if self.n_objects > 2 and roles is not None and roles.sums != RECEIVER:
            raise BadWorld(
                f"A scene of {self.n_objects} objects shows sums over pairs; say which rows make "
                f'up a sum with sums="{RECEIVER}".'
            )
        pairs = tuple(self._pairs(number, scene) for number, scene in enumerate(self.arranged))
        for name in (*grammar.variable_names, *(roles.names if roles is not None else ())):
            if name not in pairs[0]:
                raise BadWorld(
                    f"`{name}` is a column of the study but no feature of a pair; "
                    f"{', '.join(pairs[0])} are."
                )
        return _BoundPairs(self, pairs, grammar.target.name, Caller(Guard()))

    def _pairs(self, number: int, scene: Scene) -> dict[str, FloatArray]:
        """Return the features of all ordered pairs of a scene, and which object each acts upon."""
        bodies = _bodies(scene)
        pairs = [(i, j) for i in range(len(bodies)) for j in range(len(bodies)) if i != j]
        try:
            found = [self.features(bodies[i], bodies[j]) for i, j in pairs]
            columns = {name: np.array([float(one[name]) for one in found]) for name in found[0]}
        except Exception as error:  # noqa: BLE001 (user code; the sentence names the place)
            raise BadWorld(
                f"The features of scene {number + 1} could not be computed: {reason_of(error)}."
            ) from None
        share = np.full(len(pairs), 1.0 / (len(bodies) - 1))
        return {SHARE: share, **columns, RECEIVER: np.array([float(i) for i, _ in pairs])}

    def sums(self, scene: Scene, targets: object) -> FloatArray | str:
        """Return what the pairs of each object add up to, or why that is not known."""
        n = _n_objects(scene)
        found = as_numbers(targets)
        alone = as_numbers([0.0 if self.own is None else self.own(b) for b in _bodies(scene)])
        if found is None or alone is None or found.size != n:
            return f"it returned no target for each of the {n} objects"
        return found.ravel() - alone


@final
@dataclass(frozen=True, slots=True, eq=False)
class _BoundPairs:
    """A `PairwiseWorld` with names for variables and target."""

    world: PairwiseWorld
    pairs: Sequence[Mapping[str, FloatArray]]
    target: str
    caller: Caller

    def pool(self) -> Pool:
        """Return every scene on offer."""
        return self.world.offers.pool

    def predict(self, law: Law, experiments: NDArray[np.intp]) -> FloatArray:
        """Return the sum of the law over the pairs of each object, (scenes, objects)."""
        n = self.world.n_objects
        sums = np.zeros((len(experiments), n))
        for k, row in enumerate(experiments):
            rows = self.pairs[int(row)]
            with np.errstate(over="ignore"):
                sums[k] = law.predict(rows).reshape(n, n - 1).sum(axis=1)
        return np.clip(sums, -law.floors.saturation, law.floors.saturation)

    def run(self, experiments: Sequence[Experiment]) -> Sequence[Trajectory | FailedRun]:
        """Run each scene."""
        rows = self.world.offers.rows_to_run(experiments)
        return tuple(self._run_one(int(row)) for row in rows)

    def _run_one(self, row: int) -> Trajectory | FailedRun:
        name, scene = self.world.offers.pool.ids[row], self.world.arranged[row]
        answer = self.caller.call(lambda: self.world.sums(scene, self.world.run(scene)))
        if isinstance(answer, Ended):
            return FailedRun(name, answer.reason)
        sums = answer.value
        if isinstance(sums, str):
            return FailedRun(name, sums)
        wrong = what_is_no_measurement(self.target, sums)
        if wrong:
            return FailedRun(name, wrong)
        repeated = np.repeat(sums, self.world.n_objects - 1)
        return Trajectory({**self.pairs[row], self.target: repeated}, name)


def _scene(i: int, rows: Rows) -> Scene:
    try:
        scene = as_columns(rows)
    except BadTable as error:
        raise BadWorld(f"Scene {i + 1} cannot be read: {error}") from None
    if not scene or _n_objects(scene) < 2:
        raise BadWorld(f"Scene {i + 1} has fewer than two objects; a pair needs two.")
    return scene


def _n_objects(scene: Scene) -> int:
    return len(next(iter(scene.values())))


def _bodies(scene: Scene) -> list[dict[str, float]]:
    return [
        {name: float(column[k]) for name, column in scene.items()} for k in range(_n_objects(scene))
    ]
