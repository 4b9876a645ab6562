"""From untrusted Python values to a Proposal, noting every problem of shape, name and size.

Only values whose type is exactly a builtin or one of our nodes are looked into, so that no code
of the proposal runs; a tree is walked no further than its limits.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

from alder.checking.bounds import bounds_fields, read_bounds
from alder.checking.findings import Findings
from alder.checking.shapes import (
    MAX_FIELDS,
    MAX_NAME,
    Fields,
    finite,
    is_exactly,
    read_fields,
    read_prose,
    refuse_others,
    what,
)
from alder.expr.json import MAX_DEPTH
from alder.expr.nodes import Apply, Const, Expr, Param, Var
from alder.expr.operators import OPERATORS, Operator
from alder.records.grammar import Grammar
from alder.records.proposal import Proposal
from alder.spelling import printable, suggestion

MAX_PARAMETERS = 62
"""Most parameters of one law: the kernel keeps which it depends on in one 64-bit word."""

_MAX_LOOKED_UP = 4096  # a longer name is not hashed
_MAX_LISTED = 8
_COUNTED_BEYOND = 1000  # how far past their limit nodes and parameters are still counted

_PROPOSAL_KEYS = ("structure", "parameters", "rationale", "scope", "exponents")
_NODE_KEYS = ("op", "args", "var", "param", "const")
_NODE_SHAPES = ({"op", "args"}, {"var"}, {"param"}, {"const"})
_NODE_TYPES = (Apply, Var, Param, Const)
_NODE_WORDS = 'A node is {"op": ..., "args": [...]}, {"var": ...}, {"param": ...} or {"const": ...}'


@dataclass(slots=True)
class Reader:
    """Reads one proposal of one grammar.

    `root` is the pointer to its tree; `truncated` says that some of it was not looked at.
    """

    grammar: Grammar
    findings: Findings
    n_nodes: int = 0
    truncated: bool = False
    root: str = "/structure"
    known: tuple[str, ...] = ()
    parameters: dict[str, None] = field(default_factory=dict[str, None])

    def __post_init__(self) -> None:
        """Look the names of the grammar up once."""
        self.known = self.grammar.variable_names

    def proposal(self, value: object) -> Proposal | None:
        """Read a whole proposal or a bare tree; None where no tree could be built."""
        if type(value) is Proposal:
            return self.whole(_fields_of(value))
        if is_exactly(value, *_NODE_TYPES):
            return self.bare(value)
        fields = read_fields(value, "", "A proposal is an object with a structure", self.findings)
        if fields is None:
            return None
        if "structure" not in fields and any(key in fields for key in _NODE_KEYS):
            return self.bare(value)
        refuse_others(fields, _PROPOSAL_KEYS, "", self.findings)
        if "structure" not in fields:
            self.findings.add("bad-shape", "", 'The proposal has no "structure".')
            return None
        return self.whole(fields)

    def bare(self, tree: object) -> Proposal | None:
        """Read a tree that is a whole proposal by itself."""
        self.root = ""
        return self.whole({"structure": tree})

    def whole(self, fields: Fields) -> Proposal | None:
        """Read the parts of a proposal whose tree stands at `root`."""
        tree = self.tree(fields["structure"], self.root, 1)
        self.check_size(self.root)
        known = None if self.truncated else self.parameters
        bounds = read_bounds(fields.get("parameters", {}), known, self.findings)
        rationale = read_prose(fields.get("rationale", ""), "/rationale", self.findings)
        scope = read_prose(fields.get("scope", ""), "/scope", self.findings)
        exponents = self.numbers(fields.get("exponents", ()), "/exponents")
        if tree is None or self.truncated:
            return None
        used = {name: bound for name, bound in bounds.items() if name in self.parameters}
        return Proposal(tree, used, rationale, scope, exponents)

    def tree(self, node: object, pointer: str, level: int) -> Expr | None:
        """Read a tree; None where a part of it is no node."""
        if self.beyond(pointer, level):
            self.truncated = True
            return None
        fields = self.node_fields(node, pointer)
        if fields is None:
            return None
        if "op" in fields:
            return self.application(fields["op"], fields["args"], pointer, level)
        if "var" in fields:
            return self.variable(fields["var"], f"{pointer}/var")
        if "param" in fields:
            return self.parameter(fields["param"], f"{pointer}/param")
        value = self.number(fields["const"], f"{pointer}/const")
        return None if value is None else Const(value)

    def beyond(self, pointer: str, level: int) -> bool:
        """Count a node, and say whether it lies where nobody looks any more."""
        limit = min(self.grammar.max_depth, MAX_DEPTH)
        if level > limit:
            if not self.findings.has("too-deep"):
                self.findings.add(
                    "too-deep", pointer, f"The law is deeper than {limit} nodes; write it flatter."
                )
            return True
        self.n_nodes += 1
        return self.n_nodes > self.grammar.max_nodes + _COUNTED_BEYOND or self.findings.full

    def node_fields(self, node: object, pointer: str) -> Fields | None:
        """Return the fields of a node, of JSON or already built."""
        if is_exactly(node, *_NODE_TYPES):
            return _fields_of_node(cast("Expr", node))
        fields = read_fields(node, pointer, _NODE_WORDS, self.findings)
        if fields is None:
            return None
        if set(fields) not in _NODE_SHAPES:
            names = ", ".join(printable(key) for key in fields) or "nothing"
            self.findings.add("bad-shape", pointer, f"{_NODE_WORDS}; got {names}.")
            return None
        return fields

    def application(self, name: object, arguments: object, pointer: str, level: int) -> Expr | None:
        """Read an operator and its arguments, also where the operator is unknown."""
        operator = self.operator(name, f"{pointer}/op")
        if not is_exactly(arguments, list, tuple):
            got = what(arguments)
            self.findings.add("bad-shape", f"{pointer}/args", f"args is a list; got {got}.")
            return None
        nodes = cast("Sequence[object]", arguments)
        if operator is not None and len(nodes) != operator.arity:
            self.findings.add(
                "wrong-arity",
                f"{pointer}/args",
                f"`{operator.name}` takes {operator.arity} argument(s); got {len(nodes)}.",
            )
        self.truncated |= len(nodes) > MAX_FIELDS
        read = [
            self.tree(node, f"{pointer}/args/{i}", level + 1)
            for i, node in enumerate(nodes[:MAX_FIELDS])
        ]
        if operator is None or len(nodes) != operator.arity:
            return None
        return self.apply(operator, read, pointer)

    def apply(self, operator: Operator, read: list[Expr | None], pointer: str) -> Expr | None:
        """Apply an operator to its arguments, unless one is missing or a wrong exponent."""
        exponent = {"pow": Const, "powp": Param}.get(operator.name)
        if exponent and read[1] is not None and type(read[1]) is not exponent:
            hint = (
                "a literal exponent; use `powp` for a parameter, or exp(y*log(x)) for any other"
                if operator.name == "pow"
                else "a parameter exponent; use `pow` for a literal"
            )
            self.findings.add(
                "bad-exponent", f"{pointer}/args/1", f"`{operator.name}` takes {hint}."
            )
            return None
        arguments = [argument for argument in read if argument is not None]
        return Apply(operator, tuple(arguments)) if len(arguments) == len(read) else None

    def operator(self, name: object, pointer: str) -> Operator | None:
        """Find an operator, and note if the grammar does not have it."""
        allowed = self.grammar.operators
        if type(name) is not str or len(name) > MAX_NAME or name not in OPERATORS:
            shown = f"`{printable(name)}`" if type(name) is str else what(name)
            hint = suggestion(name, allowed) if type(name) is str else ""
            self.findings.add(
                "unknown-operator",
                pointer,
                f"{shown} is not an operator; {', '.join(allowed)} are.{hint}",
            )
            return None
        if name not in allowed:
            self.findings.add(
                "operator-not-in-grammar",
                pointer,
                f"`{name}` is not in this grammar; {', '.join(allowed)} are.",
            )
        return OPERATORS[name]

    def variable(self, name: object, pointer: str) -> Expr | None:
        """Read a variable; one that is unknown still stands in the tree for the other checks."""
        if type(name) is not str:
            self.findings.add("bad-shape", pointer, f"A variable is a name; got {what(name)}.")
            return None
        if len(name) <= _MAX_LOOKED_UP and name in self.known:
            return Var(name)
        if name == self.grammar.target.name:
            why = "is the target, which a law may not use"
        else:
            why = "is not a variable"
        self.findings.add(
            "unknown-variable",
            pointer,
            f"`{printable(name)}` {why}; {self.listed()}.{suggestion(name, self.known)}",
        )
        return Var(name[:MAX_NAME])

    def listed(self) -> str:
        """Name the variables of the grammar, the first few of many."""
        if not self.known:
            return "the grammar has no variables"
        shown = ", ".join(printable(name) for name in self.known[:_MAX_LISTED])
        return f"the grammar has {shown}{', ...' if len(self.known) > _MAX_LISTED else ''}"

    def parameter(self, name: object, pointer: str) -> Expr | None:
        """Read a parameter, which may have any name that can be printed."""
        if type(name) is not str:
            self.findings.add("bad-shape", pointer, f"A parameter is a name; got {what(name)}.")
            return None
        if not (0 < len(name) <= MAX_NAME and name.isprintable()):
            self.findings.add(
                "bad-shape",
                pointer,
                f"`{printable(name)}` cannot name a parameter: 1 to {MAX_NAME} printable "
                "characters can.",
            )
            return None
        self.parameters[name] = None
        return Param(name)

    def check_size(self, pointer: str) -> None:
        """Note too many nodes or parameters."""
        limit = self.grammar.max_nodes
        if self.n_nodes > limit:
            count = f"more than {self.n_nodes - 1}" if self.truncated else str(self.n_nodes)
            self.findings.add(
                "too-large", pointer, f"The law has {count} nodes; at most {limit} are allowed."
            )
        if len(self.parameters) > MAX_PARAMETERS:
            self.findings.add(
                "too-large",
                pointer,
                f"The law has {len(self.parameters)} parameters; at most {MAX_PARAMETERS} can be "
                "fitted.",
            )

    def number(self, value: object, pointer: str) -> float | None:
        """Read a finite literal."""
        number = finite(value)
        if isinstance(number, float):
            return number
        self.findings.add("bad-number", pointer, f"A constant is a finite number; got {number}.")
        return None

    def numbers(self, value: object, pointer: str) -> tuple[float, ...]:
        """Read a short list of finite numbers."""
        if not is_exactly(value, list, tuple) or len(cast("Sequence[object]", value)) > MAX_DEPTH:
            expected = f"A list of at most {MAX_DEPTH} literal exponents is expected."
            self.findings.add("bad-shape", pointer, expected)
            return ()
        read = [self.number(one, pointer) for one in cast("Sequence[object]", value)]
        return tuple(one for one in read if one is not None)


def _fields_of(proposal: Proposal) -> Fields:
    return {
        "structure": proposal.structure,
        "parameters": bounds_fields(dict(proposal.bounds)),
        "rationale": proposal.rationale,
        "scope": proposal.scope,
        "exponents": proposal.exponents,
    }


def _fields_of_node(node: Expr) -> Fields:
    # A node made without its constructor lacks its slots; what is missing reads as None.
    if isinstance(node, Apply):
        operator: object = getattr(node, "operator", None)
        name = operator.name if type(operator) is Operator else None
        return {"op": name, "args": getattr(node, "arguments", None)}
    if isinstance(node, Const):
        return {"const": getattr(node, "value", None)}
    return {"var" if isinstance(node, Var) else "param": getattr(node, "name", None)}
