"""Does your part keep its promise? One check for each port, which says in words what breaks.

    from alder.testing import check_selector

    def test_my_selector_keeps_its_promise():
        check_selector(MySelector, candidates=laws, evidence=evidence, forecast=world)

A check makes fresh parts with the function it is given, uses them as a study would, and raises
`BrokenContract` with every breach it found. `ScriptedModel` and `RecordedModel` stand in for a
language model, so that a set-up can be tested without a key.
"""

from alder.testing.contract import BrokenContract, fingerprint
from alder.testing.models import RecordedModel, ScriptedModel
from alder.testing.proposer import check_proposer
from alder.testing.selector import check_selector
from alder.testing.store import check_store
from alder.testing.verifier import check_criterion, check_verifier
from alder.testing.world import check_forecast, check_world

__all__ = [
    "BrokenContract",
    "RecordedModel",
    "ScriptedModel",
    "check_criterion",
    "check_forecast",
    "check_proposer",
    "check_selector",
    "check_store",
    "check_verifier",
    "check_world",
    "fingerprint",
]
