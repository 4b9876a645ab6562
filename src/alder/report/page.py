"""One self-contained page from the events of a ledger: the same ledger gives the same bytes."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from alder.export.heading import interval_words
from alder.expr.nodes import size
from alder.ports import Event
from alder.records.coefficient import Coefficient
from alder.report import charts, words
from alder.report.calculator import calculator
from alder.report.front import FATES, Line, draw_front, lines
from alder.report.mathml import name_mathml, to_mathml
from alder.report.measure import REFUTED
from alder.report.numbers import (
    estimate_html,
    minus,
    prose,
    relative,
    short,
    sigmas,
    unit_html,
    with_unit,
)
from alder.report.proofs import proof
from alder.report.rivals import Rival, rivals
from alder.report.story import Answer, Round, Story, public_rows, tell, telling
from alder.report.svg import Drawing, Frame, limits_of

# More would make the page heavy and nobody reads on; the table says how many there were.
MOST_RIVALS = 24
MOST_ROUNDS_DRAWN = 8
_BAR = 150.0


def render(events: Sequence[Event]) -> str:
    """Return the page as HTML; raise `BadLedger` where the events hold no study."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    story = tell(events)
    environment = Environment(
        loader=PackageLoader("alder.report"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters["raw"] = Markup
    environment.filters["prose"] = _prose
    return environment.get_template("report.html").render(_content(story), count=words.count)


def _prose(text: str) -> str:
    from markupsafe import Markup

    return Markup(prose(text))


def _content(story: Story) -> dict[str, Any]:
    end, state = story.state.end, story.state
    found = rivals(story)
    best, unit = story.best, story.unit
    main = _main_answer(story)
    target = story.evidence.grammar.target
    content: dict[str, Any] = {
        "kind": "running" if end is None else "admitted" if end.law else "refused",
        "headline": words.headline(story, found),
        "sum": words.paragraph(story),
        "kick": _kick(story),
        "facts": _facts(story, found),
        "law": _law(story),
        "calculator": None if story.law is None else calculator(story.law),
        "crucial": None if main is None or unit is None else charts.crucial(story, main, unit),
        "crucial_table": None if main is None else _said(story, main),
        "rounds": [_round(story, r) for r in story.rounds],
        "front": draw_front(story),
        "front_laws": [_on_front(story, line) for line in lines(story)],
        "rivals": [_rival(story, r) for r in found[:MOST_RIVALS]],
        "n_rivals": len(found),
        "refuted_at": f"{REFUTED:g}",
        "budget": _budget(story),
        "reproduce": _reproduce(story),
        "cut_short": end is not None and end.cut_short,
        "refusal": None,
        "fit": None,
        "progress": None,
        "residuals": [],
        "domain": [],
        "n_outside": "",
        "target": target.name,
        "target_name": f"<math>{name_mathml(target.name)}</math>",
    }
    if best is not None and unit is not None:
        content["fit"] = charts.predicted_observed(story, best, unit)
        content["progress"] = charts.progress(story, unit, (480.0, 400.0))
        content["residuals"] = charts.residuals(story, best, unit)
        content["n_outside"] = _outside(story)
        content["domain"] = charts.domain(story, unit) if state.trajectories else []
    if end is not None and end.refusal is not None:
        content["refusal"] = {
            "cause": end.refusal.cause,
            "advice": end.refusal.advice,
            "changes": words.CHANGES[end.refusal.cause],
            "proof": proof(story, end.refusal),
            "rulings": words.causes(end.refusal),
            "is_old": not end.refusal.findings,
        }
    return content


def _main_answer(story: Story) -> Answer | None:
    answers = [a for r in story.rounds if len(r.candidates) > 1 for a in r.answers]
    return telling(answers, REFUTED)


def _kick(story: Story) -> str:
    evidence = story.evidence
    n_dropped = story.state.n_dropped
    left_out = f" ({n_dropped} left out, a value missing)" if n_dropped else ""
    return (
        f"{words.count(evidence.initial.n_rows, 'first row')}{left_out}, "
        f"{words.count(len(evidence.trajectories), 'experiment')}, "
        f"{words.count(len(evidence.grammar.variables), 'input')}"
    )


def _facts(story: Story, found: Sequence[Rival]) -> list[tuple[str, str]]:
    end, spent, budget = story.state.end, story.state.spent, story.evidence.budget
    facts: list[tuple[str, str]] = []
    unit = story.evidence.grammar.target.unit
    if end is not None and end.verdict is not None and end.verdict.bound is not None:
        facts.append((words.bound_words(end.verdict, unit), words.bound_note(end.verdict)))
    facts.append(
        (f"{spent.queries} of {budget.queries}", "experiments were asked of those allowed")
    )
    refuted = sum(rival.standing == "refuted" for rival in found)
    facts.append((f"{refuted} refuted", f"of {words.count(len(found), 'law')} in the running"))
    if end is not None and end.law is not None:
        facts.append((f"{end.law.digest[:8]}…", "digest of the law; verify with alder audit"))
    return facts


def _law(story: Story) -> dict[str, Any] | None:
    law = story.law
    if law is None:
        return None
    estimates = (*law.coefficients, *law.exponent_estimates)
    known = [r for r in map(relative, estimates) if r is not None]
    scale = max(known, default=0.0)
    return {
        "math": to_mathml(law.structure, law.target.name, large=True),
        "text": str(law),
        "coefficients": [_coefficient(c, scale) for c in estimates],
        "worst": f"{short(100.0 * scale, 2)} %" if known else "",
        "scale": f"{short(100.0 * scale, 2)} %",
        "scope": _scope(story),
    }


def _coefficient(c: Coefficient, scale: float) -> dict[str, str]:
    _, interval = interval_words(c)
    share = relative(c)
    bar = ""
    if share is not None and scale > 0.0:
        middle, half = _BAR / 2.0, (_BAR / 2.0 - 8.0) * share / scale
        bar = (
            f'<svg viewBox="0 0 {_BAR:g} 20" width="{_BAR:g}" height="20" aria-hidden="true">'
            f'<line x1="{middle:g}" x2="{middle:g}" y1="1" y2="19" class="grid"/>'
            f'<line x1="{middle - half:.1f}" x2="{middle + half:.1f}" y1="10" y2="10" '
            'style="stroke:var(--law);stroke-width:3"/>'
            f'<circle cx="{middle:g}" cy="10" r="3.6" style="fill:var(--law)"/></svg>'
        )
    return {
        "name": f"<math>{name_mathml(c.name)}</math>",
        "estimate": estimate_html(c),
        "interval": minus(interval),
        "unit": unit_html(c.unit),
        "bar": bar,
        "relative": "—" if share is None else f"±\u00a0{short(100.0 * share, 2)}\u00a0%",
    }


def _scope(story: Story) -> list[dict[str, str]]:
    law = story.law
    assert law is not None
    first = story.evidence.initial.columns
    scope: list[dict[str, str]] = []
    for variable in law.variables:
        if variable.name not in law.scope.ranges:
            continue
        low, high = law.scope.ranges[variable.name]
        column = first[variable.name]
        shown = limits_of([low, high, *(variable.range or ())], 0.0)
        frame = Frame(300.0, 18.0, shown, (0.0, 1.0), left=2.0, right=2.0, top=0.0, bottom=0.0)
        drawing = Drawing(frame)
        drawing.rect(2.0, 4.0, 296.0, 10.0, "fill:var(--soft);stroke:var(--line)")
        for ends, opacity in (((low, high), ".35"), ((column.min(), column.max()), "1")):
            left, right = (float(frame.px(float(end))) for end in ends)
            drawing.rect(left, 4.0, right - left, 10.0, f"fill:var(--law);opacity:{opacity}")
        scope.append(
            {
                "name": f"<math>{name_mathml(variable.name)}</math>",
                "meaning": variable.description,
                "bar": drawing.render(f"Scope of {variable.name}"),
                "range": f"{short(low)} to {with_unit(short(high), variable.unit)}",
            }
        )
    return scope


@final
@dataclass(frozen=True, slots=True)
class _Verdict:
    mark: str
    label: str
    hue: str
    said: str
    saw: str
    sigmas: str


def _said(story: Story, answer: Answer) -> list[_Verdict]:
    unit = story.evidence.grammar.target.unit
    return [
        _Verdict(
            "× refuted" if said.sigmas >= REFUTED else "✓ stands",
            said.label,
            charts.hue(story, said.label),
            with_unit(short(said.said), unit),
            with_unit(short(answer.saw), unit),
            sigmas(said.sigmas),
        )
        for said in sorted(answer.said, key=lambda s: s.sigmas)
    ]


def _round(story: Story, round_: Round) -> dict[str, Any]:
    attempt = round_.attempt
    answer = telling(round_.answers, REFUTED) if len(round_.candidates) > 1 else None
    drawn = answer is not None and story.unit is not None and round_.number <= MOST_ROUNDS_DRAWN
    main = _main_answer(story)
    is_main = main is not None and answer is main
    law = attempt.fit.law if attempt.fit is not None else None
    label = "" if law is None else story.letter(law.structure)
    return {
        "number": round_.number,
        "n_rows": round_.n_rows,
        "tried": [(c.label, charts.hue(story, c.label)) for c in round_.candidates],
        "label": label,
        "hue": charts.hue(story, label),
        "math": "" if law is None else to_mathml(law.structure),
        "rationale": attempt.proposal.rationale if attempt.proposal else "",
        "problems": [problem.message for problem in attempt.problems],
        "category": attempt.category,
        "meaning": words.CATEGORIES.get(attempt.category or "", ""),
        "accepted": attempt.category == "accept",
        "n_asked": len(round_.choices),
        "n_answered": len(round_.answers),
        "failures": [failure.reason for failure in round_.failures],
        "misfit": f"{attempt.misfits[0].where}" if attempt.misfits else "",
        "held_out": words.held_out(attempt, story.evidence),
        "is_main": is_main,
        "figure": charts.telling_experiment(story, answer, story.unit)
        if drawn and not is_main and answer is not None and story.unit is not None
        else None,
        "said": [] if answer is None or is_main else _said(story, answer),
    }


def _rival(story: Story, rival: Rival) -> dict[str, Any]:
    unit = story.evidence.grammar.target.unit
    answer, said = rival.answer, rival.said
    error, spark = _spark(story, rival)
    return {
        "label": rival.label,
        "hue": charts.hue(story, rival.label),
        "math": to_mathml(rival.law.structure),
        "nodes": size(rival.law.structure),
        "error": error,
        "spark": spark,
        "fate": words.fate(rival, story),
        "standing": rival.standing,
        "detail": ""
        if answer is None or said is None
        else f"said {with_unit(short(said.said), unit)}, saw {with_unit(short(answer.saw), unit)}: "
        f"{sigmas(said.sigmas)} sd",
    }


def _on_front(story: Story, line: Line) -> dict[str, Any]:
    unit = story.evidence.grammar.target.unit
    return {
        "nodes": line.nodes,
        "error": with_unit(short(line.error), unit),
        "over": short(line.error / line.noise, 2) if line.noise > 0.0 else "—",
        "label": line.label,
        "hue": charts.hue(story, line.label),
        "math": to_mathml(line.law.structure),
        "text": str(line.law),
        "standing": line.standing,
        "fate": FATES[line.standing] + ("" if line.is_on else ", beside the front"),
    }


def _spark(story: Story, rival: Rival) -> tuple[str, str]:
    """Return a rival's error on public rows in noise sd, and its residuals as a small picture."""
    import numpy as np

    unit = story.unit
    if unit is None:
        return "", ""
    rows, _ = public_rows(story)
    law = story.law if rival.standing == "admitted" and story.law is not None else rival.law
    z = unit.residuals(law, rows)
    rms = float(np.sqrt(np.mean(np.square(z))))
    spreads = [(v, abs(_slope(rows[v.name], z))) for v in unit.variables]
    along = max(spreads, key=lambda pair: pair[1])[0]
    x = rows[along.name]
    keep = slice(None, None, -(-len(x) // 120))
    frame = Frame(
        150.0, 34.0, limits_of([x]), (-12.0, 12.0), left=1.0, right=1.0, top=2.0, bottom=2.0
    )
    drawing = Drawing(frame)
    charts.residual_band(drawing)
    drawing.dots(x[keep], np.clip(z[keep], -12.0, 12.0), charts.hue(story, rival.label), 3.0)
    return short(rms, 2), drawing.render(f"Residuals of {rival.label} over {along.name}") + (
        f"<small>over {name_words(along.name)}</small>"
    )


def name_words(name: str) -> str:
    """Return a name as it may stand in HTML."""
    from html import escape

    return escape(name)


def _slope(x: Any, z: Any) -> float:  # noqa: ANN401 - columns
    """Measure structure of residuals along a column: how much means of ten parts differ."""
    import numpy as np

    order = np.argsort(x, kind="stable")
    parts = np.array_split(z[order], min(10, max(len(z) // 3, 1)))
    return float(np.sqrt(np.mean([np.mean(part) ** 2 * len(part) for part in parts])))


def _budget(story: Story) -> list[dict[str, Any]]:
    spent, budget = story.state.spent, story.evidence.budget
    lines: list[tuple[str, float, float | None, str]] = [
        ("Proposals submitted", spent.proposals, budget.proposals, ""),
        ("Experiments", spent.queries, budget.queries, ""),
        ("Experiment cost", spent.cost, budget.cost, ""),
        ("Time", spent.seconds, budget.seconds, "s"),
        ("Model tokens", spent.tokens, budget.tokens, ""),
        ("Model price", spent.money, budget.money, "$"),
        ("Fits", spent.fits, None, ""),
    ]
    shown: list[dict[str, Any]] = []
    for name, used, limit, unit in lines:
        limited = limit is not None and math.isfinite(limit)
        if not limited and (used == 0 or name == "Experiment cost"):
            continue
        of = f" of {short(limit, 6)}" if limited and limit is not None else ""
        share = min(100.0 * used / limit, 100.0) if limited and limit else None
        amount = short(used, 3 if unit else 6)
        shown.append({"name": name, "words": with_unit(f"{amount}{of}", unit), "share": share})
    return shown


def _reproduce(story: Story) -> dict[str, Any]:
    state, configuration = story.state, story.state.configuration
    assert configuration is not None
    rows: list[tuple[str, str]] = []
    law = story.law
    if law is not None:
        rows.append(("Law digest", law.digest))
    rows.append(("Ledger digest", state.digest))
    for made in state.commitments:
        rows.append((f"Protected {made.role}, {made.n_rows} rows, commitment", made.digest))
    rows.append(("Configuration digest", configuration.digest))
    plain: list[tuple[str, str]] = [
        ("Seed", f"{configuration.seed}"),
        ("Proposer, selector", f"{configuration.proposer}, {configuration.selector}"),
        ("Events", f"{state.n_events}"),
    ]
    if configuration.limits:
        plain.append(("Limits of every experiment", words.limits_held(configuration.limits)))
    if story.best is not None:
        unit = story.evidence.grammar.target.unit
        size = with_unit(short(words.noise_size(story.best, story), 2), unit)
        plain.append(("Noise of one observation", f"{size} ({story.best.noise.origin})"))
    versions: Mapping[str, str] = configuration.versions
    if versions:
        plain.append(("Versions", " · ".join(f"{k} {v}" for k, v in sorted(versions.items()))))
    return {"digests": rows, "plain": plain}


def _outside(story: Story) -> str:
    import numpy as np

    best, unit = story.best, story.unit
    assert best is not None
    assert unit is not None
    rows, _ = public_rows(story)
    z = unit.residuals(best, rows)
    n = int(np.sum(np.abs(z) > 2.0))
    expected = 0.0455 * len(z)
    return (
        f"{n} of {len(z)} residuals lie beyond 2 sd; noise alone would put about "
        f"{short(expected, 2)} there."
    )
