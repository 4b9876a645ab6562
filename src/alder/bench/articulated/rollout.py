"""Probes of a grasped joint, and what executing one shows."""

from dataclasses import dataclass
from typing import final

from alder.arrays import FloatArray, freeze


@final
@dataclass(frozen=True, slots=True)
class Probe:
    """One experiment on a joint: where it starts, how it is pulled, for how long.

    `state` is the number of a reached state, `pull` a signed command held for `horizon` steps of
    the controller. A `prelude` is a pull held shortly before, so that the joint may still move
    against the command that follows. `role` is what the probe is for.
    """

    state: int
    pull: float
    horizon: int
    prelude: float | None
    role: str


@final
@dataclass(frozen=True, slots=True, eq=False)
class Rollout:
    """One executed probe: substep rows and where it ended.

    `q` is the joint's position normalised to its range, `v` its velocity in m/s or rad/s, both
    before the forces of the substep act; `u` the signed pull held during it; `force` the passive
    and friction force on the joint in N or N m. Rows in which the joint sticks are left out.
    """

    q: FloatArray
    v: FloatArray
    u: FloatArray
    force: FloatArray
    end: float
    safe: bool

    def __post_init__(self) -> None:
        """Freeze the rows."""
        for name in ("q", "v", "u", "force"):
            object.__setattr__(self, name, freeze(getattr(self, name)))
