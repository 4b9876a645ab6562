"""A world of recorded rows: nothing can be asked of it."""

from dataclasses import dataclass
from typing import final

import numpy as np

from alder.ports import World
from alder.records.experiment import Pool
from alder.records.grammar import Grammar
from alder.records.roles import Roles
from alder.worlds.offers import Offers
from alder.worlds.unrunnable import Unrunnable

_REFUSAL = "A LogWorld holds recorded rows only and offers no experiment to run."


@final
@dataclass(frozen=True, slots=True)
class LogWorld:
    """A world without experiments, for a study of rows that were recorded before."""

    def bind(self, grammar: Grammar, roles: Roles | None = None) -> World:
        """Return the world as a study sees it: an empty pool."""
        del roles
        columns = {name: np.empty(0) for name in grammar.variable_names}
        nothing = Pool(ids=(), columns=columns, cost=np.empty(0), safe=np.empty(0, dtype=np.bool_))
        return Unrunnable(Offers((), nothing), _REFUSAL)
