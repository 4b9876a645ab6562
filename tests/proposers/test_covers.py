"""Ways to split a law into parts, and in which order they are searched."""

from itertools import combinations

from alder.proposers.search.interactions import Parity, Structure
from alder.proposers.search.pursuit import covers

_NONE = 0.4
"""A chance that says nothing."""


def _structure(names: str, together: dict[tuple[str, str], float], odd: str = "") -> Structure:
    relevant = tuple(names.split())
    pairs = {pair: together.get(pair, _NONE) for pair in combinations(relevant, 2)}
    parity: dict[str, Parity] = {name: "odd" if name in odd.split() else "any" for name in relevant}
    return Structure(relevant, pairs, parity, 1e-4)


def test_sets_that_share_a_variable_are_joined_before_others() -> None:
    surely = {("r", "m1"): 1e-90, ("r", "m2"): 1e-90, ("r", "v"): 1e-90}
    # The pair that a share joins is the surest to be apart: by chance alone it would come last.
    structure = _structure("r v m1 m2", {**surely, ("m1", "m2"): 0.9}, odd="v")
    ordered, n_sure = covers(structure)
    assert ordered[0] == (("r", "v"), ("r", "m1"), ("r", "m2"))
    assert ordered[1] == (("r", "m1", "m2"), ("r", "v"))
    assert n_sure == 2


def test_a_pair_in_doubt_is_joined_first() -> None:
    structure = _structure(
        "r m1 m2 v u", {("r", "m1"): 1e-90, ("r", "m2"): 1e-90, ("v", "u"): 1e-4}
    )
    ordered, n_sure = covers(structure)
    assert ordered[1] == (("v", "u"), ("r", "m1"), ("r", "m2"))
    assert ordered[2] == (("r", "m1", "m2"), ("v",), ("u",))
    assert n_sure == 3


def test_covers_that_make_more_of_the_law_are_not_searched_for_sure() -> None:
    # Joined with m, an odd v leaves a part of m and r behind: more is named than before.
    structure = _structure("r m v", {("r", "m"): 1e-90}, odd="v")
    ordered, n_sure = covers(structure)
    assert ordered == [(("r", "m"), ("v",)), (("r", "m", "v"), ("r", "m"))]
    assert n_sure == 1
