"""Trees to bytecode: a flat postfix array that any kernel can consume."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from alder.errors import MalformedLaw
from alder.expr.nodes import Apply, Const, Expr, Param, Var
from alder.kernel.opcodes import CST, MAX_PARAMETERS, OPCODES, PAR, VAR


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


def encode(
    structures: Sequence[Expr],
    variables: Sequence[str],
    fixed: Mapping[str, float] | None = None,
) -> Batch:
    """Lower structures to bytecode; fixed parameters become literals."""
    column_of = {name: column for column, name in enumerate(variables)}
    opcodes: list[int] = []
    arguments: list[int] = []
    literals: list[float] = []
    offsets = [0]
    names: list[tuple[str, ...]] = []
    for structure in structures:
        index_of: dict[str, int] = {}
        writer = _Writer(opcodes, arguments, literals, column_of, index_of, fixed or {})
        writer.write(structure)
        if len(index_of) > MAX_PARAMETERS:
            raise MalformedLaw(
                f"A law may have at most {MAX_PARAMETERS} parameters; this one has {len(index_of)}."
            )
        offsets.append(len(opcodes))
        names.append(tuple(index_of))
    return Batch(
        np.array(opcodes, dtype=np.int64),
        np.array(arguments, dtype=np.int64),
        np.array(literals, dtype=np.float64),
        np.array(offsets, dtype=np.int64),
        tuple(names),
    )


class _Writer:
    """Appends one structure in postfix order. Type tests instead of `match`: this is hot."""

    def __init__(
        self,
        opcodes: list[int],
        arguments: list[int],
        literals: list[float],
        column_of: Mapping[str, int],
        index_of: dict[str, int],
        fixed: Mapping[str, float],
    ) -> None:
        self._opcodes = opcodes
        self._arguments = arguments
        self._literals = literals
        self._column_of = column_of
        self._index_of = index_of
        self._fixed = fixed

    def write(self, node: Expr) -> None:
        """Append a node after its arguments."""
        kind = type(node)
        if kind is Apply:
            assert isinstance(node, Apply)
            for argument in node.arguments:
                self.write(argument)
            self._append(OPCODES[node.operator.name], 0, 0.0)
        elif kind is Var:
            assert isinstance(node, Var)
            self._append(VAR, self._column_of[node.name], 0.0)
        elif kind is Param:
            assert isinstance(node, Param)
            if node.name in self._fixed:
                self._append(CST, 0, self._fixed[node.name])
            else:
                index = self._index_of.setdefault(node.name, len(self._index_of))
                self._append(PAR, index, 0.0)
        else:
            assert isinstance(node, Const)
            self._append(CST, 0, node.value)

    def _append(self, opcode: int, argument: int, literal: float) -> None:
        self._opcodes.append(opcode)
        self._arguments.append(argument)
        self._literals.append(literal)
