r"""Normal form, digest and size: when two structures are the same law.

Two trees have one normal form if they differ by commutativity, associativity, constant folding,
signs, division written as a product, repeated terms and factors ($x + x = 2x$, $x x = x^2$),
neutral elements, or powers of powers. The equalities hold exactly in real arithmetic with the
total semantics of the operators, away from floors and saturation. They are sound but not
complete: $\sin^2 x + \cos^2 x$ is not 1 here. The numeric fingerprint sees that one.
"""

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import assert_never, cast, final

from alder.expr.nodes import Apply, Const, Expr, Param, Var, parameters
from alder.expr.normal import canonical_json
from alder.expr.operators import OPERATORS

_CHAINS = {
    "add": "add",
    "sub": "add",
    "neg": "add",
    "mul": "mul",
    "div": "mul",
    "max": "max",
    "min": "min",
}
_INVERSE = {"": "/", "/": ""}
# Two rounds tell apart parameters that differ only by what shares a term with them elsewhere.
_ROUNDS = 2


def canonical(expr: Expr) -> Expr:
    """Return the normal form as a tree; the normal form of a normal form is itself.

    >>> from alder.expr.text import parse, to_text
    >>> to_text(canonical(parse("(v*k - r*1)*2/(-k) + 0", ["r", "v"])))
    '-2*(k*v - r)/k'
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
        places: dict[str, list[str]] = {name: [] for name in names}
        _Round(colours, places, {}).mark(normal, "")
        colours = {name: _hashed(*sorted(found)) for name, found in places.items()}
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


@final
@dataclass(frozen=True, slots=True)
class _Round:
    """One round of telling parameters apart: their colours before it, their places after it.

    Signs are left out: which of two differences is written first depends on names.
    """

    colours: dict[str, str]
    places: dict[str, list[str]]
    signatures: dict[int, str]

    def mark(self, expr: Expr, context: str) -> None:
        """Note for every parameter what surrounds each of its places, in whatever order."""
        if isinstance(expr, Param):
            self.places[expr.name].append(context)
        if not isinstance(expr, Apply):
            return
        members = _members(expr)
        # A lone member of a sum stands under a sign only, which is no place of its own.
        if len(members) == 1 and expr.operator.name == "neg":
            self.mark(members[0][1], context)
            return
        name = _CHAINS.get(expr.operator.name, expr.operator.name)
        marks = [slot + self.signature(member) for slot, member in members]
        for index, (slot, member) in enumerate(members):
            others = sorted(marks[:index] + marks[index + 1 :])
            self.mark(member, _hashed(context, name, slot, *others))

    def signature(self, expr: Expr) -> str:
        """Describe a part without the names of its parameters, signs and order."""
        known = self.signatures.get(id(expr))
        if known is None:
            known = self.signatures[id(expr)] = self._describe(expr)
        return known

    def _describe(self, expr: Expr) -> str:
        match expr:
            case Const(value):
                return f"c{abs(value)!r}"
            case Param(name):
                return f"p{self.colours[name]}"
            case Var(name):
                return f"v{name}"
            case Apply(operator, _):
                marks = sorted(slot + self.signature(member) for slot, member in _members(expr))
                if len(marks) == 1 and operator.name == "neg":
                    return marks[0]
                return _hashed(_CHAINS.get(operator.name, operator.name), *marks)
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
        inner: list[tuple[str, Expr]] = [("", argument)]
        if isinstance(argument, Apply) and _CHAINS.get(argument.operator.name) == chain:
            inner = _members(argument)
        members += [(_INVERSE[at] if below else at, member) for at, member in inner]
    return members


def _hashed(*parts: str) -> str:
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]
