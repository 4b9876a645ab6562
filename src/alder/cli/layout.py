"""How results look in the terminal: at most 100 columns, tables, and lines with a word in front."""

import shutil
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from alder.errors import BadParameter

if TYPE_CHECKING:
    from rich.console import Console

    from alder.records.coefficient import Coefficient
    from alder.records.law import Law

WIDTH = 100


def terminal() -> "Console":
    """Return where results are printed."""
    from rich.console import Console

    width = min(WIDTH, shutil.get_terminal_size((WIDTH, 24)).columns)
    return Console(width=width, highlight=False, markup=False, emoji=False)


def show_coefficients(console: "Console", coefficients: "Sequence[Coefficient]") -> None:
    """Print the table: name, estimate, 95 % interval, unit."""
    from rich import box
    from rich.table import Table

    from alder.export.heading import interval_words, unit_words

    if not coefficients:
        return
    with_unit = any(coefficient.unit for coefficient in coefficients)
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=True, header_style="")
    table.add_column("")
    table.add_column("estimate", justify="right")
    table.add_column("95 % interval", justify="right")
    if with_unit:
        table.add_column("unit")
    for coefficient in coefficients:
        value, interval = interval_words(coefficient)
        unit = "" if coefficient.unit in (None, "1") else unit_words(str(coefficient.unit))
        table.add_row(coefficient.name, value, interval, *([unit] if with_unit else []))
    with console.capture() as shown:
        console.print(table)
    lines = (line.rstrip() for line in shown.get().splitlines())
    console.print("\n".join(["", *lines, ""]))


def show_lines(console: "Console", lines: Mapping[str, str]) -> None:
    """Print lines with a word in front; long ones continue below their own beginning."""
    indent = 2 + max(map(len, lines))
    for word, text in lines.items():
        room = max(console.width - indent, 20)
        wrapped = textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False)
        below = "\n" + " " * indent
        console.print(f"{word:<{indent}}{below.join(wrapped)}", soft_wrap=True)


def number(value: float, digits: int = 3) -> str:
    """Write a number with the digits the report shows, in ASCII.

    >>> number(-0.034171), number(float("inf"))
    ('-0.0342', 'inf')
    """
    from alder.report.numbers import short

    return ascii_numbers(short(value, digits))


def shortened(text: str, width: int) -> str:
    """Cut a text that is wider than there is room for.

    >>> shortened("a + b*tanh(u)", 8), shortened("a + b", 8)
    ('a + b*t…', 'a + b')
    """
    return text if len(text) <= width else text[: max(width - 1, 0)] + "…"


def ascii_numbers(text: str) -> str:
    """Write what the report says with plain signs and spaces, to be copied."""
    return text.replace("−", "-").replace("∞", "inf").replace("\u00a0", " ")


def without_zeros(law: "Law") -> str:
    """Write a law without the terms whose number, as it is rounded, is zero."""
    from alder.expr.nodes import Apply, Const, Expr
    from alder.expr.operators import operator
    from alder.expr.sums import apart, summands
    from alder.expr.text import to_text
    from alder.expr.valued import with_values
    from alder.records.rounding import decimals

    rounded = {
        c.name: round(c.value, decimals(c.value, (c.upper - c.lower) / 2.0))
        for c in law.coefficients
    }
    total: Expr | None = None
    for sign, term in summands(law.structure):
        if apart(term, rounded)[0] == 0.0:
            continue
        if total is None:
            total = term if sign > 0.0 else Apply(operator("neg"), (term,))
        else:
            total = Apply(operator("add" if sign > 0.0 else "sub"), (total, term))
    shown = with_values(Const(0.0) if total is None else total, rounded)
    return f"{law.target.name} = {to_text(shown, [v.name for v in law.variables])}"


def scope_words(law: "Law") -> str:
    """Say where a law was fitted: `r 0.6 to 4 m   v -2.5 to 2.5 m/s`."""
    parts: list[str] = []
    for variable in law.variables:
        if variable.name in law.scope.ranges:
            low, high = law.scope.ranges[variable.name]
            parts.append(
                with_unit(f"{variable.name} {number(low)} to {number(high)}", variable.unit)
            )
    return "   ".join(parts) or "everywhere: the law has no variables"


def with_unit(text: str, unit: str | None) -> str:
    """Join a number and its unit."""
    return f"{text} {unit}" if unit and unit != "1" else text


def require_folder(out: Path) -> None:
    """Refuse, before anything is searched, to save where no file can be made."""
    if out.is_dir():
        raise BadParameter(f"--out {out} is a folder; name a file in it: --out {out / 'law.json'}.")
    if not out.parent.is_dir():
        raise BadParameter(
            f"--out {out} cannot be saved: the folder {out.parent} does not exist. Make it, or "
            "name another."
        )


def read_pairs(option: str, words: Sequence[str], example: str) -> dict[str, str]:
    """Split words such as `r=m`; refuse others and a name that comes twice."""
    pairs: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        name, value = name.strip(), value.strip()
        if not (name and equals and value):
            raise BadParameter(f"`{option} {word}` must look like `{option} {example}`.")
        if name in pairs:
            raise BadParameter(f"`{option}` names {name} twice; keep one of the two.")
        pairs[name] = value
    return pairs


def read_number(option: str, name: str, text: str) -> float:
    """Read a finite number of an option."""
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not abs(value) < float("inf"):
        raise BadParameter(f"`{option} {name}={text}`: `{text}` is not a finite number.")
    return value
