"""What a world offers: experiments with their settings, cost and safety, checked once."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, TypeAlias, cast, final

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.errors import BadTable, BadWorld
from alder.prediction import predict_rows
from alder.records.experiment import Experiment, Pool, Setting
from alder.records.grammar import Grammar
from alder.records.law import Law
from alder.spelling import printable, suggestion
from alder.tables import Rows, as_columns, column_names, count_rows
from alder.worlds.guard import reason_of

Settings: TypeAlias = dict[str, Setting]
Experiments: TypeAlias = Sequence[Mapping[str, Setting]] | Rows
Cost: TypeAlias = Callable[[Settings], float] | npt.ArrayLike | None
Safety: TypeAlias = Callable[[Settings], bool] | npt.ArrayLike | None

# A setting written with the 15 digits of a decimal file is still the setting that was offered.
_EDGE = 1e-12


@final
@dataclass(frozen=True, slots=True, eq=False)
class Offers:
    """Every experiment of a world: its settings as the user wrote them, and as columns."""

    settings: Sequence[Settings]
    pool: Pool

    def __len__(self) -> int:
        """Count the experiments."""
        return len(self.settings)

    def require_variables(self, grammar: Grammar) -> None:
        """Refuse experiments that hide a variable, show the target, or leave a declared range."""
        columns = self.pool.columns
        if grammar.target.name in columns:
            raise BadWorld(
                f"`{grammar.target.name}` is the target and also a setting of the experiments; "
                "outcomes stay hidden until an experiment is run, so leave that column out."
            )
        for variable in grammar.variables:
            if variable.name not in columns:
                raise BadWorld(
                    f"`{variable.name}` is a variable of the grammar but no numeric setting of "
                    f"the experiments; {', '.join(columns) or 'none'} are."
                    f"{suggestion(variable.name, tuple(columns))}"
                )
            if variable.range is not None:
                self._require_range(variable.name, variable.range)

    def _require_range(self, name: str, ends: tuple[float, float]) -> None:
        low, high = ends
        slack = _EDGE * max(abs(low), abs(high))
        column = self.pool.columns[name]
        outside = (column < low - slack) | (column > high + slack)
        if outside.any():
            i = int(np.argmax(outside))
            raise BadWorld(
                f"Experiment {self.pool.ids[i]} sets {name} = {column[i]:g}, outside its range "
                f"{low:g} to {high:g}; widen the range or leave the experiment out."
            )

    def rows_to_run(self, experiments: Sequence[Experiment]) -> NDArray[np.intp]:
        """Return the numbers of experiments that may be run; refuse the others in a sentence."""
        numbers = {name: i for i, name in enumerate(self.pool.ids)}
        rows: list[int] = []
        for experiment in experiments:
            row = numbers.get(experiment.id)
            if row is None:
                raise BadWorld(
                    f"There is no experiment {printable(experiment.id)} in this world; it offers "
                    f"{len(self)}. Take experiments from its pool."
                )
            if row in rows:
                raise BadWorld(
                    f"Experiment {experiment.id} was asked for twice in one batch; ask once."
                )
            if not self.pool.safe[row]:
                raise BadWorld(
                    f"Experiment {experiment.id} is marked as unsafe and is never run; "
                    "choose among the safe ones."
                )
            self._require_offered(experiment, row)
            rows.append(row)
        return np.array(rows, dtype=np.intp)

    def _require_offered(self, experiment: Experiment, row: int) -> None:
        """Refuse settings that are not those of the offered experiment of this name."""
        for name, value in experiment.settings.items():
            offered = self.settings[row].get(name)
            if offered is None or not _same(offered, value):
                raise BadWorld(
                    f"Experiment {experiment.id} asks for {name} = {value}, but this world offers "
                    f"it with {name} = {offered}; take experiments from its pool."
                )

    def predict(self, law: Law, experiments: NDArray[np.intp]) -> FloatArray:
        """Return what a law says about experiments of one row each, (experiments, 1)."""
        if not law.variables:
            return np.full((len(experiments), 1), float(law.predict({"": 0.0})[0]))
        columns = self.pool.columns
        return predict_rows(law, {v.name: columns[v.name][experiments] for v in law.variables})[
            :, None
        ]


def _same(offered: Setting, asked: Setting) -> bool:
    if isinstance(offered, str) or isinstance(asked, str):
        return offered == asked
    return math.isclose(offered, asked, rel_tol=_EDGE)


def make_offers(experiments: Experiments, *, cost: Cost = None, safe: Safety = None) -> Offers:
    """Check experiments given as dicts or as columns, and what they cost and whether they are safe.

    >>> make_offers({"r": [1, 2]}, cost=[1.0, 3.0]).pool.experiment(1)
    Experiment(id='e2', settings=mappingproxy({'r': 2.0}), cost=3.0)
    """
    settings = _as_settings(experiments)
    if not settings:
        raise BadWorld(
            "The world offers no experiment; give at least one, or use LogWorld for rows alone."
        )
    n = len(settings)
    pool = Pool(
        ids=tuple(f"e{i + 1}" for i in range(n)),
        columns=_numeric_columns(settings),
        cost=_costs(cost, settings),
        safe=_safety(safe, settings),
    )
    return Offers(settings, pool)


def with_pool_columns(offers: Offers, columns: Mapping[str, FloatArray]) -> Offers:
    """Return the offers with other columns for selectors to look at."""
    return replace(offers, pool=replace(offers.pool, columns=columns))


def _as_settings(experiments: Experiments) -> tuple[Settings, ...]:
    if isinstance(experiments, Sequence) and not isinstance(experiments, str | bytes):
        return _from_dicts(cast("Sequence[object]", experiments))
    try:
        columns = as_columns(experiments)
        named, n = column_names(experiments), count_rows(experiments)
    except BadTable as error:
        raise BadWorld(f"The experiments cannot be read: {error}") from None
    if not named:
        return ()
    if isinstance(experiments, Mapping):  # keep text and whole numbers as they were written
        written = cast("Mapping[str, object]", experiments)
        raw = {name: _cells(name, written[name], n) for name in named}
    else:
        raw = {name: column.tolist() for name, column in columns.items()}
    return tuple({name: cells[i] for name, cells in raw.items()} for i in range(n))


def _cells(name: str, column: object, n: int) -> list[Setting]:
    cells = cast("list[Setting]", np.asarray(column).ravel().tolist())
    if len(cells) not in (1, n):
        raise BadWorld(
            f"The columns of the experiments must have one length; `{name}` has {len(cells)} "
            f"values and another column has {n}."
        )
    return cells if len(cells) == n else cells * n


def _from_dicts(experiments: Sequence[object]) -> tuple[Settings, ...]:
    names: set[str] | None = None
    settings: list[Settings] = []
    for i, experiment in enumerate(experiments):
        if not isinstance(experiment, Mapping):
            raise BadWorld(
                f"Experiment {i + 1} is a {type(experiment).__name__}; each experiment is a dict "
                'of settings, for example {"r": 1.5, "u": 0.2}.'
            )
        one = cast("Mapping[str, Setting]", experiment)
        names = set(one) if names is None else names
        if set(one) != names:
            odd = sorted(set(one) ^ names)[0]
            raise BadWorld(
                f"Experiments must have the same settings; `{odd}` is in some and not in "
                f"experiment {i + 1 if odd not in one else 1}."
            )
        settings.append({name: _plain(value) for name, value in one.items()})
    return tuple(settings)


def _plain(value: object) -> Setting:
    """Turn a numpy scalar into Python's own."""
    return cast("Setting", value.item() if isinstance(value, np.generic) else value)


