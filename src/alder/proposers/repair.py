"""Repair a structure that was refused: edit it, fit every edit, and go on from the shortest.

A person, a model or an agent often has most of a law right: one term is missing, or one function is
another. From such a structure the right one is a few edits away, where a search that begins with
nothing may never come.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from alder.checking import check
from alder.expr.canonical import skeleton_digest
from alder.expr.nodes import Expr, parameters, size
from alder.ports import Listen
from alder.proposers.search.interactions import find_structure
from alder.proposers.search.laws import SURE, Fitter, begun_at
from alder.proposers.search.proposer import refused
from alder.proposers.search.reduction import is_noise
from alder.proposers.search.table import read_table
from alder.proposers.search.tidy import read_off, tidy
from alder.proposers.search.watch import Watch
from alder.proposers.workbench import Bench, Draft, bench_of
from alder.records.effort import Effort
from alder.records.evidence import Evidence
from alder.records.proposal import Proposal

# Eight starts, the structure's own parameters among them, for every edit; as many edits as these
# are followed to the end, and the best of those are edited again.
_GLANCE = Effort(pool=8, starts=2, iterations=20, tolerance=1e-4)
_FOLLOWED, _BEAM, _ROUNDS = 12, 3, 4
# An edit must shorten the description of the rows by this many nats to count.
_WORTH_IT = 1.0


@final
@dataclass(frozen=True, slots=True, eq=False)
class Repaired:
    """What a structure became: every law on the way, and how much shorter it says the rows.

    `length` is the description length of the last in nats; `is_noise` says whether nothing but
    noise is left of the rows.
    """

    proposal: Proposal
    path: tuple[Expr, ...]
    length: float
    gain: float
    is_noise: bool
    others: tuple[Proposal, ...]
    fits: int


def repair(structure: Expr, evidence: Evidence, listen: Listen | None = None) -> Repaired | None:
    """Return the best law that a few edits make of a structure, by description length.

    None where no edit that was not refused on these rows describes them better. `listen` is told
    how far it is; when the time of the study is up, what was found so far is returned.
    """
    table = read_table(evidence)
    left = max(evidence.budget.seconds - evidence.spent.seconds, 0.0)
    with np.errstate(all="ignore"):  # edits that overflow are dropped where they do
        known = find_structure(table)
        bench = bench_of(evidence.grammar, table, known)
        begun = bench.fitted([(structure, (structure,), {})], SURE, permitted=False)
        if not begun:
            return None
        watch = Watch.of(left, bench.fitter, listen)
        watch.enter("edits of a proposal")
        drafts = _edited(begun, bench, watch)
        noise = is_noise(table, [draft.law for draft in drafts], known.noise)
        return _finished(drafts, begun[0].length, bench, evidence, noise=noise)


def _edited(begun: list[Draft], bench: Bench, watch: Watch) -> list[Draft]:
    """Edit the best again and again until none gets shorter."""
    beam = best = begun
    for _ in range(_ROUNDS):
        tried = [edit for draft in beam for edit in bench.edits(draft)]
        tried += bench.extensions(beam[0])
        found = bench.fitted(tried, _GLANCE)[:_FOLLOWED]
        sure = bench.fitted([(d.law.structure, d.path, d.law.values) for d in found], SURE)
        before = best[0].length
        best = sorted([*best, *sure], key=lambda draft: draft.length)[:_FOLLOWED]
        if not sure or best[0].length > before - _WORTH_IT:
            break
        if watch.is_over() or bench.fitter.is_exact(best[0].law.rss):
            break
        beam = sorted(sure, key=lambda draft: draft.length)[:_BEAM]
    return best


def _finished(
    drafts: Sequence[Draft], before: float, bench: Bench, evidence: Evidence, *, noise: bool
) -> Repaired | None:
    """Write the best as a scientist would; leave out what was refused on these rows."""
    known = refused(evidence)
    found: list[tuple[float, Proposal, Draft]] = []
    for draft in drafts:
        tidied = tidy(draft.law, bench.fitter, bench.grammar) if len(draft.path) > 1 else None
        if tidied is None or skeleton_digest(tidied.structure) in known:
            continue
        if not check(Proposal(tidied.structure), bench.grammar, bench.fitter.table.columns):
            bounds = begun_at(tidied.proposal.bounds, tidied.values)
            exponents = read_off(tidied.structure, tidied.values, bench.fitter.table)
            begun = Proposal(tidied.structure, bounds, exponents=exponents)
            found.append((tidied.length, begun, draft))
    found.sort(key=lambda one: one[0])
    if not found or found[0][0] > before - _WORTH_IT:
        return None
    length, proposal, draft = found[0]
    others = {skeleton_digest(one.structure): one for _, one, _ in found[1:]}
    return Repaired(
        proposal=proposal,
        path=(*draft.path[:-1], proposal.structure),
        length=length,
        gain=before - length,
        is_noise=noise or bench.fitter.is_exact(draft.law.rss),
        others=tuple(others.values()),
        fits=bench.fitter.fits,
    )


def described(proposals: Sequence[Proposal], evidence: Evidence) -> list[float]:
    """Return the description length of each structure on all public rows, in nats."""
    fitter = Fitter(read_table(evidence), evidence.grammar.max_nodes)
    trees = [proposal.structure for proposal in proposals]
    rss = fitter.fit(proposals, SURE).loss * fitter.table.n
    return [
        fitter.length(float(one), len(parameters(tree)), size(tree))
        for one, tree in zip(rss, trees, strict=True)
    ]
