"""Identifiers for the leaves of a law: plain ASCII, legal everywhere, never two alike."""

import keyword
import re
import unicodedata
from collections.abc import Iterable, Mapping

from alder.expr.nodes import Param, Var
from alder.records.law import Law

_C_WORDS = """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl concept
    const const_cast constexpr continue decltype default delete do double dynamic_cast else enum
    explicit export extern false float for friend goto if inline int long mutable namespace new
    noexcept not not_eq nullptr operator or or_eq private protected public register
    reinterpret_cast requires restrict return short signed sizeof static static_assert static_cast
    struct switch template this thread_local throw true try typedef typeid typename typeof union
    unsigned using virtual void volatile wchar_t while xor xor_eq linux unix
"""
# What the exported text itself calls or defines.
_OWN_WORDS = """
    math jnp jax sp sympy law law_in_scope in_scope main sat away positive clipped power flushed
    pow exp log sqrt tanh sin cos asin acos atan fabs copysign abs max min sign where float int
    bool Abs Max Min Piecewise Symbol symbols values limits np NAN INFINITY HUGE_VAL errno inside
"""
RESERVED = frozenset((*keyword.kwlist, *keyword.softkwlist, *f"{_C_WORDS}{_OWN_WORDS}".split()))


class Names:
    """Hands out identifiers, each once."""

    def __init__(self, reserved: Iterable[str] = ()) -> None:
        """Begin with the words no identifier may be."""
        self._taken = set(RESERVED) | set(reserved)

    def take(self, wanted: str) -> str:
        """Return the wanted name as an identifier, numbered where it is taken.

        >>> names = Names()
        >>> names.take("r"), names.take("r"), names.take("θ 1"), names.take("2x")
        ('r', 'r_2', 'theta_1', 'x2x')
        """
        stem = _ascii(wanted)
        name, number = stem, 2
        while name in self._taken:
            name, number = f"{stem}_{number}", number + 1
        self._taken.add(name)
        return name


def leaf_names(law: Law, names: Names) -> Mapping[Var | Param, str]:
    """Give every variable and every coefficient of a law its identifier, variables first."""
    leaves: list[Var | Param] = [Var(variable.name) for variable in law.variables]
    leaves += [Param(coefficient.name) for coefficient in law.coefficients]
    return {leaf: names.take(leaf.name) for leaf in leaves}


def _ascii(text: str) -> str:
    plain = "".join(map(_letter, unicodedata.normalize("NFKC", text)))
    plain = re.sub(r"_+", "_", re.sub(r"[^A-Za-z0-9]", "_", plain)).strip("_")
    return plain if plain[:1].isalpha() else f"x{plain}"


def _letter(character: str) -> str:
    """Spell a letter of another alphabet: θ is theta."""
    if character.isascii():
        return character
    words = unicodedata.name(character, "").split()
    if "LETTER" not in words:
        return "_"
    spelled = words[-1] if "WITH" not in words else words[words.index("WITH") - 1]
    return spelled.lower() if "SMALL" in words else spelled.capitalize()
