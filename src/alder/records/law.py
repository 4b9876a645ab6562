r"""A law in hand: a structure with coefficients, how well they are known, and where it holds."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, final

import numpy as np
import numpy.typing as npt

from alder.arrays import FloatArray, freeze
from alder.errors import BadLawFile, BadParameter, BadTable, MalformedLaw, UnknownVariable
from alder.expr.evaluate import evaluate, jacobian
from alder.expr.latex import to_latex
from alder.expr.loosen import loosen
from alder.expr.nodes import Expr, Var, parameters, variables
from alder.expr.operators import Floors
from alder.expr.symbolic import to_sympy
from alder.expr.text import to_text
from alder.expr.valued import with_values
from alder.records.coefficient import Coefficient, Loss
from alder.records.lawfile import (
    LawParts,
    content_of,
    digest_of,
    from_file,
    to_file,
    write_whole,
)
from alder.records.noise import Noise
from alder.records.rounding import decimals
from alder.records.scope import Scope
from alder.records.tidying import tidied
from alder.records.variable import Variable
from alder.tables import Rows, as_columns, column_names, count_rows

_TIDIED = "numbers"  # the line of the provenance that says a law is tidied


@final
@dataclass(frozen=True, slots=True, eq=False)
class Law:
    """An equation for `target`, immutable, compared by its digest, saved as one JSON file.

    `covariance` is ordered as `coefficients`; `residual_df` is the degrees of freedom behind it.
    `exponents` are literal exponents that were read off the rows; every power with one of them has
    a row of the covariance after the coefficients, so that intervals count what is not known of it.
    `variables` are those the structure uses. For a law of events the value is the log-odds of
    the event. `provenance` is free text about where the law comes from.
    """

    structure: Expr
    target: Variable
    variables: tuple[Variable, ...]
    coefficients: tuple[Coefficient, ...]
    covariance: FloatArray
    residual_df: int
    noise: Noise
    scope: Scope
    floors: Floors = field(default_factory=Floors)
    n_rows: int = 0
    nmse: float = 0.0
    objective: Loss = "squared"
    provenance: Mapping[str, str] = field(default_factory=dict[str, str])
    exponents: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        """Keep the variables that are used; refuse parts that do not belong together."""
        used = variables(self.structure)
        declared = [variable.name for variable in self.variables]
        undeclared = [name for name in used if name not in declared]
        if undeclared:
            raise MalformedLaw(f"The structure uses `{undeclared[0]}`, which is no variable of it.")
        names = [coefficient.name for coefficient in self.coefficients]
        if sorted(names) != sorted(parameters(self.structure)):
            raise MalformedLaw(
                f"The structure has the parameters {', '.join(parameters(self.structure))}; "
                f"the coefficients are {', '.join(names)}."
            )
        n_known = len(names) + len(loosen(self.structure, self.exponents)[1])
        if np.shape(self.covariance) != (n_known, n_known):
            raise MalformedLaw(
                f"The covariance of {n_known} coefficients must be {n_known} by "
                f"{n_known}; its shape is {np.shape(self.covariance)}."
            )
        ranges = {name: ends for name, ends in self.scope.ranges.items() if name in used}
        object.__setattr__(self, "variables", tuple(v for v in self.variables if v.name in used))
        object.__setattr__(self, "scope", Scope(ranges, self.scope.note))
        object.__setattr__(self, "coefficients", tuple(self.coefficients))
        object.__setattr__(self, "covariance", freeze(self.covariance))
        object.__setattr__(self, "provenance", MappingProxyType(dict(self.provenance)))

    @property
    def values(self) -> dict[str, float]:
        """The coefficients as a mapping."""
        return {coefficient.name: coefficient.value for coefficient in self.coefficients}

    @property
    def loosened(self) -> "Law":
        """The same law with a coefficient, zero, for every exponent that was read off the rows.

        What is asked of all that is uncertain about a law is asked of this one.
        """
        structure, names = loosen(self.structure, self.exponents)
        if not names:
            return self
        known = zip(names, self._exponent_errors(), strict=True)
        coefficients = (*self.coefficients, *(self._known_within(n, 0.0, e) for n, e in known))
        return replace(self, structure=structure, coefficients=coefficients, exponents=())

    @property
    def exponent_estimates(self) -> tuple[Coefficient, ...]:
        """The exponents that were read off the rows, and how well those determine them."""
        names = loosen(self.structure, self.exponents)[1]
        known = zip(names, self._exponent_errors(), strict=True)
        return tuple(self._known_within(n, float(n.split()[1]), e) for n, e in known)

    @property
    def digest(self) -> str:
        """SHA-256 of everything the law says, as 64 hexadecimal digits."""
        return digest_of(content_of(self._parts()))

    def __eq__(self, other: object) -> bool:
        """Two laws are equal when they say the same, to the last digit."""
        return isinstance(other, Law) and self.digest == other.digest

    def __hash__(self) -> int:
        """Hash by digest, as equality does."""
        return hash(self.digest)

    def __reduce__(self) -> tuple[Callable[[str], "Law"], tuple[str]]:
        """Copy and pickle a law as its text, which holds every digit."""
        return _read, (self.text(),)

    def predict(self, rows: Rows) -> FloatArray:
        """Return the target for each row: float64 of shape (n,), finite inside and outside scope.

        `rows` is a mapping of columns or scalars, a dataframe, or a record array; columns the law
        does not use are ignored.
        """
        columns, n_rows = self._columns(rows)
        if n_rows == 0:
            return np.zeros(0)
        values = evaluate(self.structure, columns, self.values, self.floors)
        return values if len(values) == n_rows else np.repeat(values, n_rows)

    def predict_interval(
        self, rows: Rows, level: float = 0.95, *, noise: bool = True
    ) -> tuple[FloatArray, FloatArray]:
        r"""Return the lower and upper ends of an interval for each row.

        $$f \pm t_{\nu}\sqrt{J C J^\top + \sigma(f)^2 + s^2 (1 + 1/G)}$$

        $J$ is the derivative of the prediction by the coefficients, $C$ their covariance and
        $\sigma$ the noise of one observation; $s$ is the scatter of the $G$ groups of the fit,
        since the row may come from a new one. Both are left out with `noise=False` and for events.
        $\nu$ is the residual degrees of freedom, infinite where the noise was given, and no more
        than $G - 1$ where groups scatter, which makes the interval rather too wide. A direction in
        which the rows of the fit do not determine the coefficients has no part in $C$: it moves no
        prediction on rows like those. Without degrees of freedom the interval is infinite.
        """
        if not 0.0 < level < 1.0:
            raise BadParameter(f"A level lies between 0 and 1, for example 0.95; got {level}.")
        columns, n_rows = self._columns(rows)
        if n_rows == 0:
            return np.zeros(0), np.zeros(0)
        f, J = self._slopes(columns)
        half = self.quantile(level, noise=noise) * np.sqrt(self._variance(f, J, noise=noise))
        lower, upper = np.broadcast_to([f - half, f + half], (2, n_rows))
        return np.array(lower), np.array(upper)

    def in_scope(self, rows: Rows) -> npt.NDArray[np.bool_]:
        """Say for each row whether every variable lies in the range it was fitted on."""
        columns, n_rows = self._columns(rows)
        return np.broadcast_to(self.scope.contains(columns), (n_rows,)).copy()

    def standard_error(self, rows: Rows) -> FloatArray:
        """Return the standard deviation of each prediction from the coefficients alone."""
        columns, n_rows = self._columns(rows)
        if n_rows == 0:
            return np.zeros(0)
        f, J = self._slopes(columns)
        return np.broadcast_to(np.sqrt(self._variance(f, J, noise=False)), (n_rows,)).copy()

    def tidied(self) -> "Law":
        """Return the law with short decimals and simple fractions where the rows leave room.

        Each lies inside the interval of its coefficient, and all together are as likely; they
        are fixed then, and the other coefficients move with them. `provenance` says so, and such
        a law is tidied no further: its rows were asked once. Without any, it is this law.
        """
        if _TIDIED in self.provenance:
            return self
        coefficients, covariance = tidied(self.coefficients, self.covariance)
        if coefficients == self.coefficients:
            return self
        provenance = {**self.provenance, _TIDIED: "short where the rows leave room"}
        return replace(
            self, coefficients=coefficients, covariance=covariance, provenance=provenance
        )

    def save(self, path: str | Path) -> None:
        """Write the law to one JSON file; the file is either the old one or the whole new one."""
        write_whole(Path(path), self.text())

    def text(self) -> str:
        """Return what `save` writes: the law as JSON, with its digest."""
        return to_file(self._parts())

    @staticmethod
    def load(path: str | Path) -> "Law":
        """Read a saved law; raise `BadLawFile` where the file is not what `save` wrote."""
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            raise BadLawFile(
                f"There is no file {path.name}; `alder fit ... --out {path.name}` makes one."
            ) from None
        except (OSError, UnicodeDecodeError):
            raise BadLawFile(f"{path.name} cannot be read as text in UTF-8.") from None
        try:
            return Law(**from_file(text, path.name))
        except MalformedLaw as error:
            raise BadLawFile(f"{path.name} does not hold a law: {error}") from None

    def __str__(self) -> str:
        """Write the equation with its numbers, each rounded to what is known of it."""
        names = [variable.name for variable in self.variables]
        return f"{self.target.name} = {to_text(self._rounded(), names)}"

    def latex(self, *, values: bool = False) -> str:
        """Return the equation as LaTeX, with names or with rounded values of the coefficients."""
        structure = self._rounded() if values else self.structure
        return f"{to_latex(Var(self.target.name))} = {to_latex(structure)}"

    def sympy(self, *, values: bool = True) -> Any:  # noqa: ANN401 - sympy has no types
        """Return the right-hand side as a SymPy expression, in the sense of mathematics."""
        return to_sympy(
            with_values(self.structure, self.values) if values else self.structure,
        )

    def _parts(self) -> LawParts:
        return LawParts(
            structure=self.structure,
            target=self.target,
            variables=self.variables,
            coefficients=self.coefficients,
            covariance=self.covariance,
            residual_df=self.residual_df,
            noise=self.noise,
            scope=self.scope,
            floors=self.floors,
            n_rows=self.n_rows,
            nmse=self.nmse,
            objective=self.objective,
            provenance=self.provenance,
            exponents=self.exponents,
        )

    def _rounded(self) -> Expr:
        rounded = {
            c.name: round(c.value, decimals(c.value, (c.upper - c.lower) / 2.0))
            for c in self.coefficients
        }
        return with_values(self.structure, rounded)

    def _columns(self, rows: Rows) -> tuple[Mapping[str, FloatArray], int]:
        """Return the columns the law uses and the number of rows."""
        given = column_names(rows)
        for variable in self.variables:
            if variable.name not in given:
                raise UnknownVariable(self._needs(variable))
        names = [variable.name for variable in self.variables]
        columns = as_columns(rows, names)
        n_rows = len(columns[names[0]]) if names else count_rows(rows)
        incomplete = np.zeros(n_rows, dtype=np.bool_)
        for column in columns.values():
            incomplete |= np.isnan(column)
        if incomplete.any():
            raise BadTable(
                f"{int(incomplete.sum())} of {n_rows} rows miss a value of {' or '.join(names)}; "
                f"the first is row {int(np.argmax(incomplete)) + 1}. Leave those rows out."
            )
        return columns, n_rows

    def _needs(self, variable: Variable) -> str:
        unit = f" ({variable.unit})" if variable.unit else ""
        sentence = f"The law needs {variable.name}{unit}; it was not given."
        if variable.name in self.scope.ranges:
            low, high = self.scope.ranges[variable.name]
            sentence += f" Its range is {low:g} to {high:g}"
            sentence += f" {variable.unit}." if variable.unit else "."
        return sentence

    def _exponent_errors(self) -> list[float]:
        variances = np.diag(self.covariance)[len(self.coefficients) :]
        return np.sqrt(np.maximum(variances, 0.0)).tolist()

    def _known_within(self, name: str, value: float, error: float) -> Coefficient:
        half = self.quantile() * error
        return Coefficient(name, value, error, value - half, value + half, "free")

    def _slopes(self, columns: Mapping[str, FloatArray]) -> tuple[FloatArray, FloatArray]:
        """Return values (n) and their derivatives by all that is uncertain (n, k)."""
        law = self.loosened
        names = [coefficient.name for coefficient in law.coefficients]
        return jacobian(law.structure, columns, law.values, names, law.floors)

    def _variance(self, f: FloatArray, J: FloatArray, *, noise: bool) -> FloatArray:
        C = np.where(np.isfinite(self.covariance), self.covariance, 0.0)
        with np.errstate(over="ignore", invalid="ignore"):
            variance = np.einsum("ij,jk,ik->i", J, C, J)
            if noise and self.objective == "squared":
                variance = variance + np.square(self.noise.sigma(f)) + self.noise.new_group**2
        return np.where(np.isnan(variance), np.inf, np.maximum(variance, 0.0))

    def quantile(self, level: float = 0.95, *, noise: bool = False) -> float:
        """Return how many standard deviations hold a share `level`: Student's, or Gauss's.

        With `noise` those of an observation, whose group is one of few.
        """
        from scipy.special import ndtri, stdtrit  # pyright: ignore[reportMissingTypeStubs]

        df = float("inf") if self.noise.origin == "given" else float(self.residual_df)
        if noise and self.noise.between > 0.0:
            df = min(df, self.noise.n_groups - 1.0)
        if df == float("inf"):
            return float(ndtri(0.5 + level / 2.0))
        return float(stdtrit(df, 0.5 + level / 2.0)) if df > 0.0 else float("inf")


def _read(text: str) -> Law:
    """Read what `Law.text` returns."""
    return Law(**from_file(text, "law"))
