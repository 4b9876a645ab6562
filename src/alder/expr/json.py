"""The wire format of a tree, and its published JSON Schema.

A node is an object of one kind: `{"op": "add", "args": [...]}`, `{"var": "r"}`, `{"param": "k"}`
or `{"const": 1.5}`. `from_json` reads files we wrote ourselves; proposals, which are hostile, are
read by `alder.checking`.
"""

from collections.abc import Mapping
from math import isfinite
from typing import TypeAlias, assert_never, cast

from alder.errors import MalformedLaw
from alder.expr.nodes import Apply, Const, Expr, Param, Var
from alder.expr.operators import OPERATORS, Operator

JsonTree: TypeAlias = dict[str, object]
JsonSchema: TypeAlias = dict[str, object]

# Far beyond any law a person could read, and far below what would exhaust the interpreter's stack.
MAX_DEPTH = 100
MAX_NODES = 10_000

SCHEMA_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def to_json(expr: Expr) -> JsonTree:
    """Write a tree as plain dictionaries and lists.

    >>> to_json(Apply(OPERATORS["neg"], (Var("x"),)))
    {'op': 'neg', 'args': [{'var': 'x'}]}
    """
    match expr:
        case Const(value):
            return {"const": float(value)}
        case Param(name):
            return {"param": name}
        case Var(name):
            return {"var": name}
        case Apply(operator, arguments):
            return {"op": operator.name, "args": [to_json(argument) for argument in arguments]}
        case _:
            assert_never(expr)


def from_json(tree: object) -> Expr:
    """Read a tree; raise `MalformedLaw` with a JSON pointer to what is not one.

    >>> from_json({"op": "neg", "args": [{"var": "x"}]})
    Apply(operator=Operator('neg'), arguments=(Var(name='x'),))
    """
    return _Reader().read(tree, "", 1)


class _Reader:
    """Counts nodes while reading, since one Python object may stand in many places."""

    def __init__(self) -> None:
        self.n_nodes = 0

    def read(self, tree: object, pointer: str, level: int) -> Expr:
        self.n_nodes += 1
        if level > MAX_DEPTH:
            raise MalformedLaw(f"The tree is deeper than {MAX_DEPTH} nodes; write a shallower law.")
        if self.n_nodes > MAX_NODES:
            raise MalformedLaw(f"The tree has over {MAX_NODES} nodes; write a smaller law.")
        if not isinstance(tree, Mapping):
            raise _malformed(pointer, f"expected an object, got {_kind(tree)}")
        node = cast("Mapping[object, object]", tree)
        match dict(node):
            case {"op": name, "args": arguments, **rest} if not rest:
                operator = _operator(name, pointer)
                return self.apply(operator, arguments, pointer, level)
            case {"var": name, **rest} if not rest:
                return Var(_name(name, f"{pointer}/var"))
            case {"param": name, **rest} if not rest:
                return Param(_name(name, f"{pointer}/param"))
            case {"const": value, **rest} if not rest:
                return Const(_number(value, f"{pointer}/const"))
            case _:
                raise _malformed(
                    pointer, 'a node has either "op" and "args", or one of "var", "param", "const"'
                )

    def apply(self, operator: Operator, arguments: object, pointer: str, level: int) -> Expr:
        if not isinstance(arguments, list | tuple):
            raise _malformed(f"{pointer}/args", f"expected a list, got {_kind(arguments)}")
        trees = cast("list[object] | tuple[object, ...]", arguments)
        if len(trees) != operator.arity:
            raise _malformed(
                f"{pointer}/args",
                f"`{operator.name}` takes {operator.arity} argument(s), got {len(trees)}",
            )
        read = [
            self.read(tree, f"{pointer}/args/{index}", level + 1)
            for index, tree in enumerate(trees)
        ]
        return Apply(operator, tuple(read))


def _operator(name: object, pointer: str) -> Operator:
    if not isinstance(name, str) or name not in OPERATORS:
        raise _malformed(f"{pointer}/op", f"expected an operator name, got {_kind(name)}")
    return OPERATORS[name]


