"""What to do after a refusal, as data: an instrument, a script or a person may follow it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, TypeAlias, final

Action: TypeAlias = Literal["repeat", "allow", "measure", "explore", "permit", "spend", "correct"]
"""Average repeats; allow operators or nodes; measure another quantity; move variables; permit
experiments; raise the budget; correct the grammar or the proposer. One for each cause."""


@final
@dataclass(frozen=True, slots=True)
class NextStep:
    """One change of a study that may end in an admitted law.

    `operators` are to be allowed, the likeliest first. `variables` are those to move, or to add to
    the grammar, or those along which the rows leave what is refused unexplained. `ranges` are
    where: of variables to move, of experiments to permit, of the region that is not explained.
    `settings` are values of the study by name: `repeats` of every row, `proposals`, `queries` and
    `cost` of the budget, `max_nodes`, `max_depth` and `units` of the grammar, the `proposer`.

    >>> NextStep("repeat", settings={"repeats": 9}).settings["repeats"]
    9
    """

    action: Action
    operators: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    ranges: Mapping[str, tuple[float, float]] = field(
        default_factory=dict[str, tuple[float, float]]
    )
    settings: Mapping[str, float | str] = field(default_factory=dict[str, float | str])

    def __post_init__(self) -> None:
        """Freeze the mappings; ends become a pair of floats."""
        ends = {name: (float(low), float(high)) for name, (low, high) in self.ranges.items()}
        object.__setattr__(self, "ranges", MappingProxyType(ends))
        object.__setattr__(self, "settings", MappingProxyType(dict(self.settings)))
