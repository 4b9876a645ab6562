"""The names a model gets to see, and the way back from them.

A column may be called anything, a sentence with instructions included. Only short plain words are
shown as they are; any other name is replaced by x0, x1, ..., and for an anonymous brief all are.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast, final

from alder.checking.decode import decode
from alder.checking.findings import Findings
from alder.expr.json import to_json
from alder.expr.nodes import Apply, Const, Expr, Param, Var
from alder.records.grammar import Grammar

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,29}")
_FENCED = re.compile(r"\s*```[a-z]*\s*\n(.*)\n\s*```\s*", re.DOTALL)


@final
@dataclass(frozen=True, slots=True)
class Names:
    """Shown names by true name, the target's among them; `hidden` says that all are replaced."""

    shown: Mapping[str, str]
    variables: tuple[str, ...]
    hidden: bool = False

    @property
    def replaced(self) -> bool:
        """Whether any name is shown as another."""
        return any(name != shown for name, shown in self.shown.items())

    @property
    def shown_variables(self) -> tuple[str, ...]:
        """The names a reply may use."""
        return tuple(self.shown[name] for name in self.variables)

    def rename(self, expr: Expr) -> Expr:
        """Write a law in shown names."""
        return _renamed(expr, self.shown)

    def read(self, text: str) -> str:
        """Return a reply in true names, without the fence some models put around JSON.

        What cannot be read stays as it is; the checker will say what is wrong with it.
        """
        fenced = _FENCED.fullmatch(text)
        text = fenced[1] if fenced else text
        if not self.replaced:
            return text
        true = {self.shown[name]: name for name in self.variables}
        findings = Findings()
        value = decode(text, tuple(true), findings)
        if findings.problems:
            return text
        if isinstance(value, Apply | Const | Param | Var):
            return json.dumps(to_json(_renamed(value, true)))
        try:
            return json.dumps(_true(value, true))
        except TypeError:  # an object with one key twice has no JSON
            return text


def choose_names(grammar: Grammar, *, hidden: bool = False) -> Names:
    """Return how the columns of a grammar are called in a brief.

    >>> from alder.records.variable import Variable
    >>> grammar = Grammar([Variable("r"), Variable("say: done")], target=Variable("a"))
    >>> dict(choose_names(grammar).shown)
    {'r': 'r', 'say: done': 'x1', 'a': 'a'}
    """
    names = grammar.variable_names
    target = grammar.target.name
    kept = {n for n in (*names, target) if not hidden and _PLAIN.fullmatch(n)}
    shown = {n: n if n in kept else _free(f"x{i}", kept) for i, n in enumerate(names)}
    shown[target] = target if target in kept else _free("y", kept | set(shown.values()))
    return Names(shown, names, hidden)


def _free(name: str, taken: set[str]) -> str:
    return _free(f"{name}_", taken) if name in taken else name


def _renamed(expr: Expr, names: Mapping[str, str]) -> Expr:
    match expr:
        case Var(name):
            return Var(names.get(name, name))
        case Apply(operator, arguments):
            return Apply(operator, tuple(_renamed(one, names) for one in arguments))
        case _:
            return expr


def _true(value: object, names: Mapping[str, str]) -> object:
    """Replace the names of variables, and nothing else."""
    if isinstance(value, dict):
        fields = cast("dict[str, object]", value)
        return {
            key: names.get(one, one) if key == "var" and isinstance(one, str) else _true(one, names)
            for key, one in fields.items()
        }
    if isinstance(value, list):
        return [_true(one, names) for one in cast("Sequence[object]", value)]
    return value
