"""From a world as a user wrote it to a world as a study sees it."""

from typing import Protocol, runtime_checkable

from alder.errors import BadWorld
from alder.ports import World
from alder.records.grammar import Grammar
from alder.records.roles import Roles


@runtime_checkable
class Unbound(Protocol):
    """A world that needs to know the names of variables and target before it can answer."""

    def bind(self, grammar: Grammar, roles: Roles | None = None) -> World:
        """Return the world as a study sees it."""
        ...


def bind(world: object, grammar: Grammar, roles: Roles | None = None) -> World:
    """Give a world the names of the study; one that needs none is returned as it is."""
    if isinstance(world, Unbound):
        return world.bind(grammar, roles)
    if isinstance(world, World):
        return world
    raise BadWorld(
        f"A {type(world).__name__} is no world: it has neither `bind` nor `pool`, `predict` and "
        "`run`. Wrap a function in FunctionWorld, or rows in PoolWorld."
    )
