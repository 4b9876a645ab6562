"""The terms of admission: everything besides rows that decides how a law is judged."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final

from alder.errors import BadStudy
from alder.records.motion import Motion
from alder.records.verdict import Category
from alder.verification.criteria import Criteria, Reference
from alder.verification.spending import (
    OWN,
    REVEALING,
    AlphaSpending,
    Spending,
    require_sound,
    spending_from_json,
    spending_to_json,
)


@final
@dataclass(frozen=True, slots=True)
class Terms:
    """Fixed before the first proposal; their digest goes into a study's configuration.

    `variables` are those a law may use, `references` the rules it must beat (from public rows),
    `sigma` the column of error bars in protected rows and `group` that of groups with an offset
    each; `sums` names the observation each row belongs to, where targets are sums over rows. Where
    the target is a rate of change, `motion` says of what, and `time` is the column in
    which trajectories run on. `rollout` is the NMSE asked of the states of a whole system, where it
    is followed along protected trajectories.
    """

    variables: tuple[str, ...]
    target: str
    references: tuple[Reference, ...]
    criteria: Criteria = field(default_factory=Criteria)
    spending: Spending = field(default_factory=AlphaSpending)
    sigma: str | None = None
    group: str | None = None
    time: str | None = None
    motion: Motion | None = None
    sums: str | None = None
    rollout: float | None = None

    def __post_init__(self) -> None:
        """Refuse terms under which everything, or nothing, is admitted."""
        require_sound(self.spending)
        if not self.references:
            raise BadStudy("A law must beat a reference; give at least the mean of public rows.")
        self.criteria.described  # noqa: B018 (raises where a criterion is still a name)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns protected rows must have."""
        apart = (self.sigma, self.group, self.time, self.sums)
        needed = (*self.variables, self.target, *(name for name in apart if name is not None))
        return tuple(dict.fromkeys(needed))

    @property
    def revealing(self) -> tuple[Category, ...]:
        """The answers of this study that depend on protected outcomes."""
        return (*REVEALING, OWN) if self.criteria.own else REVEALING

    def to_json(self) -> dict[str, Any]:
        """Return the terms as JSON values; parts added later only where they say something."""
        later = {
            "group": self.group,
            "time": self.time,
            "sums": self.sums,
            "rollout": self.rollout,
            "motion": None
            if self.motion is None
            else {"state": self.motion.state, "kinematics": dict(self.motion.kinematics)},
        }
        return {
            "variables": list(self.variables),
            "target": self.target,
            "references": [reference.to_json() for reference in self.references],
            "criteria": self.criteria.to_json(),
            "spending": spending_to_json(self.spending),
            "sigma": self.sigma,
            **{name: value for name, value in later.items() if value is not None},
        }

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> "Terms":
        """Read what `to_json` wrote."""
        return Terms(
            variables=tuple(value["variables"]),
            target=value["target"],
            references=tuple(Reference(r["mean"], r["slopes"]) for r in value["references"]),
            criteria=Criteria.from_json(value["criteria"]),
            spending=spending_from_json(value["spending"]),
            sigma=value["sigma"],
            group=value.get("group"),
            time=value.get("time"),
            motion=Motion(**value["motion"]) if "motion" in value else None,
            sums=value.get("sums"),
            rollout=value.get("rollout"),
        )

    @property
    def digest(self) -> str:
        """SHA-256 of the terms."""
        text = json.dumps(self.to_json(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()
