"""How a discovery from sampled states ends: equations of motion, or a refusal."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import final

from alder.records.dynamics import Dynamics
from alder.records.law import Law
from alder.records.outcome import Refusal
from alder.records.verdict import Commitment


@final
@dataclass(frozen=True, slots=True)
class RouteError:
    """One route to the equations, and its error on public validation trajectories.

    `error` is the mean square in units of the noise, one where nothing but noise is left;
    infinite where the solutions could not be followed.
    """

    route: str
    n_terms: int
    error: float


@final
@dataclass(frozen=True, slots=True, eq=False)
class StatesOutcome:
    """The end of a discovery from states: laws that were admitted, or a refusal.

    `laws` are one for each state whose rate was to be found: of its rate, or of its next value
    where the system was taken as discrete. `dynamics` are the same as equations of motion, which
    keep `delay`, and `horizon` once they are admitted; None for a discrete system. `noise` is the
    standard deviation of a sample of each state, `error` the root mean square with which samples
    that were held back were followed, told of an admitted system only; `delay` the dead time of the
    inputs. The laws are admitted for the ranges of their scope and for times up to `horizon`, the
    longest that was followed: of a motion after it nothing was verified. `commitments` are salted
    digests of what was held back. `route` says how the numbers were fitted, `routes` what
    validation said of each; `shared` which numbers two laws have in common. `n_samples` in
    `n_trajectories` were read; `n_incomplete` rows without a value and `n_short` samples of
    trajectories too short to follow were left out, and at `n_gaps` places rows are missing between
    others. `spread` is the standard deviation of the public samples of each state. On a refusal
    `laws` hold what was found and not admitted.
    """

    laws: Mapping[str, Law]
    dynamics: Dynamics | None
    refusal: Refusal | None
    noise: Mapping[str, float] = field(default_factory=dict[str, float])
    error: Mapping[str, float] = field(default_factory=dict[str, float])
    delay: float = 0.0
    horizon: float = 0.0
    route: str = ""
    routes: tuple[RouteError, ...] = ()
    n_held_back: int = 0
    n_samples: int = 0
    n_trajectories: int = 0
    n_incomplete: int = 0
    n_short: int = 0
    n_gaps: int = 0
    spread: Mapping[str, float] = field(default_factory=dict[str, float])
    shared: tuple[str, ...] = ()
    commitments: tuple[Commitment, ...] = ()

    def __post_init__(self) -> None:
        """Freeze the mappings."""
        for name in ("laws", "noise", "error", "spread"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    @property
    def admitted(self) -> bool:
        """Whether the laws were admitted."""
        return self.refusal is None

    def __str__(self) -> str:
        """Return the equations with the error and the time they were followed, or the refusal."""
        if self.refusal is not None:
            return str(self.refusal)
        laws = (
            self.dynamics if self.dynamics is not None else "\n".join(map(str, self.laws.values()))
        )
        errors = ", ".join(f"{name} {error:.3g}" for name, error in self.error.items())
        return f"ADMITTED  {laws}\nerror {errors} along held-back samples, up to {self.horizon:g}"
