"""`alder plan`: which action a saved law says leads to a target."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from alder.cli.layout import number, read_number, read_pairs, show_lines, terminal
from alder.errors import BadLawFile, BadParameter

if TYPE_CHECKING:
    from alder.records.dynamics import Dynamics
    from alder.records.law import Law
    from alder.records.plan import Plan

REFUSED = 3


def command(
    law: Annotated[
        Path, typer.Argument(metavar="LAW.JSON", help="A saved law, or saved equations of motion.")
    ],
    target: Annotated[
        list[str], typer.Option(help="What is wanted: 0.52, or x=0.52 for a column; repeatable.")
    ],
    *,
    at: Annotated[
        list[str] | None, typer.Option(help="Where it begins: --at x=0 --at v=0; repeatable.")
    ] = None,
    action: Annotated[
        list[str] | None,
        typer.Option(help="What may be chosen: --action u=-2:2, or u within the law's scope."),
    ] = None,
    horizon: Annotated[
        str | None, typer.Option(help="Times to try in order, for motion: --horizon 1,2,0.5.")
    ] = None,
    moves: Annotated[int, typer.Option(help="How often the action changes on the way.")] = 1,
    limit: Annotated[
        list[str] | None, typer.Option(help="Where it must stay: --limit v=-1:1; repeatable.")
    ] = None,
    known: Annotated[
        list[str] | None,
        typer.Option(help="A rate that is known beside the law's: --known x=v; repeatable."),
    ] = None,
    tolerance: Annotated[float, typer.Option(help="How near counts as reached.")] = 1e-4,
    evaluations: Annotated[int, typer.Option(help="Most calls of the forward model.")] = 48,
) -> None:
    """Example: alder plan law.json --target 0.52 --at x=0.1

    Chooses the action for which the law predicts the target, within limits and the law's scope,
    also where its coefficients are off by two standard deviations. Equations of motion are followed
    in time: alder plan motion.json --target x=0.52 --at x=0 --at v=0 --horizon 1,2; not where their
    inputs have a dead time. Exit status: 0 planned, also where only the closest safe action was
    found, 3 refused.
    """
    from alder.control.planning import plan

    loaded = _load(law, known or [], in_time=horizon is not None)
    start = {n: read_number("--at", n, v) for n, v in read_pairs("--at", at or [], "x=0").items()}
    found = plan(
        loaded,
        None,
        _target(target),
        actions=_actions(action or [], loaded),
        start=start,
        horizons=_horizons(horizon),
        moves=moves,
        limits=_ends("--limit", limit) if limit else None,
        tolerance=tolerance,
        evaluations=evaluations,
    )
    _show(found, None if _is_motion(law) else law)
    if found.refused:
        raise typer.Exit(REFUSED)


def _load(path: Path, known: Sequence[str], *, in_time: bool) -> "Law | Dynamics":
    """Read a law or equations of motion; a law of a rate becomes the latter where it moves."""
    from alder.records.dynamics import Dynamics
    from alder.records.law import Law

    if _is_motion(path):
        return Dynamics.load(path)
    law = Law.load(path)
    if not in_time:
        return law
    name = law.target.name
    if not (name.startswith("d") and name.endswith("_dt")):
        raise BadLawFile(
            f"{path.name} is a law of `{name}`, which is no rate such as `dv_dt`; leave --horizon "
            "out to ask for the law's own value."
        )
    return Dynamics({name[1:-3]: law}, read_pairs("--known", known, "x=v"))


def _is_motion(path: Path) -> bool:
    """Say whether a file holds equations of motion, not a law."""
    from alder.records.dynamics import SCHEMA

    return path.is_file() and SCHEMA in path.read_text(encoding="utf-8", errors="replace")[:200]


def _target(words: Sequence[str]) -> float | dict[str, float]:
    if len(words) == 1 and "=" not in words[0]:
        return read_number("--target", "value", words[0])
    pairs = read_pairs("--target", words, "x=0.52")
    return {name: read_number("--target", name, text) for name, text in pairs.items()}


def _horizons(text: str | None) -> list[float] | None:
    if text is None:
        return None
    return [read_number("--horizon", "time", part) for part in text.split(",") if part.strip()]


def _actions(words: Sequence[str], law: "Law | Dynamics") -> dict[str, tuple[float, float]] | None:
    """Read what may be chosen; a name alone means its range in the law's scope."""
    if not words:
        return None
    found: dict[str, tuple[float, float]] = {}
    for word in words:
        if "=" in word:
            found |= _ends("--action", [word])
        elif word in law.scope.ranges:
            found[word] = law.scope.ranges[word]
        else:
            raise BadParameter(
                f"`--action {word}`: the law has no range of `{word}`; write --action {word}=-1:1."
            )
    return found


def _ends(option: str, words: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Read `v=-1:1`; an end that is left out is none."""
    ends: dict[str, tuple[float, float]] = {}
    for name, text in read_pairs(option, words, "v=-1:1").items():
        low, colon, high = text.partition(":")
        if not colon:
            raise BadParameter(f"`{option} {name}={text}` must look like `{option} {name}=-1:1`.")
        ends[name] = (
            read_number(option, name, low) if low.strip() else -float("inf"),
            read_number(option, name, high) if high.strip() else float("inf"),
        )
    return ends


def _show(plan: "Plan", law: Path | None) -> None:
    """Print a plan; one from a law's file says how to check that law."""
    from rich.text import Text

    console = terminal()
    if plan.refused:
        console.print(Text.assemble(("● REFUSED", "bold yellow"), "  no action is planned\n"))
        show_lines(
            console,
            {
                "reason": plan.reason,
                "asked": f"{plan.evaluations} evaluations of the law",
                "next": "widen the limits, choose another target, or let the law be fitted further",
            },
        )
        return
    mark = "✓ REACHED" if plan.status == "reached" else "✓ CLOSEST"
    moves = "   ".join(
        f"{name} = {', '.join(number(a, 6) for a in plan.actions[:, k].tolist())}"
        for k, name in enumerate(plan.inputs)
    )
    console.print(f"{mark}  {moves}\n", soft_wrap=True)
    lines = {
        "predicted": "   ".join(_end(plan, name) for name in plan.target),
        "error": f"{plan.error:.2g}",
    }
    if "t" in plan.path:
        lines["horizon"] = number(plan.horizon) + (f", {plan.beyond}" if plan.beyond else "")
    if plan.reason:
        lines["reason"] = plan.reason
    lines["asked"] = f"{plan.evaluations} evaluations of the law"
    if law is not None:
        lines["next"] = f"do it, and tell what happened: alder check {law.name} new.csv"
    show_lines(console, lines)


def _end(plan: "Plan", name: str) -> str:
    low, high = plan.lowest[name], plan.highest[name]
    return f"{name} {plan.predicted[name]:.6g} ({low:.6g} to {high:.6g} under all credible laws)"
