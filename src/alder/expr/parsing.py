"""The reader of the human syntax: operator precedence with explicit stacks.

No text, however deep or wrong, does more than raise `MalformedLaw`: nothing here recurses, and
the tree built is at most `MAX_DEPTH` deep.
"""

from collections.abc import Collection
from dataclasses import dataclass
from difflib import get_close_matches
from typing import NoReturn, final

from alder.expr.evaluate import evaluate
from alder.expr.json import MAX_DEPTH
from alder.expr.nodes import Apply, Const, Expr, Param, Var, walk
from alder.expr.operators import OPERATORS
from alder.expr.tokens import Token, fail, quote, tokenize

SYNONYMS = {
    "ln": "log",
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "sigmoid": "gate",
}
"""Function names people type, and the operator each one means."""

_BINARY = {"+": ("add", 1), "-": ("sub", 1), "*": ("mul", 2), "/": ("div", 2), "^": ("pow", 4)}
_MINUS = 3
_EXPECTED = {
    "+": "a term",
    "-": "a term",
    "*": "a factor",
    "/": "a denominator",
    "^": "an exponent",
    "(": "an expression",
}


@final
@dataclass(slots=True)
class _Pending:
    """An operator or bracket that still waits for what follows it."""

    token: Token
    precedence: int  # 0 for a bracket, which only its partner removes
    function: str | None = None
    n_arguments: int = 0


@final
@dataclass(frozen=True, slots=True)
class _Operand:
    """A finished part of the law and its depth, so that depth is never recounted."""

    expr: Expr
    depth: int


