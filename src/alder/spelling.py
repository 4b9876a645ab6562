"""Names somebody typed: shown safely, compared with the names that exist."""

import unicodedata
from collections.abc import Sequence
from difflib import get_close_matches

_LONGEST_SHOWN = 60
_LONGEST_COMPARED = 60
# difflib takes some 10 us a pair, and a check may ask for twenty suggestions within 50 ms.
_MOST_COMPARED = 24

# Letters of other alphabets that most fonts draw like a Latin one; Unicode's compatibility form
# already maps full-width and mathematical letters.
_LOOKALIKES = str.maketrans(
    "аеорсухіјѕһԁԛԝѵӏАВЕКМНОРСТУХІЈЅԌԚԜαικνορτυχωΑΒΕΖΗΙΚΜΝΟΡΤΥΧıɑɡ‐‑‒–—−",
    "aeopcyxijshdqwvlABEKMHOPCTYXIJSGQWaikvoptuxwABEZHIKMNOPTYXiag------",
)


def printable(text: str, limit: int = _LONGEST_SHOWN) -> str:
    r"""Shorten a text and escape what a terminal or a UTF-8 file could not hold.

    >>> printable("a\x1b[2J")
    'a\\x1b[2J'
    """
    shown = text[:limit]
    if not shown.isprintable():
        shown = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in shown)
    return shown + "..." if len(text) > limit else shown


def listed(names: Sequence[str]) -> str:
    """List names with their verb.

    >>> listed(["x", "v"]), listed(["x"]), listed([])
    ('x, v are', 'x is', 'none is')
    """
    return f"{', '.join(names) or 'none'} {'are' if len(names) > 1 else 'is'}"


def suggestion(name: str, known: Sequence[str]) -> str:
    """Return a sentence that names the nearest known name, or nothing.

    >>> suggestion("lenght", ["length", "mass"])
    ' Did you mean `length`?'
    >>> suggestion("а", ["a", "b"])
    ' `а` (CYRILLIC SMALL LETTER A) looks like `a`; write `a`.'
    """
    if len(name) > _LONGEST_COMPARED:
        return ""
    alike = _lookalike(name, known)
    if alike:
        return alike
    fair = [other for other in known if abs(len(other) - len(name)) <= 2]
    folded = [other for other in fair if other.casefold() == name.casefold()]
    fair.sort(key=lambda other: (other[:3] != name[:3]) + (other[:1] != name[:1]))
    near = folded or get_close_matches(name, fair[:_MOST_COMPARED], n=1)
    return f" Did you mean `{printable(near[0])}`?" if near else ""


def _lookalike(name: str, known: Sequence[str]) -> str:
    shape = _shape(name)
    if shape == name:
        return ""
    twin = next((other for other in known if _shape(other) == shape), None)
    if twin is None:
        return ""
    odd = next((c for c in name if c not in twin), name[0])
    title = unicodedata.name(odd, f"U+{ord(odd):04X}")
    shown = printable(odd)
    plain = _shape(odd)
    looks = f"looks like `{plain}`" if plain else "cannot be seen"
    return f" `{shown}` ({title}) {looks}; write `{printable(twin)}`."


def _shape(text: str) -> str:
    """Map a text to what it looks like, in Latin letters where there are some."""
    if text.isascii():
        return text
    plain = unicodedata.normalize("NFKD", text).translate(_LOOKALIKES)
    return "".join(c for c in plain if unicodedata.category(c) not in ("Cf", "Mn"))
