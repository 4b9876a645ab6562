"""Whether one budget allows more than another."""

from collections.abc import Mapping

_LIMITS = ("proposals", "queries", "cost", "seconds", "tokens", "money")


def is_larger(new: Mapping[str, object], old: Mapping[str, object] | None) -> bool:
    """Say whether a budget lowers no limit and raises one; None is no limit, as for tokens.

    >>> is_larger({"proposals": 5, "tokens": 10}, {"proposals": 4, "tokens": 10})
    True
    >>> is_larger({"proposals": 5, "tokens": 10}, {"proposals": 4, "tokens": None})
    False
    """
    if old is None:
        return True
    pairs = [(_limit(new.get(name)), _limit(old.get(name))) for name in _LIMITS]
    return all(a >= b for a, b in pairs) and any(a > b for a, b in pairs)


def _limit(value: object) -> float:
    return float(value) if isinstance(value, int | float) else float("inf")
