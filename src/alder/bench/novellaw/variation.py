"""The same case made harder: more noise, fewer rows, distractors, other order, other units.

A case is kept or thrown away as the paper has it; variations come afterwards, so that each changes
one thing about the same laws and the same inputs.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from alder.bench.novellaw.cases import ADMISSION_NMSE, NOISE, SHIFT_NMSE, Draw, Kept, make_case
from alder.bench.novellaw.domains import (
    PAPER_FLOORS,
    ROLES,
    TARGET,
    VARIABLES,
    Columns,
    make_grammar,
)
from alder.bench.novellaw.targets import FORM_SETS
from alder.errors import BadStudy
from alder.expr.operators import Floors
from alder.records.grammar import Grammar
from alder.records.variable import Variable
from alder.spelling import suggestion
from alder.verification.criteria import Criteria, Thresholds

OPTIONS: dict[str, Any] = {
    "forms": "a",
    "noise": NOISE,
    "rows": 1.0,
    "distractors": 0,
    "permute": False,
    "rescale": 1.0,
    "admission": "noise",
}
"""The options of the benchmark and their usual values, as the paper has it."""

ADMISSIONS = ("noise", "thresholds")
"""The gates: fixed limits, or consistency with the noise as studies have it by default."""

# Fixed limits grow with the noise, in the proportion they have at the paper's noise.
_ADMISSION_PER_NOISE = ADMISSION_NMSE / NOISE**2
_SHIFT_PER_NOISE = SHIFT_NMSE / NOISE**2
_FEWEST_ROWS = 8
# The chance that the gate refuses a right law. By default it is 2 %, more than one of sixty cases:
# the benchmark would measure that.
_REFUSED_BY_CHANCE = 0.002


@final
@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A case as methods meet it: grammar, rows by role, and the gate.

    `criteria` judge laws of a study, `limits` the predictions of all other methods.
    """

    kept: Kept
    grammar: Grammar
    rows: Mapping[str, Columns]
    criteria: Criteria
    limits: Thresholds

    @property
    def draw(self) -> Draw:
        """The draw behind the case."""
        return self.kept.draw


def varied_case(name: str, settings: Mapping[str, Any]) -> Case:
    """Return a case with the variations the settings ask for."""
    require_sound(settings)
    kept = make_case(name, settings["forms"], settings["seed"])
    rows = {role: kept.draw.rows(role, settings["noise"]) for role in ROLES}
    for role in ("fit", "validation"):
        n_rows = max(round(settings["rows"] * ROLES[role].n_rows), _FEWEST_ROWS)
        rows[role] = {column: values[:n_rows] for column, values in rows[role].items()}
    factor = float(settings["rescale"])
    rng = np.random.default_rng([settings["seed"], kept.draw.place.number, 1])
    variables, rows = _with_distractors(rows, settings["distractors"], rng)
    if settings["permute"]:
        variables = tuple(variables[int(i)] for i in rng.permutation(len(variables)))
    if factor != 1.0:
        rows = {role: {n: factor * x for n, x in columns.items()} for role, columns in rows.items()}
        variables = tuple(Variable(v.name, role=v.role) for v in variables)
    order = [variable.name for variable in variables]
    rows = {
        role: {name: columns[name] for name in (*order, TARGET.name)}
        for role, columns in rows.items()
    }
    # The paper's floors are numbers in its own units; in others they would cut into the laws.
    grammar = make_grammar(variables, PAPER_FLOORS if factor == 1.0 else Floors())
    limits = _limits(float(settings["noise"]))
    by_noise = Criteria(level=_REFUSED_BY_CHANCE)
    criteria = by_noise if settings["admission"] == "noise" else Criteria(thresholds=limits)
    return Case(kept, grammar, rows, criteria, limits)


def _limits(noise: float) -> Thresholds:
    return Thresholds(
        admission_nmse=max(ADMISSION_NMSE, _ADMISSION_PER_NOISE * noise**2),
        shift_nmse=max(SHIFT_NMSE, _SHIFT_PER_NOISE * noise**2),
    )


def _with_distractors(
    rows: Mapping[str, Columns], n_distractors: int, rng: np.random.Generator
) -> tuple[tuple[Variable, ...], dict[str, Columns]]:
    """Add variables named like the others that no target depends on."""
    names = [f"x{i + 1}" for i in range(n_distractors)]
    added = {
        role: {**columns, **{name: rng.uniform(0.5, 1.5, len(columns["r"])) for name in names}}
        for role, columns in rows.items()
    }
    extra = tuple(Variable(name, unit="1", role="property") for name in names)
    return (*VARIABLES, *extra), added


def require_sound(settings: Mapping[str, Any]) -> None:
    """Raise `BadStudy` for a form set, a gate or a factor that is none."""
    for option, known in (("forms", FORM_SETS), ("admission", ADMISSIONS)):
        if settings[option] not in known:
            raise BadStudy(
                f"`--{option} {settings[option]}`: {', '.join(known)} are known."
                f"{suggestion(str(settings[option]), known)}"
            )
    if not 0.0 < float(settings["rescale"]) < np.inf:
        raise BadStudy(f"`--rescale {settings['rescale']}` must be a positive number.")
