"""Trees to bytecode: a flat postfix array that any kernel can consume."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from alder.errors import MalformedLaw, UnknownVariable
from alder.expr.nodes import Apply, Expr, Param, Var
from alder.expr.operators import OPERATORS
from alder.kernel.opcodes import CST, MAX_PARAMETERS, OPCODES, PAR, VAR
from alder.spelling import suggestion


@final
@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Structures end to end: structure s is `code[offsets[s]:offsets[s + 1]]`.

    Each instruction is (opcode, argument, literal): the argument is the index of a variable in
    the columns or of a parameter in `parameters[s]`.
    """

    opcodes: NDArray[np.int64]
    arguments: NDArray[np.int64]
    literals: NDArray[np.float64]
    offsets: NDArray[np.int64]
    parameters: tuple[tuple[str, ...], ...]

    def __len__(self) -> int:
        """Count the structures."""
        return len(self.parameters)

    def used_columns(self) -> NDArray[np.int64]:
        """Return the columns that some structure reads, in order."""
        return np.unique(self.arguments[self.opcodes == VAR])

    def over(self, columns: NDArray[np.int64]) -> "Batch":
        """Return the same structures over only these columns, which hold all they read."""
        arguments = self.arguments.copy()
        reads = self.opcodes == VAR
        arguments[reads] = np.searchsorted(columns, arguments[reads])
        return replace(self, arguments=arguments)


def encode(
    structures: Sequence[Expr],
    variables: Sequence[str],
    fixed: Mapping[str, float] | None = None,
) -> Batch:
    """Lower structures to bytecode; fixed parameters become literals.

    A structure takes about ten microseconds: one integer is appended per node, opcode and
    argument together, and taken apart again by NumPy.
    """
    column_of = {name: _pack(VAR, column) for column, name in enumerate(variables)}
    packed: list[int] = []
    literals: list[float] = []
    offsets = [0]
    names: list[tuple[str, ...]] = []
    for structure in structures:
        index_of: dict[str, int] = {}
        _append(structure, packed, literals, column_of, index_of, fixed or {})
        if len(index_of) > MAX_PARAMETERS:
            raise MalformedLaw(
                f"A law may have at most {MAX_PARAMETERS} parameters; this one has {len(index_of)}."
            )
        offsets.append(len(packed))
        names.append(tuple(index_of))
    code = np.array(packed, dtype=np.int64)
    opcodes = code % _OPCODES
    values = np.zeros(len(code))
    values[opcodes == CST] = literals
    return Batch(opcodes, code // _OPCODES, values, np.array(offsets, dtype=np.int64), tuple(names))


_OPCODES = 64


def _pack(opcode: int, argument: int) -> int:
    return argument * _OPCODES + opcode


_CODE_OF = {row: OPCODES[name] for name, row in OPERATORS.items()}


def _append(
    node: Expr,
    packed: list[int],
    literals: list[float],
    column_of: Mapping[str, int],
    index_of: dict[str, int],
    fixed: Mapping[str, float],
) -> None:
    """Append a node after its arguments."""
    if isinstance(node, Apply):
        for argument in node.arguments:
            _append(argument, packed, literals, column_of, index_of, fixed)
        packed.append(_CODE_OF[node.operator])
    elif isinstance(node, Var):
        column = column_of.get(node.name)
        if column is None:
            raise _unknown(node.name, tuple(column_of))
        packed.append(column)
    elif isinstance(node, Param) and node.name not in fixed:
        packed.append(index_of.setdefault(node.name, len(index_of)) * _OPCODES + PAR)
    else:
        packed.append(CST)
        literals.append(fixed[node.name] if isinstance(node, Param) else node.value)


def _unknown(name: str, known: Sequence[str]) -> UnknownVariable:
    return UnknownVariable(
        f"The law needs `{name}`, which is not a column of the rows; "
        f"{', '.join(known) or 'none'} are.{suggestion(name, known)}"
    )
