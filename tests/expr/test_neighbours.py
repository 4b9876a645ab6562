from alder.expr.neighbours import neighbours
from alder.expr.text import parse, to_text


def test_edits_swap_prune_share_and_free_exponents() -> None:
    edited = {to_text(e) for e in neighbours(parse("k*x^2 + c*y", ["x", "y"]), ("x", "y"))}
    assert {"k*x^p + c*y", "k*y^2 + c*y", "k*x^2 + k*y", "c*y", "k*x^3 + c*y"} <= edited