class Parser:
    """Reads one law. Make one, call `parse` once."""

    def __init__(self, text: str, variables: Collection[str]) -> None:
        """Cut the text into tokens."""
        self._text = text
        self._variables = frozenset(variables)
        self._tokens = tokenize(text)
        self._place = 0
        self._operands: list[_Operand] = []
        self._pending: list[_Pending] = []

    def parse(self) -> Expr:
        """Return the tree."""
        if self._tokens[0].kind == "end":
            fail(self._text, 1, "is empty; write for example k*r^-1.5")
        equals = next((t for t in self._tokens if t.kind == "sign" and t.text == "="), None)
        if equals is not None:
            self._fail(
                equals, "has an equals sign; only the right-hand side of the law is expected"
            )
        while True:
            self._read_operand()
            if not self._read_operator():
                return self._operands[0].expr

    def _read_operand(self) -> None:
        """Read signs, opening brackets and function names up to the next number or name."""
        while True:
            token = self._next()
            if token.kind == "number":
                self._push(Const(self._number(token)))
                return
            if token.kind in ("name", "quoted"):
                if not self._opens_call(token):
                    self._push(self._symbol(token))
                    return
                self._open_call(token)
            elif token.kind == "end":
                self._fail(token, f"ends where {self._expected()} was expected")
            elif token.text == "@":
                self._push(self._parameter(token))
                return
            elif self._read_prefix(token):
                return

    def _read_prefix(self, token: Token) -> bool:
        """Take a sign or an opening bracket; say whether an operand is complete."""
        if token.text == "(":
            self._open(_Pending(token, 0))
        elif token.text == "-":
            number = self._tokens[self._place]
            if number.kind == "number" and self._tokens[self._place + 1].text != "^":
                self._place += 1
                self._push(Const(-self._number(number)))
                return True
            self._open(_Pending(token, _MINUS))
        elif token.text != "+":
            self._fail(token, f"has `{token.text}` where {self._expected()} was expected")
        return False

    def _read_operator(self) -> bool:
        """Read closing brackets up to the next operator or comma; False at the end."""
        while True:
            token = self._next()
            if token.kind == "end":
                self._reduce(1)
                if self._pending:
                    self._fail(self._pending[-1].token, "has a bracket that is never closed")
                return False
            if token.text in _BINARY and token.kind == "sign":
                precedence = _BINARY[token.text][1]
                # A power groups from the right, all else from the left.
                self._reduce(precedence + 1 if token.text == "^" else precedence)
                self._open(_Pending(token, precedence))
                return True
            if token.text == "," and token.kind == "sign":
                self._comma(token)
                return True
            if token.text != ")" or token.kind != "sign":
                self._missing_operator(token)
            self._close(token)

    def _next(self) -> Token:
        token = self._tokens[self._place]
        self._place += 1
        return token

    def _expected(self) -> str:
        if not self._pending:
            return "an expression"
        last = self._pending[-1]
        return "an argument" if last.function else _EXPECTED[last.token.text]

    def _number(self, token: Token) -> float:
        value = float(token.text)
        if value in (float("inf"), float("-inf")):
            self._fail(token, "has a number that float64 cannot hold")
        return value

    def _symbol(self, token: Token) -> Expr:
        return Var(token.text) if token.text in self._variables else Param(token.text)

    def _parameter(self, at: Token) -> Expr:
        token = self._next()
        if token.kind not in ("name", "quoted") or token.column != at.column + 1:
            self._fail(at, "has an @ that is not followed by the name of a parameter")
        return Param(token.text)

    def _opens_call(self, token: Token) -> bool:
        following = self._tokens[self._place]
        return token.kind == "name" and following.kind == "sign" and following.text == "("

    def _open_call(self, token: Token) -> None:
        name = SYNONYMS.get(token.text, token.text)
        if name not in OPERATORS:
            near = get_close_matches(token.text, [*OPERATORS, *SYNONYMS], n=1)
            hint = f"did you mean `{near[0]}`?" if near else "to multiply, write *"
            self._fail(token, f"calls `{token.text}`, which is not a function; {hint}")
        self._open(_Pending(self._next(), 0, function=name))

    def _missing_operator(self, token: Token) -> NoReturn:
        shown = quote(token.text) if token.kind in ("name", "quoted") else token.text
        self._fail(
            token,
            f"has `{shown}` where an operator was expected; multiplication is always written with *"
            ", as in 2*x",
        )

    def _open(self, pending: _Pending) -> None:
        # Every open bracket and sign becomes a level of the tree or of the stack.
        if len(self._pending) > 4 * MAX_DEPTH:
            self._too_deep(pending.token)
        self._pending.append(pending)

    def _comma(self, token: Token) -> None:
        self._reduce(1)
        if not self._pending or self._pending[-1].function is None:
            self._fail(token, "has a comma outside the arguments of a function")
        self._pending[-1].n_arguments += 1

    def _close(self, token: Token) -> None:
        self._reduce(1)
        if not self._pending:
            self._fail(token, "closes a bracket that was never opened")
        bracket = self._pending.pop()
        if bracket.function is not None:
            self._call(bracket, bracket.n_arguments + 1)

    def _call(self, bracket: _Pending, n_arguments: int) -> None:
        name = bracket.function or ""
        operator = OPERATORS[name]
        enough = n_arguments > 1 if name in ("max", "min") else n_arguments == operator.arity
        if not enough:
            self._fail(
                bracket.token,
                f"gives `{name}` {n_arguments} argument(s) where it takes {operator.arity}",
            )
        arguments = self._operands[-n_arguments:]
        del self._operands[-n_arguments:]
        if name in ("pow", "powp"):
            self._operands.append(self._power(bracket.token, arguments[0], arguments[1]))
            return
        result = self._apply(bracket.token, name, *arguments[: operator.arity])
        for argument in arguments[operator.arity :]:
            result = self._apply(bracket.token, name, result, argument)
        self._operands.append(result)

    def _reduce(self, precedence: int) -> None:
        """Apply the waiting operators that bind at least as tightly."""
        while self._pending and self._pending[-1].precedence >= precedence:
            waiting = self._pending.pop()
            right = self._operands.pop()
            if waiting.precedence == _MINUS:
                self._operands.append(self._apply(waiting.token, "neg", right))
                continue
            left = self._operands.pop()
            if waiting.token.text == "^":
                self._operands.append(self._power(waiting.token, left, right))
            else:
                name = _BINARY[waiting.token.text][0]
                self._operands.append(self._apply(waiting.token, name, left, right))

    def _power(self, token: Token, base: _Operand, exponent: _Operand) -> _Operand:
        match exponent.expr:
            case Param():
                return self._apply(token, "powp", base, exponent)
            case Apply(operator, (Param() as name,)) if operator.name == "neg":
                power = self._apply(token, "powp", base, _Operand(name, 1))
                return self._apply(token, "div", _Operand(Const(1.0), 1), power)
            case expr:
                literal = _folded(expr)
        if literal is None:
            self._fail(
                token, "has an exponent that is neither a number nor a parameter; "
                "write exp(y*log(x)) for x^y"
            )  # fmt: skip
        return self._apply(token, "pow", base, _Operand(literal, 1))

    def _apply(self, token: Token, name: str, *arguments: _Operand) -> _Operand:
        depth = 1 + max(argument.depth for argument in arguments)
        if depth > MAX_DEPTH:
            self._too_deep(token)
        expr = Apply(OPERATORS[name], tuple(argument.expr for argument in arguments))
        return _Operand(expr, depth)

    def _push(self, expr: Expr) -> None:
        self._operands.append(_Operand(expr, 1))

    def _too_deep(self, token: Token) -> NoReturn:
        self._fail(token, f"is nested more than {MAX_DEPTH} levels deep; write it shallower")

    def _fail(self, token: Token, what: str) -> NoReturn:
        fail(self._text, token.column, what)


def _folded(expr: Expr) -> Const | None:
    """Return the literal that arithmetic on literals amounts to, as in x^(3/2)."""
    if isinstance(expr, Const):
        return expr
    if any(isinstance(node, Param | Var) for node in walk(expr)):
        return None
    return Const(float(evaluate(expr, {}, {})[0]))
