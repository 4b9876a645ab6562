"""The law a search finds in a noiseless table, and its values elsewhere."""

from collections.abc import Mapping

from proposers.evidence import evidence

from alder.arrays import FloatArray
from alder.expr.evaluate import evaluate
from alder.proposers.search.proposer import Scored, search
from alder.records.grammar import Grammar
from alder.records.variable import Variable


def found_in(table: Mapping[str, FloatArray], operators: tuple[str, ...]) -> Scored:
    """Return the law with the shortest description of the column `y`."""
    variables = [Variable(name) for name in table if name != "y"]
    grammar = Grammar(variables, Variable("y"), operators=operators, max_nodes=20)
    return search(evidence(table=table, grammar=grammar)).laws[0]


def values_of(law: Scored, columns: Mapping[str, FloatArray]) -> FloatArray:
    """Evaluate a law where nobody has looked."""
    return evaluate(law.structure, columns, law.values)
