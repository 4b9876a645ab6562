"""Single stages of the loop for use by themselves: judge a law, choose experiments."""

from collections.abc import Sequence

import numpy as np

from alder.errors import BadStudy
from alder.ports import Selector
from alder.records.budget import Budget
from alder.records.evidence import Candidate, Choice, Evidence
from alder.records.experiment import Trajectory
from alder.records.grammar import Grammar
from alder.records.law import Law
from alder.records.protected import Protected
from alder.records.roles import Roles
from alder.records.verdict import Verdict
from alder.segments import Segments, observation_names
from alder.study.parts import Safe, as_limits, as_selector, safeguarded
from alder.study.plugged import as_criteria
from alder.study.rows import RowReader
from alder.tables import Rows, as_columns
from alder.verification.admit import Sealed, admit
from alder.verification.criteria import Criteria, Reference
from alder.verification.enough import require_enough
from alder.verification.terms import Terms
from alder.worlds.binding import bind


def verify(  # noqa: PLR0913 (what a study knows when it judges)
    law: Law,
    protected: Protected,
    *,
    public: Rows,
    criteria: Criteria | None = None,
    sigma: str | None = None,
    group: str | None = None,
    sums: str | None = None,
) -> Verdict:
    """Judge one law on rows it was not fitted to, as the verifier of a study would.

    `public` are the rows the law comes from; their mean is the rule that a law must beat. The
    verdict counts as the first: who asks again with another law must count himself, or use a
    study, whose verifier does. `sigma` and `group` name columns of error bars and of groups that
    share an offset; `sums` names the one that says which observation a row belongs to, where
    targets are sums over rows.

    Example: `alder.verify(fit.law, alder.Protected(new_rows), public=rows).category`
    """
    names = tuple(variable.name for variable in law.variables)
    target = law.target.name
    terms = Terms(
        variables=names,
        target=target,
        references=(Reference(_mean(public, target, sums)),),
        criteria=as_criteria(criteria or Criteria()),
        sigma=sigma,
        group=group,
        sums=sums,
    )
    roles = Roles(sigma=sigma, group=group, sums=sums)
    reader = RowReader(Grammar(law.variables, law.target), roles)
    tables = protected.tables().items()
    rows = {role: reader.read(table, f"the protected rows ({role})")[0] for role, table in tables}
    require_enough(terms, rows)
    return admit(Sealed(rows, terms), law, ())


def _mean(rows: Rows, target: str, sums: str | None) -> float:
    belongs = None if sums is None else observation_names(rows, sums)
    return float(np.nanmean(Segments.of(belongs).first(as_columns(rows, [target])[target])))


def select(  # noqa: PLR0913 (what the loop knows when it chooses)
    laws: Sequence[Law],
    world: object,
    grammar: Grammar,
    *,
    rows: Rows,
    n: int = 1,
    selector: str | Selector = "disagreement",
    limits: Safe | None = None,
) -> tuple[Choice, ...]:
    """Choose up to n safe experiments of a world on which laws disagree, best first.

    `rows` are those measured already; the laws weigh alike. `limits` on what an experiment would
    show hold under every one of the laws, as in `discover`. Nothing is run.

    Example: `alder.select([one.law, other.law], world, grammar, rows=rows)[0].experiment.settings`
    """
    if len(laws) < 2:
        raise BadStudy(f"Laws disagree only where there are two or more; got {len(laws)}.")
    columns, _ = RowReader(grammar, Roles()).read(rows, "the rows")
    evidence = Evidence(grammar, Roles(), Budget(queries=n, batch=n), Trajectory(columns))
    candidates = [
        Candidate(law, 1.0 / len(laws), chr(ord("A") + i % 26)) for i, law in enumerate(laws)
    ]
    _, chosen = as_selector(selector)
    rng, bound = np.random.default_rng(0), bind(world, grammar)
    if limits is not None:
        chosen = safeguarded(chosen, as_limits(limits), bound, grammar)
    return chosen.select(candidates, evidence, bound, n, rng)
