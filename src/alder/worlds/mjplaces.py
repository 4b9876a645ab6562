"""Places of a MuJoCo simulation by name: what can be read as a column, or set as a knob."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, cast, final

import numpy as np

from alder.errors import BadWorld

Simulation: TypeAlias = Any
"""An `mjModel` or `mjData`; the package is optional, so its types are not used."""

_KINDS = ("joint", "body", "geom", "site", "actuator", "sensor", "tendon")
_PLACE = re.compile(
    r"(?P<model>model\.)?(?:(?P<kind>[a-z]+)\.(?P<name>.+)\.)?(?P<field>\w+)(?:\[(?P<index>\d+)\])?"
)
_EXAMPLES = (
    "`joint.hinge.qpos`, `body.pole.xpos[2]`, `sensor.force.data[0]`, `model.body.pole.mass`"
)


@final
@dataclass(frozen=True, slots=True)
class Place:
    """One number of the data or, with `in_model`, of the model.

    An object is named by its kind and name, or its number where it has none; without a kind the
    field belongs to the whole, such as `time`, `qpos` or, in the model's options, `gravity`.
    """

    text: str
    in_model: bool
    kind: str
    name: str
    field: str
    index: int

    @staticmethod
    def of(text: str) -> "Place":
        """Read a place.

        >>> Place.of("body.pole.xpos[2]").index
        2
        """
        found = _PLACE.fullmatch(text)
        kind = "" if found is None else found["kind"] or ""
        if found is None or kind not in ("", *_KINDS):
            raise BadWorld(f"`{text}` names no place of a simulation; write {_EXAMPLES}.")
        return Place(
            text,
            found["model"] is not None,
            kind,
            found["name"] or "",
            found["field"],
            int(found["index"] or 0),
        )

    def read(self, model: Simulation, data: Simulation) -> float:
        """Return the number that is there now."""
        return float(np.asarray(self._values(model, data), dtype=np.float64).ravel()[self.index])

    def write(self, model: Simulation, data: Simulation, value: float) -> None:
        """Put a number there."""
        values = self._values(model, data)
        if isinstance(values, np.ndarray):
            cast("np.ndarray[Any, Any]", values).flat[self.index] = value
        else:
            setattr(self._owner(model, data), self.field, value)

    def require(self, model: Simulation, data: Simulation) -> None:
        """Refuse a place that this simulation does not have."""
        try:
            self.read(model, data)
        except (KeyError, AttributeError, IndexError, TypeError, ValueError) as error:
            words = str(error).splitlines()[0].strip("'\"") if str(error) else "no such place"
            raise BadWorld(f"The model has no `{self.text}`: {words}.") from None

    def _values(self, model: Simulation, data: Simulation) -> Any:  # noqa: ANN401 (MuJoCo's)
        return getattr(self._owner(model, data), self.field)

    def _owner(self, model: Simulation, data: Simulation) -> Simulation:
        whole = model if self.in_model else data
        if not self.kind:
            # The options of a model are part of it to whoever sets gravity or the time step.
            return whole.opt if self.in_model and hasattr(whole.opt, self.field) else whole
        find = cast("Callable[[str | int], Simulation]", getattr(whole, self.kind))
        return find(int(self.name) if self.name.isdigit() else self.name)
