"""The built-in search as a scikit-learn estimator, for people who have a table and no world.

A regressor has no verifier: its law explains the rows it was given and is not admitted. For that,
see `alder.discover`.
"""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from numbers import Number
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from alder.arrays import FloatArray
from alder.equations import Front, candidates, constant_law, front_of, undominated
from alder.errors import BadParameter, MissingExtra
from alder.expr.operators import OPERATORS
from alder.fitting import fit
from alder.fitting.threads import limit_matrix_threads, limit_threads
from alder.records.budget import Budget
from alder.records.effort import THOROUGH, Effort
from alder.records.evidence import Evidence
from alder.records.experiment import Trajectory
from alder.records.grammar import Grammar
from alder.records.law import Law
from alder.records.proposal import Proposal
from alder.records.roles import Roles
from alder.records.variable import Variable

ModelSelection: TypeAlias = Literal["best", "accuracy"]

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator, RegressorMixin  # pyright: ignore[reportMissingTypeStubs]
else:
    try:
        from sklearn.base import BaseEstimator, RegressorMixin
    except ModuleNotFoundError:

        class RegressorMixin:
            """Stands in where scikit-learn is missing, so that the name exists all the same."""

        class BaseEstimator:
            """Stands in where scikit-learn is missing."""

            def __new__(cls, *_args: object, **_named: object) -> Self:
                """Say which extra to install."""
                raise MissingExtra(
                    "LawRegressor needs scikit-learn, which is not installed; "
                    '`pip install "alder[sklearn]"` brings it.'
                )


