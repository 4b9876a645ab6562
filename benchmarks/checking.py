"""How long does a check take on hostile proposals? The goal is under 50 ms for every shape.

Run with `python benchmarks/checking.py`. Each time is the worst of several.
"""

import gc
import json
from collections.abc import Callable
from time import perf_counter

import numpy as np
from rich.console import Console
from rich.table import Table

from alder.checking import check
from alder.expr.json import to_json
from alder.expr.nodes import Apply, Expr, Var
from alder.expr.operators import OPERATORS
from alder.expr.sample import random_tree
from alder.records.grammar import Grammar
from alder.records.variable import Variable

GOAL_MS = 50.0
REPEATS = 5
MB = 1_000_000

NAMES = tuple(f"sensor_{i}" for i in range(500))
GRAMMAR = Grammar(
    [Variable("r", unit="m"), Variable("v", unit="m/s"), *(Variable(name) for name in NAMES)],
    target=Variable("a", unit="m/s^2"),
    max_depth=100,
)
ROWS = {name: np.linspace(0.5, 2.0, 100_000) for name in ("r", "v", *NAMES[:3])}

R: dict[str, object] = {"var": "r"}


def applied(name: str, *arguments: object) -> object:
    """Return the JSON form of an operator and its arguments."""
    return {"op": name, "args": list(arguments)}


def nested_object(depth: int) -> object:
    """Return an expression as deep as that."""
    node: object = R
    for _ in range(depth):
        node = applied("exp", node)
    return node


def nested_tree(depth: int) -> Expr:
    """Return a built tree as deep as that."""
    node: Expr = Var("r")
    for _ in range(depth):
        node = Apply(OPERATORS["neg"], (node,))
    return node


def shared_object(depth: int) -> object:
    """Return an expression of two to that power nodes in as many objects as its depth."""
    node: object = R
    for _ in range(depth):
        node = applied("add", node, node)
    return node


def cyclic_object() -> object:
    """Return an expression that contains itself."""
    node: dict[str, object] = {"op": "exp"}
    node["args"] = [node]
    return node


def misspelt(n: int) -> object:
    """Return as many unknown variables, each near to many known ones."""
    node: object = {"var": "sensor_x"}
    for i in range(n):
        node = applied("add", node, {"var": f"sensr_{i}"})
    return node


def power_tower(depth: int) -> object:
    """Return a valid expression that is slow to compute and overflows for every parameter."""
    node = applied("exp", applied("mul", {"var": NAMES[0]}, {"const": 600.0}))
    for i in range(depth):
        node = applied("add", node, applied("powp", node, {"param": f"p{i}"}))
    return applied("mul", {"var": NAMES[1]}, applied("pow", node, {"const": 9.0}))


def wrong_units(depth: int) -> object:
    """Return a sum whose every term has another unit."""
    node: object = R
    for i in range(depth):
        node = applied("add", node, applied("pow", R, {"const": 1.37 + i / 7}))
    return node


