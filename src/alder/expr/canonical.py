r"""Normal form, digest and size: when two structures are the same law.

Two trees have one normal form if they differ by commutativity, associativity, constant folding,
signs, division written as a product, repeated terms and factors ($x + x = 2x$, $x x = x^2$),
neutral elements, or powers of powers. The equalities hold exactly in real arithmetic with the
total semantics of the operators, away from floors and saturation. They are sound but not
complete: $\sin^2 x + \cos^2 x$ is not 1 here. The numeric fingerprint sees that one.
"""

import json
from hashlib import sha256
from typing import assert_never, cast

from alder.expr.nodes import Apply, Const, Expr, Param, Var, parameters
from alder.expr.normal import canonical_json
from alder.expr.operators import OPERATORS

_CHAINS = {"add": "add", "sub": "add", "neg": "add", "mul": "mul", "div": "mul"}
_CHAINS |= {"max": "max", "min": "min"}
# Two rounds tell apart parameters that differ only by what shares a term with them elsewhere.
_ROUNDS = 2


def canonical(expr: Expr) -> Expr:
    """Return the normal form as a tree; `canonical(canonical(e)) == canonical(e)`.

    >>> from alder.expr.text import parse, to_text
    >>> to_text(canonical(parse("(v*k - r*1)*2/(-k) + 0", ["r", "v"])))
    '2*(r - k*v)/k'
    """
    return _tree(json.loads(canonical_json(expr)))


def digest(expr: Expr) -> str:
    """Return the SHA-256 of the normal form's compact JSON, in hexadecimal."""
    return sha256(canonical_json(expr).encode("ascii")).hexdigest()


def complexity(expr: Expr) -> int:
    """Count the nodes of the normal form, so that how a law is written does not matter.

    >>> from alder.expr.text import parse
    >>> complexity(parse("x*x*x + 0", ["x"])), complexity(parse("x^3", ["x"]))
    (3, 3)
    """
    # Every node is one object; a brace in a name is followed by an escaped quote, never by this.
    return canonical_json(expr).count('{"')


def skeleton(expr: Expr) -> Expr:
    """Return the normal form with parameters renamed p0, p1, ... by their place in the law.

    Two structures that differ by the names of their parameters have one skeleton. Parameters
    are told apart by what surrounds them; where a law is so symmetric that this fails, two
    skeletons may differ although they need not. They are never equal by mistake.

    >>> from alder.expr.text import parse
    >>> skeleton(parse("a*x + b", ["x"])) == skeleton(parse("c + k*x", ["x"]))
    True
    """
    normal = canonical(expr)
    names = parameters(normal)
    colours = dict.fromkeys(names, "")
    for _ in range(_ROUNDS if len(names) > 1 else 0):
        contexts: dict[str, list[str]] = {name: [] for name in names}
        _mark(normal, "", colours, contexts)
        colours = {name: _hashed(*sorted(places)) for name, places in contexts.items()}
    ranked = sorted(names, key=lambda name: colours[name])
    return canonical(rename(normal, {name: f"p{i}" for i, name in enumerate(ranked)}))


def skeleton_digest(expr: Expr) -> str:
    """Return the digest of the skeleton: equal for laws equal up to parameter names."""
    return digest(skeleton(expr))


def rename(expr: Expr, names: dict[str, str]) -> Expr:
    """Rename parameters; a name that is not mentioned stays."""
    match expr:
        case Param(name):
            return Param(names.get(name, name))
        case Const() | Var():
            return expr
        case Apply(operator, arguments):
            return Apply(operator, tuple(rename(argument, names) for argument in arguments))
        case _:
            assert_never(expr)


def _tree(node: dict[str, object]) -> Expr:
    """Build what we have just written ourselves; nothing is checked, no depth is refused."""
    match node:
        case {"op": name, "args": arguments}:
            trees = cast("list[dict[str, object]]", arguments)
            return Apply(OPERATORS[cast("str", name)], tuple(_tree(tree) for tree in trees))
        case {"var": name}:
            return Var(cast("str", name))
        case {"param": name}:
            return Param(cast("str", name))
        case _:
            return Const(cast("float", node["const"]))


def _mark(
    expr: Expr, context: str, colours: dict[str, str], contexts: dict[str, list[str]]
) -> None:
    """Note for every parameter what surrounds each of its places, without regard to order.

    Signs are left out: which of two differences is written first depends on names.
    """
    if isinstance(expr, Param):
        contexts[expr.name].append(context)
    if not isinstance(expr, Apply):
        return
    name = _CHAINS.get(expr.operator.name, expr.operator.name)
    members = _members(expr)
    marks = [slot + _signature(member, colours) for slot, member in members]
    for index, (slot, member) in enumerate(members):
        others = sorted(marks[:index] + marks[index + 1 :])
        # A lone member of a chain stands under a sign only, which is no place of its own.
        place = context if len(members) == 1 and name == "add" else _hashed(
            context, name, slot, *others
        )  # fmt: skip
        _mark(member, place, colours, contexts)


def _signature(expr: Expr, colours: dict[str, str]) -> str:
    match expr:
        case Const(value):
            return f"c{abs(value)!r}"
        case Param(name):
            return f"p{colours[name]}"
        case Var(name):
            return f"v{name}"
        case Apply(operator, _):
            members = _members(expr)
            marks = sorted(slot + _signature(member, colours) for slot, member in members)
            name = _CHAINS.get(operator.name, operator.name)
            return marks[0] if len(marks) == 1 and name == "add" else _hashed(name, *marks)
        case _:
            assert_never(expr)


def _members(expr: Apply) -> list[tuple[str, Expr]]:
    """Return the arguments with their slots; those of a sum, product or extremum flattened."""
    chain = _CHAINS.get(expr.operator.name)
    if chain is None:
        return [(str(slot), argument) for slot, argument in enumerate(expr.arguments)]
    members: list[tuple[str, Expr]] = []
    for slot, argument in enumerate(expr.arguments):
        below = slot == 1 and expr.operator.name == "div"
        same = isinstance(argument, Apply) and _CHAINS.get(argument.operator.name) == chain
        inner = _members(argument) if isinstance(argument, Apply) and same else [("", argument)]
        swapped = {"": "/", "/": ""}
        members += [(swapped[at] if below else at, member) for at, member in inner]
    return members


def _hashed(*parts: str) -> str:
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]