class LawRegressor(RegressorMixin, BaseEstimator):
    """Find an equation for a column of a table; a scikit-learn estimator.

    The search is deterministic: the same rows give the same law on any number of cores. Its law
    is not admitted by anybody; `alder.discover` holds rows back and verifies.

    Args:
        operators: What a law may be made of, by name; all of them if None.
        max_nodes: The largest law, counted in operators, variables and numbers.
        units: Units by column, the target's under its name ("y" unless the target is a named
            series); columns left out have none.
        model_selection: Which law of the front is `law_`: "best" weighs error against size,
            "accuracy" takes the least error.
        effort: How hard the coefficients of the front are fitted; an `alder.Effort`.
        max_rows: How many rows the search looks at, drawn at random from a larger table.
            Coefficients are fitted to all rows.
        seconds: A guard: the search stops after so long with the best it has. Without it, effort
            is counted, and the law does not depend on the computer.
        n_jobs: Cores; None means one and -1 all of them, as in scikit-learn.
        random_state: Draws the rows of a table larger than `max_rows`, and nothing else.

    Attributes:
        law_: The chosen law, an `alder.Law`.
        equations_: The front of error against size, a tuple of records with `complexity`,
            `loss`, `score`, `text` and `law`, the smallest first.
        n_features_in_: How many columns there were.
        feature_names_in_: Their names, where the table had names. Otherwise laws call the columns
            x0, x1, ...

    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(1.0, 3.0, (60, 2))
    >>> model = LawRegressor(operators=("add", "mul", "pow"), max_nodes=9)
    >>> found = model.fit(X, 3.0 * X[:, 0] / X[:, 1] ** 2)
    >>> found.predict([[2.0, 5.0]]).round(6)
    array([0.24])
    """

    law_: Law
    equations_: Front
    n_features_in_: int
    feature_names_in_: npt.NDArray[np.object_]

    def __init__(  # noqa: PLR0913 (a user's whole request in one call)
        self,
        operators: Sequence[str] | None = None,
        max_nodes: int = 31,
        *,
        units: Mapping[str, str] | None = None,
        model_selection: ModelSelection = "best",
        effort: Effort | None = None,
        max_rows: int = 2000,
        seconds: float | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        """Keep the settings as they are; `fit` looks at them."""
        self.operators = operators
        self.max_nodes = max_nodes
        self.units = units
        self.model_selection = model_selection
        self.effort = effort
        self.max_rows = max_rows
        self.seconds = seconds
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Self:
        """Search for laws of `y` over the columns of `X`, and choose one.

        `X` is an array or a dataframe of finite numbers. `sample_weight` counts rows: a weight of
        two is a row given twice, and a weight of zero a row left out.
        """
        self._require_sound()
        called = getattr(y, "name", None)
        checked, target = _validation().validate_data(
            self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2
        )
        weights = _checked_weights(sample_weight, len(checked))
        rows = _merged(np.column_stack([checked, target]), weights)
        table = self._table(*rows, called)
        with _on_cores(self.n_jobs):
            self.equations_, self.law_ = self._explain(table)
        return self

    def predict(self, X: npt.ArrayLike, index: int | None = None) -> FloatArray:
        """Return what the law says of each row; `index` picks another law of `equations_`."""
        law = self._law(index)
        checked = _validation().validate_data(self, X, dtype=np.float64, reset=False)
        return law.predict(dict(zip(self._names(), np.asarray(checked).T, strict=True)))

    def latex(self, index: int | None = None, *, values: bool = True) -> str:
        """Return the law as LaTeX, with its numbers or with the names of its coefficients."""
        return self._law(index).latex(values=values)

    def sympy(self, index: int | None = None) -> Any:  # noqa: ANN401 - sympy has no types
        """Return the right-hand side of the law as a SymPy expression."""
        return self._law(index).sympy()

    def _law(self, index: int | None) -> Law:
        _validation().check_is_fitted(self)
        return self.law_ if index is None else self.equations_[index].law

    def _names(self) -> tuple[str, ...]:
        named = getattr(self, "feature_names_in_", None)
        if named is not None:
            return tuple(map(str, named))
        return tuple(f"x{i}" for i in range(self.n_features_in_))

    def _require_sound(self) -> None:
        if self.model_selection not in ("best", "accuracy"):
            raise BadParameter(
                f'model_selection is "best" or "accuracy"; got {self.model_selection!r}.'
            )
        if self.max_rows < 2:
            raise BadParameter(f"max_rows must be at least 2; got {self.max_rows}.")

    def _table(self, rows: FloatArray, weights: FloatArray, called: object) -> Evidence:
        """Return the rows as a study of recorded rows would have them."""
        names, units = self._names(), dict(self.units or {})
        target = _free_name(called if isinstance(called, str) and called else "y", names)
        for name in units:
            if name not in (*names, target):
                raise BadParameter(
                    f"`{name}` has a unit but is no column; {', '.join((*names, target))} are."
                )
        grammar = Grammar(
            [Variable(name, unit=units.get(name)) for name in names],
            Variable(target, unit=units.get(target)),
            tuple(OPERATORS) if self.operators is None else tuple(self.operators),
            max_nodes=self.max_nodes,
        )
        columns = dict(zip((*names, target), rows.T, strict=True))
        roles = Roles()
        if len(np.unique(weights)) > 1:
            roles = Roles(weight=_free_name("weight", (*names, target)))
            columns[str(roles.weight)] = weights
        budget = Budget() if self.seconds is None else Budget(seconds=self.seconds)
        return Evidence(grammar, roles, budget, Trajectory(columns))

    def _explain(self, table: Evidence) -> tuple[Front, Law]:
        """Return the front and the chosen law."""
        y = table.rows()[table.grammar.target.name]
        if y.min() == y.max():
            constant = constant_law(table)
            return front_of([constant], table), constant
        found = candidates(_sample(table, self.max_rows, self.random_state))
        laws = [self._fit_law(proposal, table) for proposal in undominated(found)]
        front = front_of(laws, table)
        if self.model_selection == "accuracy":
            return front, min(front, key=lambda one: one.loss).law
        return front, laws[0]

    def _fit_law(self, proposal: Proposal, table: Evidence) -> Law:
        grammar = table.grammar
        return fit(
            proposal,
            table.rows(),
            target=grammar.target,
            variables=grammar.variables,
            weight=table.roles.weight,
            effort=self.effort or THOROUGH,
            floors=grammar.floors,
        ).law


def _sample(
    table: Evidence, max_rows: int, random_state: int | np.random.RandomState | None
) -> Evidence:
    """Return a table of at most so many rows, drawn without replacement."""
    rows = table.rows()
    n_rows = len(rows[table.grammar.target.name])
    if n_rows <= max_rows:
        return table
    rng = _validation().check_random_state(random_state)
    drawn = np.sort(rng.choice(n_rows, max_rows, replace=False))
    chosen = Trajectory({name: column[drawn] for name, column in rows.items()})
    return Evidence(table.grammar, table.roles, table.budget, chosen)


def _checked_weights(sample_weight: npt.ArrayLike | None, n_rows: int) -> FloatArray:
    """Return one finite weight for each row; raise `ValueError` as scikit-learn does."""
    if sample_weight is None:
        return np.ones(n_rows)
    if isinstance(sample_weight, Number):
        sample_weight = np.full(n_rows, sample_weight)
    weights: FloatArray = _validation().check_array(
        sample_weight, dtype=np.float64, ensure_2d=False, input_name="sample_weight"
    )
    if weights.shape != (n_rows,):
        raise ValueError(
            f"Sample weights must be 1D, one for each of {n_rows} rows; their shape is "
            f"{weights.shape}."
        )
    if (weights < 0.0).any() or not weights.any():
        raise ValueError("Sample weights must not be negative, nor all zero.")
    return weights


def _merged(rows: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Put identical rows together, adding their weights, in an order that forgets the given one.

    A row given twice then weighs the same as a row of weight two, to the last digit.
    """
    counted = weights > 0.0
    distinct, places = np.unique(rows[counted], axis=0, return_inverse=True)
    total = np.zeros(len(distinct))
    np.add.at(total, places.ravel(), weights[counted])
    return distinct, total


def _free_name(name: str, taken: Sequence[str]) -> str:
    """Return the name, lengthened until it is no column."""
    while name in taken:
        name += "_"
    return name


@contextmanager
def _on_cores(n_jobs: int | None) -> Generator[None]:
    """Keep fits and matrix products to so many cores."""
    n_cores = int(_untyped("joblib").effective_n_jobs(n_jobs))
    with limit_matrix_threads(n_cores), limit_threads(n_cores):
        yield


def _validation() -> Any:  # noqa: ANN401 - scikit-learn has no types
    return _untyped("sklearn.utils.validation")


def _untyped(module: str) -> Any:  # noqa: ANN401 - scikit-learn and what it brings have no types
    return import_module(module)
