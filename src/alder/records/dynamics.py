r"""Equations of motion in hand: one law for the rate of each state, saved as one JSON file."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias, cast, final

import numpy as np
import numpy.typing as npt

from alder.arrays import FloatArray
from alder.errors import AlderError, BadLawFile, BadTable, MalformedLaw, UnknownVariable
from alder.expr.canonical import complexity
from alder.expr.evaluate import evaluate
from alder.expr.latex import name_latex, to_latex
from alder.expr.nodes import Expr, parameters, variables
from alder.expr.operators import Floors
from alder.expr.scalar import AtPoint, at_point
from alder.expr.text import parse, to_text
from alder.integration import SATURATION, solve
from alder.records.law import Law
from alder.records.lawfile import digest_of, parts_of, write_whole
from alder.records.scope import Scope
from alder.records.shared import shared_terms
from alder.tables import Rows, as_columns, count_rows, require_columns

SCHEMA = "alder/dynamics/1"

Input: TypeAlias = float | Callable[[float], float] | npt.ArrayLike
"""What acts from outside: a constant, a function of the time, or a value from each time on."""

_Held: TypeAlias = Callable[[float], float] | FloatArray

# Times nearer to each other than this share of the delay are the same, but for rounding.
_SLACK = 1e-6


@final
@dataclass(frozen=True, slots=True, eq=False)
class Dynamics:
    r"""The equations of motion of a system, $\dot s = f_s(x, u)$ for each state $s$.

    `laws` maps a state to the law of its rate. `known` holds rates that were given rather than
    found: a law, or a formula of states and inputs without parameters, such as `{"x": "v"}`.
    `delay` is the dead time of the inputs: what acts at $t$ is $u(t - \text{delay})$. `horizon` is
    the longest time for which a verifier followed the equations from a start, None where none did.
    Immutable, compared by digest.
    """

    laws: Mapping[str, Law]
    known: Mapping[str, str | Law] = field(default_factory=dict[str, "str | Law"])
    delay: float = 0.0
    horizon: float | None = None

    def __post_init__(self) -> None:
        """Freeze the mappings; refuse a state with two rates, formulas and times that are none."""
        twice = [name for name in self.known if name in self.laws]
        if twice:
            raise MalformedLaw(f"`{twice[0]}` has a law and a known rate; give one of the two.")
        if not (self.laws or self.known):
            raise MalformedLaw("Dynamics need at least one state; give the law of its rate.")
        _require_times(self.delay, self.horizon)
        object.__setattr__(self, "delay", float(self.delay))
        if self.horizon is not None:
            object.__setattr__(self, "horizon", float(self.horizon))
        object.__setattr__(self, "laws", MappingProxyType(dict(self.laws)))
        object.__setattr__(self, "known", MappingProxyType(dict(self.known)))
        for state, rate in self.known.items():
            if isinstance(rate, str):
                _formula(state, rate)

    @property
    def states(self) -> tuple[str, ...]:
        """The names of the states: those with a law, then those whose rate is known."""
        return (*self.laws, *self.known)

    @property
    def inputs(self) -> tuple[str, ...]:
        """What the rates need beside the states."""
        used = [name for state in self.states for name in variables(self._structure(state))]
        return tuple(dict.fromkeys(name for name in used if name not in self.states))

    @property
    def complexity(self) -> int:
        """The nodes of all normal forms together; how the rates are written does not matter."""
        return sum(complexity(self._structure(state)) for state in self.states)

    @property
    def shared(self) -> tuple[str, ...]:
        """What the laws of two rates have in common, up to a number, one sentence each."""
        return shared_terms(self._laws())

    @property
    def digest(self) -> str:
        """SHA-256 of everything the dynamics say, as 64 hexadecimal digits."""
        return digest_of(self._content())

    def __eq__(self, other: object) -> bool:
        """Two are equal when they say the same, to the last digit."""
        return isinstance(other, Dynamics) and self.digest == other.digest

    def __hash__(self) -> int:
        """Hash by digest, as equality does."""
        return hash(self.digest)

    def __reduce__(self) -> tuple[Callable[[str], "Dynamics"], tuple[str]]:
        """Copy and pickle as text, which holds every digit."""
        return Dynamics.read, (self.text(),)

    def __str__(self) -> str:
        """Write one equation a line, numbers rounded to what is known of them; then a dead time."""
        late = [f"inputs act {self.delay:.6g} later"] if self.delay > 0.0 else []
        return "\n".join([*map(self._line, self.states), *late])

    def latex(self, *, values: bool = False) -> str:
        """Return the equations as LaTeX, aligned at their equal signs."""
        lines = [
            rf"\dot{{{name_latex(state)}}} &= {self._latex(state, values=values)}"
            for state in self.states
        ]
        if self.delay > 0.0:
            lines.append(rf"& \text{{inputs act {self.delay:.6g} later}}")
        return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"

    def rates(self, rows: Rows) -> dict[str, FloatArray]:
        """Return how fast each state changes, for each row; finite for finite rows.

        Inputs are those that act at that time, also where they were sent a delay before.
        """
        names = (*self.states, *self.inputs)
        require_columns(names, tuple(as_columns(rows)))
        columns, n = as_columns(rows, names), count_rows(rows)
        found = {state: evaluate(*self._parts(state, columns)) for state in self.states}
        return {s: np.broadcast_to(value, (n,)).copy() for s, value in found.items()}

    def in_scope(self, rows: Rows) -> npt.NDArray[np.bool_]:
        """Say for each row whether every law has seen its variables in that range."""
        inside = np.ones(count_rows(rows), dtype=np.bool_)
        for law in self._laws().values():
            inside &= law.in_scope(rows)
        return inside

    @property
    def scope(self) -> Scope:
        """The box in which every law has seen its variables."""
        box: dict[str, tuple[float, float]] = {}
        for law in self._laws().values():
            for name, (low, high) in law.scope.ranges.items():
                before = box.get(name, (low, high))
                box[name] = (max(low, before[0]), min(high, before[1]))
        return Scope(box)

    @property
    def equations(self) -> dict[str, tuple[Expr, dict[str, float], Floors]]:
        """The structure of each rate, its coefficients and its floors."""
        parts = {state: self._parts(state, {}) for state in self.states}
        return {state: (part[0], part[2], part[3]) for state, part in parts.items()}

    def rollout(
        self,
        start: Mapping[str, float],
        times: npt.ArrayLike,
        inputs: Mapping[str, Input] | None = None,
    ) -> dict[str, FloatArray]:
        r"""Follow the equations from a start; return every state at every time.

        `times` go up, and the start is the state at the first. The solver is fixed, so that a
        system and its law are followed alike: DOP853, or Radau where that is stiff, relative
        tolerance $10^{-10}$, a bounded number of steps. From where a solution diverges, or
        meets a pole, its states are held at $\pm 10^{100}$: results are finite.

        `inputs` says what is done from outside; values in an array are held from their time to the
        next. With a `delay` what acts at a time is what was done that much before: a function is
        asked about times before the first too, a constant has always been there, and of an array
        the first value has.
        """
        t = _times(times)
        require_columns(self.states, tuple(start), where="the start")
        x = np.array([float(start[state]) for state in self.states])
        joints, held = self._arriving(t, self._inputs(inputs or {}, t))
        path = self._follow(x, joints, held)[np.searchsorted(joints, t)]
        return {state: path[:, i] for i, state in enumerate(self.states)}

    def tidied(self) -> "Dynamics":
        """Return the equations with short numbers where the rows leave room; see `Law.tidied`."""
        return replace(self, laws={state: law.tidied() for state, law in self.laws.items()})

    def save(self, path: str | Path) -> None:
        """Write one JSON file; it is either the old one or the whole new one."""
        write_whole(Path(path), self.text())

    def text(self) -> str:
        """Return what `save` writes: all laws as JSON, with the digest of the whole."""
        content = self._content()
        file = {"schema": SCHEMA, "digest": digest_of(content), **content}
        return json.dumps(file, indent=1, allow_nan=False) + "\n"

    @staticmethod
    def load(path: str | Path) -> "Dynamics":
        """Read saved dynamics; raise `BadLawFile` where the file is not what `save` wrote."""
        path = Path(path)
        try:
            return Dynamics.read(path.read_text(encoding="utf-8"), path.name)
        except FileNotFoundError:
            raise BadLawFile(f"There is no file {path.name}.") from None
        except (OSError, UnicodeDecodeError):
            raise BadLawFile(f"{path.name} cannot be read as text in UTF-8.") from None

    @staticmethod
    def read(text: str, name: str = "The file") -> "Dynamics":
        """Read what `text` returns; raise `BadLawFile` where it is something else."""
        try:
            file = cast("dict[str, Any]", json.loads(text))
            if file.get("schema") != SCHEMA:
                raise BadLawFile(
                    f"{name} holds no dynamics; a file of `Dynamics.save` is expected."
                )
            laws = {state: Law(**parts_of(law)) for state, law in file["laws"].items()}
            known = {
                state: rate if isinstance(rate, str) else Law(**parts_of(rate))
                for state, rate in file["known"].items()
            }
            found = Dynamics(laws, known, file.get("delay", 0.0), file.get("horizon"))
        except BadLawFile:
            raise
        except (AlderError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise BadLawFile(f"{name} does not follow {SCHEMA}; save the dynamics again.") from None
        content = {key: value for key, value in file.items() if key != "digest"}
        if not found.digest == digest_of(content) == file.get("digest"):
            raise BadLawFile(
                f"{name} was changed after it was saved: its content does not match its digest."
            )
        return found

    def _follow(
        self,
        x: FloatArray,
        t: FloatArray,
        held: Mapping[str, _Held],
    ) -> FloatArray:
        """Solve at one go, or from sample to sample where an input jumps."""
        rates, names = self._scalar(), tuple(held)
        jumps = any(not callable(value) for value in held.values())

        def slope(k: int) -> Callable[[float, FloatArray], FloatArray]:
            def f(time: float, state: FloatArray) -> FloatArray:
                around = [_at(held[name], time, k) for name in names]
                point = [*np.clip(state, -SATURATION, SATURATION).tolist(), *around]
                return np.array([rate(point) for rate in rates])

            return f

        if not jumps:
            return _filled(solve(slope(0), x, t), t)
        path = [x]
        for k in range(len(t) - 1):
            reached = solve(slope(k), path[-1], t[k : k + 2])
            if len(reached) < 2:
                break
            path.append(reached[1])
        return _filled(np.array(path), t)

    def _arriving(
        self, t: FloatArray, held: Mapping[str, _Held]
    ) -> tuple[FloatArray, dict[str, _Held]]:
        """Return the times to solve between, and the inputs as they arrive, after the delay."""
        if self.delay == 0.0:
            return t, dict(held)
        joints, slack = t, _SLACK * self.delay + 4.0 * float(np.spacing(np.abs(t).max()))
        if not all(map(callable, held.values())):
            late = t + self.delay
            nearest = t[np.searchsorted((t[1:] + t[:-1]) / 2.0, late)]
            joints = np.union1d(t, late[(late < t[-1]) & (np.abs(late - nearest) > slack)])
        sent = np.maximum(np.searchsorted(t, joints - self.delay + slack, side="right") - 1, 0)
        return joints, {
            name: _postponed(value, self.delay) if callable(value) else value[sent]
            for name, value in held.items()
        }

    def _scalar(self) -> list[AtPoint]:
        names = (*self.states, *self.inputs)
        found: list[AtPoint] = []
        for state in self.states:
            structure, _, values, floors = self._parts(state, {})
            found.append(at_point(structure, names, values, floors))
        return found

    def _inputs(self, given: Mapping[str, Input], t: FloatArray) -> dict[str, _Held]:
        require_columns(self.inputs, tuple(given), where="the inputs")
        held: dict[str, _Held] = {}
        for name in self.inputs:
            value = given[name]
            if callable(value):
                held[name] = value
                continue
            column = np.asarray(value, dtype=np.float64)
            if column.ndim and column.shape != t.shape:
                raise BadTable(
                    f"The input `{name}` has {column.size} values for {len(t)} times; give one for "
                    "each time, a constant, or a function of the time."
                )
            held[name] = column if column.ndim else _constant(float(column))
        return held

    def _laws(self) -> dict[str, Law]:
        given = {s: rate for s, rate in self.known.items() if isinstance(rate, Law)}
        return {**self.laws, **given}

    def _structure(self, state: str) -> Expr:
        return self._parts(state, {})[0]

    def _parts(
        self, state: str, columns: Mapping[str, FloatArray]
    ) -> tuple[Expr, Mapping[str, FloatArray], dict[str, float], Floors]:
        """Return what `evaluate` needs for the rate of one state."""
        rate = self.laws.get(state) or self.known[state]
        if isinstance(rate, str):
            return _formula(state, rate), columns, {}, Floors()
        return rate.structure, columns, rate.values, rate.floors

    def _line(self, state: str) -> str:
        rate = self.laws.get(state) or self.known[state]
        if isinstance(rate, Law):
            return str(rate)
        return f"d{state}_dt = {to_text(_formula(state, rate))}"

    def _latex(self, state: str, *, values: bool) -> str:
        rate = self.laws.get(state) or self.known[state]
        if isinstance(rate, Law):
            return rate.latex(values=values).partition(" = ")[2]
        return to_latex(_formula(state, rate))

    def _content(self) -> dict[str, Any]:
        known = {
            state: rate if isinstance(rate, str) else _law_content(rate)
            for state, rate in self.known.items()
        }
        laws = {state: _law_content(law) for state, law in self.laws.items()}
        # Only where they are known, so that dynamics from before keep their digests.
        times = {"delay": self.delay} if self.delay != 0.0 else {}
        times |= {} if self.horizon is None else {"horizon": self.horizon}
        told = {"schema": SCHEMA, "states": list(self.states), "laws": laws, "known": known}
        return {**told, **times}


def _constant(value: float) -> Callable[[float], float]:
    return lambda _time: value


def _postponed(value: Callable[[float], float], delay: float) -> Callable[[float], float]:
    return lambda time: value(time - delay)


def _require_times(delay: float, horizon: float | None) -> None:
    if not 0.0 <= delay < np.inf:
        raise MalformedLaw(f"A delay is a time, zero or above; got {delay}.")
    if horizon is not None and not 0.0 < horizon < np.inf:
        raise MalformedLaw(f"A horizon is a time above zero, or None; got {horizon}.")


def _at(value: _Held, time: float, sample: int) -> float:
    return float(value(time)) if callable(value) else float(value[sample])


def _times(times: npt.ArrayLike) -> FloatArray:
    t = np.asarray(times, dtype=np.float64).ravel()
    if not (len(t) and np.isfinite(t).all() and (np.diff(t) > 0.0).all()):
        raise BadTable("The times of a rollout are finite numbers that go up; got others.")
    return t


def _filled(path: FloatArray, t: FloatArray) -> FloatArray:
    """Hold what diverged at the saturation, with the sign it had."""
    if len(path) == len(t):
        return path
    last = np.where(path[-1] < 0.0, -SATURATION, SATURATION)
    return np.vstack([path, np.tile(last, (len(t) - len(path), 1))])


def _formula(state: str, text: str) -> Expr:
    """Read a known rate; every name in it is a state or an input."""
    names = _names_in(text)
    expr = parse(text, names)
    if parameters(expr):
        raise MalformedLaw(f"The known rate of `{state}` has a free parameter in `{text}`.")
    return expr


def _names_in(text: str) -> tuple[str, ...]:
    """Return every name of a formula: read with none declared, all of them are parameters."""
    try:
        expr = parse(text, ())
    except UnknownVariable:
        return ()
    return (*parameters(expr), *variables(expr))


def _law_content(law: Law) -> dict[str, Any]:
    return cast("dict[str, Any]", json.loads(law.text()))
