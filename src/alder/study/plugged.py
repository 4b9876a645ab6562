"""Worlds and criteria by the name under which an installed package brings them."""

import dataclasses

from alder.errors import BadStudy
from alder.plugins import maker, plugin
from alder.verification.criteria import Criteria
from alder.verification.own import named


def as_world(wanted: object) -> object:
    """Return a world given as it is, or by the name of a plug-in."""
    if not isinstance(wanted, str):
        return wanted
    made = plugin("worlds", wanted)()
    if isinstance(made, str):
        raise BadStudy(f"The plug-in `{wanted}` makes a str, which is no world.")
    return made


def as_criteria(criteria: Criteria) -> Criteria:
    """Replace names of plug-ins by what the vault needs to make them, and make each once here."""
    own = [
        named(one, maker("criteria", one)) if isinstance(one, str) else one for one in criteria.own
    ]
    return dataclasses.replace(criteria, own=own)
