"""The JSON schema of a study file; editors complete and check with it."""

from typing import Any

from alder.expr.operators import OPERATORS
from alder.selection.registry import SELECTORS

_Schema = dict[str, Any]


def schema() -> _Schema:
    """Return the schema as JSON values; `docs/reference/study.schema.json` is a copy."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "An Alder study",
        **_table(
            "A study: what a law may say, rows, a world to ask, and what it may cost.",
            {
                "seed": _whole("The seed of everything random.", least=0),
                "selector": _text(
                    f"How experiments are chosen: {', '.join(SELECTORS)}, or a plug-in."
                ),
                "grammar": _grammar(),
                "rows": _rows(),
                "world": _world(),
                "budget": _budget(),
                "proposer": _proposer(),
                "limits": _limits(),
                "criteria": _criteria(),
                "spending": _spending(),
            },
            required=("grammar", "rows"),
        ),
    }


def _grammar() -> _Schema:
    variable = _table(
        "A column of the rows.",
        {
            "name": _text("The name of the column."),
            "unit": _text('Its unit, such as "m/s^2"; "1" for a pure number.'),
            "role": _text("What it is.", ("state", "action", "property", "geometry")),
            "range": _pair("The smallest and the largest value."),
            "description": _text("What it means, in words."),
            "kind": _text("What its values are.", ("real", "angle", "indicator")),
        },
        required=("name",),
    )
    nesting = _table(
        "How often one operator may stand below another.",
        {
            "outer": _text("The operator above.", tuple(OPERATORS)),
            "inner": _text("The operator below.", tuple(OPERATORS)),
            "at_most": _whole("How often; 0 if left out.", least=0),
        },
        required=("outer", "inner"),
    )
    name = _text("The name of a column.")
    number = _number("A floor of the arithmetic.")
    floors: _Schema = dict.fromkeys(("denominator", "base", "exponent", "saturation"), number)
    return _table(
        "What a law may say.",
        {
            "variables": _list(
                "The columns a law may use.", {"anyOf": [name, variable]}, at_least=1
            ),
            "target": {
                "description": "The column the law is for.",
                "anyOf": [name, variable],
            },
            "operators": _list(
                "The operators a law may use; all of them if left out.",
                _text("An operator.", tuple(OPERATORS)),
                at_least=1,
            ),
            "max_nodes": _whole("The largest law, in nodes.", least=1),
            "max_depth": _whole("The deepest law.", least=1),
            "units": _text("What unit checking does with parameters.", ("absorb", "strict")),
            "angles_in_trig": _flag("Angles stand under trigonometric functions only."),
            "indicators_as_factors": _flag("Indicators stand as factors only."),
            "nesting": _list("What may not stand inside what.", nesting),
            "floors": _table("What makes every operator total.", floors),
        },
        required=("variables", "target"),
    )


def _rows() -> _Schema:
    protected = _table(
        "Rows that only the verifier sees.",
        {
            "admission": _files("The rows a law is admitted on."),
            "shift": {
                "description": "Rows of shifted regimes, in one file or by the name of the regime.",
                "anyOf": [
                    *_files("")["anyOf"],
                    {"type": "object", "additionalProperties": _files("The rows of a regime.")},
                ],
            },
        },
        required=("admission",),
    )
    return _table(
        "CSV files, relative to the study file, and the columns that say something about a row.",
        {
            "initial": _files("The CSV file or files to begin with."),
            "validation": _files("Public rows that are never fitted to."),
            "protected": protected,
            "sigma": _text("The column of error bars of the target."),
            "weight": _text("The column of relative weights."),
            "group": _text("The column of groups, each with an offset of its own."),
            "time": _text("The column of the time; without protected rows the last are protected."),
            "sums": _text("The column of observations; a target is the sum over its rows."),
        },
        required=("initial",),
    )


def _world() -> _Schema:
    pair = _pair("The smallest and the largest value.")
    return _table(
        "Where rows come from. Without it there are recorded rows only.",
        {
            "kind": _text(
                "A recorded pool, a person, recorded rows only, a Python function, or a world made "
                "in Python (pool, manual, log, function, python), or a plug-in."
            ),
            "experiments": _text("The CSV file of experiments, a column for each setting."),
            "outcomes": _text("For a pool: the column of outcomes; the target's if left out."),
            "cost": _text("The column of costs; `cost` if there is one."),
            "safe": _text("The column that says which are safe; `safe` if there is one."),
            "ranges": {
                "type": "object",
                "description": "For a person, in place of experiments: a box of settings.",
                "additionalProperties": pair,
            },
            "n": _whole("How many experiments are spread over the box.", least=1),
            "function": _text('A function of a dict of settings: "module:name".'),
            "seconds": _number("The most seconds of one call of the function; 60 if left out."),
            "object": _text('A world, or a function that makes one: "module:name".'),
        },
    )


def _budget() -> _Schema:
    return _table(
        "What the study may use up.",
        {
            "proposals": _whole("Laws that may be submitted.", least=1),
            "queries": _whole("Experiments that may be run.", least=0),
            "batch": _whole("Experiments of one round.", least=1),
            "cost": _number("Their cost, all together.", least=0),
            "seconds": _number("A guard on the time.", least=0),
            "tokens": _whole("Tokens of a model.", least=0),
            "money": _number("What a hosted model may ask, in US dollars.", least=0),
        },
    )


def _proposer() -> _Schema:
    law = _text("The right-hand side of a law, as you write it.")
    guess = _table(
        "A law with bounds.",
        {
            "law": law,
            "bounds": {
                "type": "object",
                "description": "Where coefficients may lie.",
                "additionalProperties": _pair("The two ends; inf is allowed."),
            },
            "why": _text("The reason for it."),
        },
        required=("law",),
    )
    return _table(
        "Who proposes laws.",
        {
            "kind": _text(
                "search, guesses (yours alone), a model such as llm:openai:NAME, "
                "agent:command ..., or a plug-in."
            ),
            "guesses": _list("Laws to start from.", {"anyOf": [law, guess]}),
        },
    )


def _limits() -> _Schema:
    return _table(
        "What an experiment may show, as every law that stands forecasts it.",
        {
            "columns": {
                "type": "object",
                "description": "The lowest and the highest value by column; inf is allowed.",
                "additionalProperties": _pair("The lowest and the highest value."),
            },
            "sigmas": _number("Standard deviations of coefficients kept clear of.", least=0),
        },
        required=("columns",),
    )


def _criteria() -> _Schema:
    return _table(
        "What is asked of a law; see the page on verification before changing it.",
        {
            "level": _number("The chance of refusing a law that is right."),
            "improvement": _number("The share of the reference's error a law must remove."),
            "max_nodes": _whole("The largest law.", least=1),
            "vague": _number("How badly known predictions may be."),
            "own": _list("Criteria of your own: the names of plug-ins.", _text("A plug-in.")),
            "negligible": _number("The NMSE below which errors are rounding."),
            "balanced_accuracy": _number("What is asked of laws of events."),
            "thresholds": _table(
                "Fixed limits in place of tests against the noise, for benchmarks.",
                {
                    "admission_nmse": _number("The NMSE on protected rows.", least=0),
                    "shift_nmse": _number("The NMSE on rows of each shifted regime.", least=0),
                    "improvement": _number("The share of the reference's error to remove."),
                },
                required=("admission_nmse",),
            ),
        },
    )


def _spending() -> _Schema:
    return _table(
        "What the verifier's answers cost; see the page on verification.",
        {
            "kind": _text("The rule.", ("alpha-spending", "thresholdout")),
            "alpha": _number("The share of false promises."),
            "submissions": _whole("For alpha-spending: laws answered at most.", least=1),
            "margin": _number("For thresholdout: what is asked beyond a single test.", least=0),
            "scale": _number("For thresholdout: the scale of the noise.", least=0),
            "refusals": _whole("For thresholdout: refusals at most.", least=1),
        },
        required=("kind",),
    )


def _table(words: str, properties: _Schema, required: tuple[str, ...] = ()) -> _Schema:
    found: _Schema = {
        "type": "object",
        "description": words,
        "properties": properties,
        "additionalProperties": False,
    }
    return found | ({"required": list(required)} if required else {})


def _text(words: str, known: tuple[str, ...] = ()) -> _Schema:
    return {"type": "string", "description": words} | ({"enum": list(known)} if known else {})


def _whole(words: str, *, least: int) -> _Schema:
    return {"type": "integer", "description": words, "minimum": least}


def _number(words: str, *, least: float | None = None) -> _Schema:
    return {"type": "number", "description": words} | ({} if least is None else {"minimum": least})


def _flag(words: str) -> _Schema:
    return {"type": "boolean", "description": words}


def _list(words: str, items: _Schema, *, at_least: int = 0) -> _Schema:
    found: _Schema = {"type": "array", "description": words, "items": items}
    return found | ({"minItems": at_least, "x-size": "needs at least one"} if at_least else {})


def _pair(words: str) -> _Schema:
    return {
        "type": "array",
        "description": words,
        "items": {"type": "number"},
        "minItems": 2,
        "maxItems": 2,
        "x-size": "is a pair such as [0.5, 4.0]",
    }


def _files(words: str) -> _Schema:
    one: _Schema = {"type": "string"}
    many = _list("Several files, one below the other.", one, at_least=1)
    return {"description": words, "anyOf": [one, many]}