def attacks() -> dict[str, Callable[[], object]]:
    """Return what makes every hostile shape, by name.

    They are made one at a time: a heap full of the others would have its own garbage collected
    inside the times.
    """
    chain = '{"op":"exp","args":['
    filler = 128 * 1024 - 40
    return {
        "10 MB of text": lambda: "x" * (10 * MB),
        "10 MB of bytes": lambda: b"[" * (10 * MB),
        "10 MB name in an object": lambda: {"var": "a" * (10 * MB)},
        "10 MB rationale in an object": lambda: {"structure": R, "rationale": "é" * (5 * MB)},
        "text nested 100,000 deep": lambda: "[" * 100_000,
        "expression text nested 100,000 deep": lambda: chain * 100_000,
        "objects nested 100,000 deep": lambda: nested_object(100_000),
        "built tree nested 100,000 deep": lambda: nested_tree(100_000),
        "2^60 nodes in 60 objects": lambda: shared_object(60),
        "cyclic object": cyclic_object,
        "list of 10 million": lambda: {"op": "add", "args": [0] * (10 * MB)},
        "object of 1 million keys": lambda: dict.fromkeys(map(str, range(MB))),
        "largest JSON of empty objects": lambda: (
            '{"op":"add","args":[' + "{}," * (filler // 3) + "{}]}"
        ),
        "largest JSON of numbers": lambda: '{"op":"add","args":[' + "1," * (filler // 2) + "1]}",
        "largest JSON of one string": lambda: json.dumps({"var": "a" * filler}),
        "largest JSON of open strings": lambda: '{"' + '\\"' * (filler // 2),
        "largest JSON of repeated keys": lambda: "{" + '"a":1,' * (filler // 6) + '"a":1}',
        "largest JSON of digits": lambda: '{"const":' + "9" * filler + "}",
        "399-digit integers": lambda: '{"op":"add","args":[' + ("9" * 399 + ",") * 320 + "1]}",
        "4 kB of human syntax": lambda: "r+" * 2000 + "r",
        "4 kB of brackets": lambda: "(" * 4000,
        "20 look-alikes among 502 names": lambda: misspelt(20),
        "overflow on 100,000 rows": lambda: power_tower(1),
        "7 wrong units": lambda: wrong_units(7),
        "arbitrary bytes": lambda: bytes(range(256)) * 400,
        "1e999": lambda: '{"const":1e999}',
        "5,000-digit integer object": lambda: {"const": 10**5000},
    }


def worst_ms(run: Callable[[], object]) -> float:
    """Return the worst of several times."""
    times: list[float] = []
    for _ in range(REPEATS):
        start = perf_counter()
        run()
        times.append(perf_counter() - start)
    return 1e3 * max(times)


def size_of(source: object) -> str:
    """Say how long a source is, where it has a length in bytes."""
    if isinstance(source, str):
        return f"{len(source.encode()):,}"
    return f"{len(source):,}" if isinstance(source, bytes) else "object"


def main() -> None:
    """Print the table of attacks, and the time of an ordinary check."""
    table = Table(title=f"Checking hostile proposals (goal: under {GOAL_MS:g} ms)")
    for heading, side in (("shape", "left"), ("bytes", "right"), ("worst ms", "right")):
        table.add_column(heading, justify=side)  # pyright: ignore[reportArgumentType]
    table.add_column("first problem")
    for name, make in attacks().items():
        source = make()
        gc.collect()
        milliseconds = worst_ms(lambda source=source: check(source, GRAMMAR, ROWS))
        code = next((problem.code for problem in check(source, GRAMMAR, ROWS)), "none")
        mark = "" if milliseconds < GOAL_MS else " over"
        table.add_row(name, size_of(source), f"{milliseconds:.2f}{mark}", code)
    console = Console()
    console.print(table)
    console.print(ordinary())


def ordinary() -> str:
    """Say how long ordinary proposals of 31 nodes take."""
    rng = np.random.default_rng(0)
    grammar = Grammar([Variable(name) for name in ("r", "v", "u")], target=Variable("a"))
    trees = [random_tree(rng, 31, grammar.variable_names) for _ in range(200)]
    texts = [json.dumps({"structure": to_json(tree)}) for tree in trees]
    rows = {name: np.linspace(0.5, 2.0, 256) for name in grammar.variable_names}
    parts: list[str] = []
    for label, sources, columns in (
        ("tree", trees, None),
        ("JSON", texts, None),
        ("JSON on 256 rows", texts, rows),
    ):
        times: list[float] = []
        for source in sources:
            start = perf_counter()
            check(source, grammar, columns)
            times.append(perf_counter() - start)
        parts.append(f"{label} {1e6 * float(np.median(times)):.0f} us")
    return f"An ordinary proposal of 31 nodes (median): {', '.join(parts)}."


if __name__ == "__main__":
    main()
