"""Is this a law of the grammar? A proposal of any shape gets Problems, never an exception.

A proposal is JSON (bytes or text), the same as Python objects, the human syntax, or a tree
already built. It may be hostile: no code of it runs, and every loop has a limit, so that a check
ends within 50 ms (measured in `benchmarks/checking.py`).
"""

from alder.checking.decode import decode
from alder.checking.findings import Findings
from alder.checking.meaning import Rows, check_composition, check_rows, check_units
from alder.checking.reading import Reader
from alder.records.grammar import Grammar
from alder.records.problem import Problem
from alder.records.proposal import Proposal

__all__ = ["check", "read_proposal"]


def check(proposal: object, grammar: Grammar, rows: Rows | None = None) -> tuple[Problem, ...]:
    """Return what is wrong with a proposal: nothing if it is a law of the grammar.

    >>> from alder.records.variable import Variable
    >>> grammar = Grammar([Variable("r", unit="m")], target=Variable("a", unit="m/s^2"))
    >>> check("k*r", grammar)
    ()
    >>> print(*check({"op": "neg", "args": [{"var": "R"}]}, grammar))
    unknown-variable at /args/0/var: `R` is not a variable; the grammar has r. Did you mean `r`?
    """
    read = read_proposal(proposal, grammar, rows)
    return () if isinstance(read, Proposal) else read


def read_proposal(
    source: object, grammar: Grammar, rows: Rows | None = None
) -> Proposal | tuple[Problem, ...]:
    """Read a proposal, or say all that is wrong with it (up to 20 problems); never raises.

    With `rows` (a mapping of columns) the law must also be executable on them. Pointers lead into
    the JSON form of the proposal; a bare tree, a built tree and a text are their own root.
    """
    findings = Findings()
    reader = Reader(grammar, findings)
    try:
        proposal = _read(source, reader, rows)
    except RecursionError:
        # Depth is limited far below Python's own limit, but the caller may stand close to it.
        findings.add("too-deep", "", "The proposal is nested too deeply to be read.")
        proposal = None
    if findings.problems or proposal is None:
        return tuple(findings.problems)
    return proposal


def _read(source: object, reader: Reader, rows: Rows | None) -> Proposal | None:
    findings, grammar = reader.findings, reader.grammar
    value: object = source
    if type(source) is bytes or type(source) is str:
        value = decode(source, reader.known, findings)
        if findings.problems:
            return None
    proposal = reader.proposal(value)
    if proposal is None or findings.has("too-large", "too-deep"):
        return None
    root = reader.root
    check_units(proposal.structure, grammar, root, findings)
    check_composition(proposal.structure, grammar, root, findings)
    if rows is not None and not findings.problems:
        check_rows(proposal, grammar, rows, root, findings)
    return proposal
