"""What a reply must look like, from the grammar: a JSON Schema, and the same as GBNF.

Trees are unrolled level by level. A recursive schema lets a model nest for ever, and constrained
decoding then ends with the tokens instead of with a law. Size and units no such form can say;
replies are read as hostile input whatever held them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import final

from alder.expr.json import JsonSchema
from alder.expr.operators import OPERATORS
from alder.ports import Form
from alder.records.grammar import Grammar

LEVELS = 7
"""Nodes from the root to a leaf: `k*r^-1.5*m/(m + n) - c*v` needs six."""

PARAMETERS = tuple(f"p{i}" for i in range(10))
"""The names a reply may give to coefficients."""

MAX_RATIONALE = 240
"""Characters of a rationale; a small model under constrained decoding stops at no other place."""

SHORT_RATIONALE = 60
"""Characters of a rationale in a form that is held to its tokens."""

_NUMBER = "-1234.5678"


@final
@dataclass(frozen=True, slots=True)
class _Room:
    """How long a reply may be, and the characters of its rationale, as GBNF writes them."""

    levels: int
    rationale: int = MAX_RATIONALE
    letter: str = r'[^"\\\x00-\x1F\x7F]'


def make_form(
    grammar: Grammar, names: Sequence[str], at_most: int, seed: int | None = None
) -> Form:
    """Return the form of a reply: a rationale, then a structure over variables of these names."""
    room = _Room(min(grammar.max_depth, LEVELS))
    return _form(grammar, names, room, at_most=at_most, seed=seed)


def make_whole_form(
    grammar: Grammar, names: Sequence[str], at_most: int, seed: int | None = None
) -> Form:
    """Return the deepest form of which no reply is ever cut off at `at_most` tokens.

    All it lets through is ASCII, and a token of such a text is one character or more, so that a
    text of `at_most - 1` characters and the token that ends it fit whatever the tokenizer.
    """
    deepest = min(grammar.max_depth, LEVELS)
    rooms = [
        _Room(levels, SHORT_RATIONALE, "[a-zA-Z0-9 .,*/+^()]") for levels in range(deepest, 0, -1)
    ]
    held = (room for room in rooms if _longest(grammar, names, room) < at_most)
    return _form(grammar, names, next(held, rooms[-1]), at_most=at_most, seed=seed)


def _form(
    grammar: Grammar, names: Sequence[str], room: _Room, *, at_most: int, seed: int | None
) -> Form:
    return Form(
        schema=_reply_schema(grammar, names, room.levels),
        gbnf="\n".join(_rules(grammar, names, room)) + "\n",
        at_most=at_most,
        seed=seed,
    )


def _longest(grammar: Grammar, names: Sequence[str], room: _Room) -> int:
    """Count the characters of the longest reply that the rules derive."""
    const, param = len('{"const":}') + len(_NUMBER), len('{"param":""}') + len(PARAMETERS[-1])
    exponents = {"pow": const, "powp": param}
    leaf = max(const, param, *(len('{"var":""}') + len(name) for name in names))
    length = leaf
    for _ in range(room.levels - 1):
        applied = [
            len('{"op":"","args":[]}') + len(name) + OPERATORS[name].arity - 1
            + (length + exponents[name] if name in exponents else length * OPERATORS[name].arity)
            for name in grammar.operators
        ]  # fmt: skip
        length = max([leaf, *applied])
    return len('{"rationale":"","structure":}') + room.rationale + length


def _by_arity(grammar: Grammar, without: Sequence[str] = ()) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for name in grammar.operators:
        if name not in without:
            found.setdefault(OPERATORS[name].arity, []).append(name)
    return dict(sorted(found.items()))


def _reply_schema(grammar: Grammar, names: Sequence[str], levels: int) -> JsonSchema:
    definitions: JsonSchema = {"level1": {"anyOf": _leaves(names)}}
    for level in range(2, levels + 1):
        below: JsonSchema = {"$ref": f"#/$defs/level{level - 1}"}
        applied = [_applied(ops, n, below) for n, ops in _by_arity(grammar).items()]
        definitions[f"level{level}"] = {"anyOf": [*_leaves(names), *applied]}
    return {
        **_object(
            {
                "rationale": {"type": "string"},
                "structure": {"$ref": f"#/$defs/level{levels}"},
            }
        ),
        "$defs": definitions,
    }


def _leaves(names: Sequence[str]) -> list[JsonSchema]:
    variables = [_object({"var": {"type": "string", "enum": list(names)}})] if names else []
    return [
        *variables,
        _object({"param": {"type": "string", "enum": list(PARAMETERS)}}),
        _object({"const": {"type": "number"}}),
    ]


def _applied(operators: Sequence[str], arity: int, below: JsonSchema) -> JsonSchema:
    # Hosted models know no tuples, so that the literal exponent of `pow` is asked for in words.
    arguments = {"type": "array", "items": below, "minItems": arity, "maxItems": arity}
    return _object({"op": {"type": "string", "enum": list(operators)}, "args": arguments})


def _object(properties: JsonSchema) -> JsonSchema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _rules(grammar: Grammar, names: Sequence[str], room: _Room) -> Iterator[str]:
    """Yield the rules of the same form for servers that speak GBNF, exponents included."""
    levels = room.levels
    opening, between = _quoted('{"rationale":"'), _quoted('","structure":')
    yield f'root ::= {opening} letter{{0,{room.rationale}}} {between} level{levels} "}}"'
    yield f"letter ::= {room.letter}"
    if names:
        yield f'var ::= {_quoted("{" + _text("var") + ":")} ({_any(names)}) "}}"'
    yield f'param ::= {_quoted("{" + _text("param") + ":")} ({_any(PARAMETERS)}) "}}"'
    yield f'const ::= {_quoted("{" + _text("const") + ":")} number "}}"'
    yield 'number ::= "-"? ("0" | [1-9] [0-9]{0,3}) ("." [0-9]{1,4})?'
    yield f"level1 ::= {'var | ' if names else ''}param | const"
    for level in range(2, levels + 1):
        yield f"level{level} ::= " + " | ".join(["level1", *_choices(grammar, f"level{level - 1}")])


def _choices(grammar: Grammar, below: str) -> Iterator[str]:
    exponents = {"pow": "const", "powp": "param"}
    for arity, operators in _by_arity(grammar, without=tuple(exponents)).items():
        yield _application(operators, [below] * arity)
    for name, exponent in exponents.items():
        if name in grammar.operators:
            yield _application([name], [below, exponent])


def _application(operators: Sequence[str], arguments: Sequence[str]) -> str:
    inside = ' "," '.join(arguments)
    opening, between = _quoted("{" + _text("op") + ":"), _quoted("," + _text("args") + ":[")
    return f'{opening} ({_any(operators)}) {between} {inside} "]}}"'


def _any(names: Sequence[str]) -> str:
    return " | ".join(_quoted(_text(name)) for name in names)


def _text(word: str) -> str:
    """Write a JSON text; names that come here are plain identifiers."""
    return f'"{word}"'


def _quoted(text: str) -> str:
    r"""Write a GBNF literal.

    >>> print(_quoted('{"op":'))
    "{\"op\":"
    """
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
