import pytest

from alder.errors import MalformedLaw
from alder.expr.text import parse
from alder.kernel.encode import encode
from alder.kernel.opcodes import ADD, CST, MAX_PARAMETERS, MUL, PAR, VAR


def test_a_structure_becomes_postfix_bytecode() -> None:
    batch = encode([parse("k*x + 2", ["x"])], ["y", "x"])
    assert batch.opcodes.tolist() == [PAR, VAR, MUL, CST, ADD]
    assert batch.arguments.tolist() == [0, 1, 0, 0, 0]
    assert batch.literals.tolist() == [0.0, 0.0, 0.0, 2.0, 0.0]
    assert batch.parameters == (("k",),)


def test_a_fixed_parameter_becomes_a_literal() -> None:
    batch = encode([parse("k*x + c", ["x"])], ["x"], {"k": 3.5})
    assert batch.opcodes.tolist() == [CST, VAR, MUL, PAR, ADD]
    assert batch.literals[0] == 3.5
    assert batch.parameters == (("c",),)


def test_structures_lie_end_to_end() -> None:
    laws = [parse(text, ["x"]) for text in ("x", "k*x", "k*x + c")]
    batch = encode(laws, ["x"])
    assert len(batch) == 3
    assert batch.offsets.tolist() == [0, 1, 4, 9]


def test_more_parameters_than_a_mask_holds_are_refused() -> None:
    law = parse(" + ".join(f"p{i}*x" for i in range(MAX_PARAMETERS + 1)), ["x"])
    with pytest.raises(MalformedLaw, match="at most 62 parameters; this one has 63"):
        encode([law], ["x"])
