"""What a law says of whole episodes, where all but the target follows from what was read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from alder.arrays import FloatArray
from alder.errors import BadWorld
from alder.records.experiment import HORIZON
from alder.records.law import Law
from alder.worlds.guard import reason_of
from alder.worlds.offers import Settings
from alder.worlds.rollouts import saturate

if TYPE_CHECKING:
    from alder.worlds.gymnasium import Episode


@final
@dataclass(frozen=True, slots=True, eq=False)
class Foreseen:
    """Columns and target along episodes, each (experiments, steps), and their own lengths.

    `after` holds what is read when the last step has been taken, one number for each experiment.
    Beyond its own length an episode stands still, so that limits see nothing new there.
    """

    columns: Mapping[str, FloatArray]
    target: FloatArray
    lengths: tuple[int, ...]
    after: Mapping[str, FloatArray]


def steps_of(episode: "Episode", settings: Settings) -> int:
    """Return the number of steps of one experiment: its `horizon`, or the episode's own."""
    horizon = float(settings.get(HORIZON, episode.n_steps))
    if horizon < 1.0 or horizon != int(horizon):
        raise BadWorld(f"A horizon of an episode is a whole number of steps; got {horizon:g}.")
    return int(horizon)


def walk(
    episode: "Episode", settings: Sequence[Settings], start: Mapping[str, FloatArray], law: Law
) -> Foreseen:
    """Follow a law step by step through several experiments at once.

    A column that diverges is held at 1e100, so that results are finite.
    """
    lengths = tuple(steps_of(episode, one) for one in settings)
    read = {name: column for name, column in start.items() if name != HORIZON}
    seen: list[dict[str, FloatArray]] = []
    targets: list[FloatArray] = []
    for step in range(max(lengths)):
        columns = {**read, **_actions(episode, settings, read, step)}
        with np.errstate(all="ignore"):
            target = saturate(law.predict(columns))
        going = np.array([step < length for length in lengths])
        if seen:
            columns = {n: np.where(going, c, seen[-1][n]) for n, c in columns.items()}
            target = np.where(going, target, targets[-1])
        seen.append(columns)
        targets.append(target)
        read = {**read, **_next(episode, columns, target, len(settings))}
    return Foreseen(
        {name: np.stack([one[name] for one in seen], axis=1) for name in seen[0]},
        np.stack(targets, axis=1),
        lengths,
        read,
    )


def _actions(
    episode: "Episode", settings: Sequence[Settings], read: Mapping[str, FloatArray], step: int
) -> dict[str, FloatArray]:
    """Ask what would be done in this step of every experiment."""
    acted: list[FloatArray] = []
    for i, one in enumerate(settings):
        here = {name: float(column[i]) for name, column in read.items()}
        try:
            action = np.asarray(episode.act(dict(one), step, here), dtype=np.float64)
        except Exception as error:  # noqa: BLE001 (user code; the sentence names the place)
            raise BadWorld(
                f"`act` of the episode could not be asked about step {step}: {reason_of(error)}."
            ) from None
        acted.append(np.atleast_1d(action))
    return {name: np.array([one[k] for one in acted]) for k, name in enumerate(episode.actions)}


def _next(
    episode: "Episode", columns: Mapping[str, FloatArray], target: FloatArray, n: int
) -> dict[str, FloatArray]:
    """Ask what will be read after a step."""
    assert episode.follow is not None
    try:
        with np.errstate(all="ignore"):
            found = {
                name: np.broadcast_to(np.asarray(column, dtype=np.float64), (n,))
                for name, column in episode.follow(dict(columns), target).items()
            }
    except Exception as error:  # noqa: BLE001 (user code; the sentence names the place)
        raise BadWorld(
            f"`follow` of the episode could not be asked: {reason_of(error)}. It gets the columns "
            "of a step and the target, as arrays, and returns the columns of the next step."
        ) from None
    return {name: saturate(column) for name, column in found.items()}


def rehearse(
    episode: "Episode", law: Law, settings: Settings, read: Mapping[str, float]
) -> dict[str, FloatArray]:
    """Follow a law through one episode; the last row is what is read after its last step.

    `read` holds the columns at the start. In the last row, actions and target are those of the
    step before it.
    """
    if episode.follow is None:
        raise BadWorld(
            "The episode does not say how rows follow each other; give it `follow`, and a law can "
            "be followed through it."
        )
    start = {name: np.array([value]) for name, value in read.items()}
    walked = walk(episode, [settings], start, law)
    path = {**walked.columns, law.target.name: walked.target}
    return {
        name: np.append(column[0], walked.after.get(name, column[:, -1])[0])
        for name, column in path.items()
    }