def _name(name: object, pointer: str) -> str:
    if not isinstance(name, str) or not name:
        raise _malformed(pointer, f"expected a name, got {_kind(name)}")
    return name


def _number(value: object, pointer: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _malformed(pointer, f"expected a number, got {_kind(value)}")
    try:
        number = float(value)
    except OverflowError:
        number = float("inf")
    if not isfinite(number):
        raise _malformed(pointer, "expected a finite number that float64 can hold")
    return number


def _kind(value: object) -> str:
    """Name what was found without printing it whole; it may be huge or deep."""
    if isinstance(value, str):
        return f"the text {value[:40]!r}"
    return f"a value of type {type(value).__name__}"


def _malformed(pointer: str, message: str) -> MalformedLaw:
    return MalformedLaw(f"The law is malformed at {pointer or '/'}: {message}.")


def tree_schema() -> JsonSchema:
    """Return the JSON Schema of a tree, over all operators of the table.

    The schema is recursive. A grammar narrows it: operators, variable names and limits are
    checked by `alder.checking`, which also gives better sentences than a schema can.
    """
    return {
        "$schema": SCHEMA_DIALECT,
        "title": "Alder expression tree",
        **_reference("tree"),
        "$defs": _definitions(),
    }


def proposal_schema() -> JsonSchema:
    """Return the JSON Schema of a whole proposal: structure, bounds, rationale, scope."""
    end: JsonSchema = {"type": ["number", "null"]}
    return {
        "$schema": SCHEMA_DIALECT,
        "title": "Alder proposal",
        **_object(
            {
                "structure": _reference("tree"),
                "parameters": {
                    "type": "object",
                    "description": "Bounds of parameters by name, and where to look first; "
                    "what is left out or null is open.",
                    "additionalProperties": _object(
                        {"lower": end, "upper": end, "start": end}, required=()
                    ),
                },
                "rationale": {"type": "string"},
                "scope": {"type": "string"},
                "exponents": {
                    "type": "array",
                    "items": {"type": "number"},
                    "description": "Literal exponents that were read off the rows, so that what is "
                    "not known of them counts.",
                },
            },
            required=("structure",),
        ),
        "$defs": _definitions(),
    }


def _definitions() -> JsonSchema:
    kinds = ("var", "param", "const", "application")
    return {
        "tree": {"oneOf": [_reference(kind) for kind in kinds]},
        "var": _leaf("var", {"type": "string", "minLength": 1}, "a measured quantity"),
        "param": _leaf("param", {"type": "string", "minLength": 1}, "a coefficient to be fitted"),
        "const": _leaf("const", {"type": "number"}, "a finite literal"),
        "application": _application(),
    }


def _application() -> JsonSchema:
    """Describe an operator with its arguments.

    The arguments are visited once, not once for every operator: a validator would otherwise need
    time exponential in the depth of a tree.
    """
    properties: JsonSchema = {
        "op": {"enum": list(OPERATORS)},
        "args": {"type": "array", "items": _reference("tree")},
    }
    arities = sorted({operator.arity for operator in OPERATORS.values()})
    rules = [
        *(_rule(_names(arity), {"minItems": arity, "maxItems": arity}) for arity in arities),
        _rule(["pow"], {"prefixItems": [True, _reference("const")]}),
        _rule(["powp"], {"prefixItems": [True, _reference("param")]}),
    ]
    return {
        "description": "an operator applied to as many arguments as it takes",
        **_object(properties, required=("op", "args")),
        "allOf": rules,
    }


def _rule(names: list[str], arguments: JsonSchema) -> JsonSchema:
    return {
        "if": {"properties": {"op": {"enum": names}}},
        "then": {"properties": {"args": arguments}},
    }


def _names(arity: int) -> list[str]:
    return [operator.name for operator in OPERATORS.values() if operator.arity == arity]


def _leaf(key: str, value: JsonSchema, description: str) -> JsonSchema:
    return {"description": description, **_object({key: value}, required=(key,))}


def _object(properties: JsonSchema, required: tuple[str, ...]) -> JsonSchema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def _reference(name: str) -> JsonSchema:
    return {"$ref": f"#/$defs/{name}"}
