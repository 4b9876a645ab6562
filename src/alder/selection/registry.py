"""Selectors by name."""

from collections.abc import Callable

from alder.errors import BadStudy
from alder.ports import Selector
from alder.selection.baselines import FarthestPoint, Passive, Random, Uncertainty
from alder.selection.disagreement import Disagreement
from alder.selection.information import Information
from alder.spelling import suggestion

SELECTORS: dict[str, Callable[[], Selector]] = {
    "disagreement": Disagreement,
    "information": Information,
    "random": Random,
    "passive": Passive,
    "coverage": FarthestPoint,
    "uncertainty": Uncertainty,
}


def selector(name: str) -> Selector:
    """Return the selector of that name with its usual settings.

    >>> selector("disagreement")  # doctest: +ELLIPSIS
    Disagreement(...)
    """
    if name not in SELECTORS:
        known = tuple(SELECTORS)
        raise BadStudy(
            f"`{name}` is not a selector; {', '.join(known)} are.{suggestion(name, known)}"
        )
    return SELECTORS[name]()
