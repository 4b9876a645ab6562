"""A planted world: everything a study of it needs, and what following advice may change."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, final

from alder.bench.causes.forms import Ends
from alder.bench.causes.truth import Truth
from alder.records.budget import Budget
from alder.records.grammar import UnitCheck
from alder.records.nextstep import NextStep
from alder.records.outcome import Cause

Manner: TypeAlias = Literal["free", "drift", "lag", "batch", "switch"]
"""How a hidden variable goes: new with every row; slowly in time; as a delayed input; one value
for each batch; one of two states."""

Known: TypeAlias = Literal["nothing", "error bars"]
Place: TypeAlias = Literal["admission", "shift"]


@final
@dataclass(frozen=True, slots=True)
class Hidden:
    """A variable of the law that nobody measures, until a sensor is added."""

    name: str
    manner: Manner
    of: str = ""
    measured: bool = False


@final
@dataclass(frozen=True, slots=True)
class Sizes:
    """How many rows there are of each kind."""

    public: int = 96
    pool: int = 48
    protected: int = 120


@final
@dataclass(frozen=True, slots=True)
class Saying:
    """What the grammar allows, and who proposes.

    `scripted` is a proposer that writes the true law as it likes, or prose, whatever is allowed.
    """

    operators: tuple[str, ...]
    max_nodes: int = 27
    max_depth: int = 24
    units: UnitCheck = "absorb"
    undeclared: tuple[str, ...] = ()
    strange_units: bool = False
    proposer: Literal["search", "law", "prose"] = "search"
    declares_ranges: bool = True


@final
@dataclass(frozen=True, slots=True, eq=False)
class Recipe:
    r"""A world with its planted cause and the step that would remove it.

    `noise` is the standard deviation of a single measurement over the spread of the target.
    `narrow` are parts of the domain to which public rows are confined, `tied` two variables that
    public rows move together only; protected rows are spread over the whole domain, as a shift or
    at once. The pool reaches as far as the public rows, or with `wide_pool` everywhere; with
    `guarded` what lies outside the narrow part is not safe, and `ceiling` is the highest target an
    experiment may show. `accuracy` is the NMSE that is asked for; without it the noise decides.
    """

    cause: Cause
    kind: str
    truth: Truth
    words: tuple[int, ...]
    saying: Saying
    remedy: NextStep
    noise: float = 0.02
    proportional: bool = False
    known: Known = "nothing"
    accuracy: float | None = None
    repeats: int = 1
    sizes: Sizes = field(default_factory=Sizes)
    hidden: Hidden | None = None
    narrow: Mapping[str, Ends] = field(default_factory=dict[str, Ends])
    tied: tuple[str, ...] = ()
    wide_pool: bool = False
    guarded: bool = False
    permitted: Mapping[str, Ends] | None = None
    ceiling: float | None = None
    budget: Budget = field(default_factory=lambda: Budget(proposals=3, queries=16, batch=8))
    tested: Place = "admission"
    has_validation: bool = False
    round: int = 0
