"""Lists of systems: a JSON file with equations, starts and boxes, read without running anything."""

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, cast, final

import numpy as np

from alder.errors import AlderError, BadStudy
from alder.expr.text import parse
from alder.records.dynamics import Dynamics
from alder.records.law import Law
from alder.records.noise import Noise
from alder.records.scope import Scope
from alder.records.variable import Variable

FORMS = {"rounded": "equations", "unrounded": "equations_unrounded"}
"""The published equations, and those before their numbers were rounded."""

REPLACED: Mapping[str, tuple[float, ...]] = {"odebase_vars3_prog20": (0.2, 0.5, 0.3)}
"""Systems whose first start runs into a pole at once, with the start that takes its place."""

_COTANGENT = re.compile(r"\bcot\((\w+)\)")


@final
@dataclass(frozen=True, slots=True, eq=False)
class OdeSystem:
    """One system: the truth, two starts, and the box that starts may be chosen from."""

    name: str
    truth: Dynamics
    starts: tuple[tuple[float, ...], ...]
    box: tuple[tuple[float, float], ...]
    replaced: bool


def systems_file(name: str, given: str) -> Path:
    """Return the file of a benchmark: the one given, or that of its name in `ALDER_DATA`."""
    if given:
        path = Path(given)
    elif "ALDER_DATA" in os.environ:
        path = Path(os.environ["ALDER_DATA"]) / f"{name}.json"
    else:
        raise BadStudy(
            f"{name} needs its list of systems: give `--systems FILE`, or set ALDER_DATA to the "
            f"folder of {name}.json."
        )
    if not path.is_file():
        raise BadStudy(f"There is no file {path.name} where the systems of {name} should be.")
    return path


def places(n_systems: int) -> tuple[str, ...]:
    """Return the cases of a list: 01, 02, and so on.

    >>> places(3)
    ('01', '02', '03')
    """
    width = max(2, len(str(n_systems)))
    return tuple(f"{place:0{width}d}" for place in range(1, n_systems + 1))


@lru_cache(maxsize=8)
def read_systems(path: Path, form: str) -> tuple[OdeSystem, ...]:
    """Read every system of a file; raise `BadStudy` where an entry is none."""
    try:
        entries: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
        found = tuple(_system(entry, FORMS[form]) for entry in entries)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadStudy(
            f"{path.name} is no list of systems: each needs id, equations, two inits and a box "
            f"({type(error).__name__}: {error})."
        ) from None
    if not found:
        raise BadStudy(f"{path.name} lists no system; give at least one.")
    return found


def _system(entry: Mapping[str, Any], key: str) -> OdeSystem:
    equations = [str(one) for one in entry.get(key) or entry["equations"]]
    names = tuple(f"x_{i}" for i in range(len(equations)))
    laws = {name: given_law(name, text, names) for name, text in zip(names, equations, strict=True)}
    starts = [tuple(map(float, start)) for start in entry["inits"]]
    name = str(entry["id"])
    if len(starts) < 2 or any(len(start) != len(names) for start in starts):
        raise ValueError(f"system {name} has no two starts with a number for each state")
    if name in REPLACED:
        starts[0] = REPLACED[name]
    bounds = cast("Sequence[Sequence[float]]", entry.get("aces_ic_bounds") or entry["ic_bounds"])
    return OdeSystem(
        name, Dynamics(laws), tuple(starts), _box(bounds, len(names)), name in REPLACED
    )


def given_law(state: str, text: str, names: Sequence[str]) -> Law:
    """Return the law that a formula says, with the numbers in it."""
    read = _COTANGENT.sub(r"(cos(\1)/sin(\1))", text.replace("**", "^").replace("Abs(", "abs("))
    try:
        structure = parse(read, names)
    except AlderError as error:
        raise BadStudy(f"`{text}` is no equation: {error}") from None
    return Law(
        structure=structure,
        target=Variable(f"d{state}_dt"),
        variables=tuple(map(Variable, names)),
        coefficients=(),
        covariance=np.zeros((0, 0)),
        residual_df=0,
        noise=Noise(0.0),
        scope=Scope({}),
    )


def _box(bounds: Sequence[Sequence[float]], dim: int) -> tuple[tuple[float, float], ...]:
    """Return a bound for every state; one that is missing is as wide as all others together."""
    box = [(float(low), float(high)) for low, high in bounds[:dim]]
    widest = (min(low for low, _ in box), max(high for _, high in box))
    return tuple(box + [widest] * (dim - len(box)))