def _numeric_columns(settings: Sequence[Settings]) -> dict[str, FloatArray]:
    columns: dict[str, FloatArray] = {}
    for name in settings[0]:
        cells = [one[name] for one in settings]
        if all(isinstance(cell, str) for cell in cells):
            continue  # text is for the plant alone; laws and selectors see numbers
        for i, cell in enumerate(cells):
            if not isinstance(cell, Real) or not math.isfinite(float(cell)):
                raise BadWorld(
                    f"Experiment {i + 1} has {name} = {printable(str(cell))}; a setting is a "
                    "finite number."
                )
        columns[name] = np.array(cells, dtype=np.float64)
    return columns


def _costs(cost: Cost, settings: Sequence[Settings]) -> FloatArray:
    if cost is None:
        return np.ones(len(settings))
    values = _per_experiment("cost", cost, settings)
    try:
        costs = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadWorld("cost must give one number for each experiment.") from None
    bad = ~(np.isfinite(costs) & (costs >= 0.0))
    if bad.any():
        i = int(np.argmax(bad))
        raise BadWorld(
            f"Experiment {i + 1} costs {costs[i]:g}; a cost is a finite number, not negative."
        )
    return costs


def _safety(safe: Safety, settings: Sequence[Settings]) -> NDArray[np.bool_]:
    if safe is None:
        return _frozen(np.ones(len(settings), dtype=np.bool_))
    values = _per_experiment("safe", safe, settings)
    for i, value in enumerate(values):
        if value not in (True, False):
            raise BadWorld(
                f"Experiment {i + 1} has safety {printable(str(value))}; it is True or False."
            )
    return _frozen(np.array([bool(value) for value in values], dtype=np.bool_))


def _frozen(flags: NDArray[np.bool_]) -> NDArray[np.bool_]:
    flags.setflags(write=False)
    return flags


def _per_experiment(name: str, source: object, settings: Sequence[Settings]) -> list[Any]:
    """Ask a callable about each experiment, or read an array of one value for each."""
    if callable(source):
        values: list[Any] = []
        for i, one in enumerate(settings):
            try:
                values.append(_plain(source(dict(one))))
            except Exception as error:  # noqa: BLE001 (user code; the sentence names the place)
                raise BadWorld(
                    f"{name} of experiment {i + 1} could not be computed: {reason_of(error)}."
                ) from None
        return values
    values = np.asarray(source, dtype=object).ravel().tolist()
    if len(values) != len(settings):
        raise BadWorld(
            f"{name} has {len(values)} values for {len(settings)} experiments; give one for each."
        )
    return values
