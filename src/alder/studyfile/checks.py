"""Hold a parsed file against the schema; the first mistake becomes one sentence and its place."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, cast, final

from alder.spelling import printable, suggestion
from alder.studyfile.lines import Path, words_of

Schema: TypeAlias = Mapping[str, Any]

_WORDS = {
    "object": "a table",
    "array": "a list",
    "string": "text in quotes",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
}


@final
class Mistake(Exception):
    """What is wrong with one setting, where it is, and its value."""

    def __init__(self, path: Path, sentence: str, value: object = None) -> None:
        """Keep the place for the line number."""
        super().__init__(sentence)
        self.path, self.sentence, self.value = path, sentence, value


def require_valid(value: object, schema: Schema, path: Path = ()) -> None:
    """Raise `Mistake` at the first setting that does not follow the schema."""
    chosen = _alternative(value, schema)
    if chosen is None:
        expected = " or ".join(_WORDS[each["type"]] for each in _alternatives(schema))
        shown = _shown(value)
        raise Mistake(path, f"`{_name(path)}` must be {expected}; got {shown}.", value)
    if "enum" in chosen and value not in chosen["enum"]:
        known = [str(each) for each in chosen["enum"]]
        raise Mistake(
            path,
            f"`{value}` is not a value of `{_name(path)}`; {_listed(known)}."
            f"{suggestion(str(value), known)}",
            value,
        )
    _require_size(value, chosen, path)
    if isinstance(value, dict):
        _require_table(cast("dict[str, object]", value), chosen, path)
    elif isinstance(value, list):
        for i, item in enumerate(cast("list[object]", value)):
            require_valid(item, chosen.get("items", {}), (*path, i))


def _require_table(table: dict[str, object], schema: Schema, path: Path) -> None:
    properties: Mapping[str, Schema] = schema.get("properties", {})
    others: Schema | None = schema.get("additionalProperties") or None
    for name, item in table.items():
        inner = properties.get(name, others)
        if inner is None:
            known = tuple(properties)
            raise Mistake(
                (*path, name),
                f"`{name}` is not a setting of {words_of(path)}; {_listed(known)}."
                f"{suggestion(name, known)}",
            )
        require_valid(item, inner, (*path, name))
    for name in cast("Sequence[str]", schema.get("required", ())):
        if name not in table:
            words = str(properties[name]["description"])
            first = words[:1].lower() if words[1:2].islower() else words[:1]
            raise Mistake(path, f"{words_of(path)} needs `{name}`: {first}{words[1:]}")


def _require_size(value: object, schema: Schema, path: Path) -> None:
    if isinstance(value, list):
        n = len(cast("list[object]", value))
        if not schema.get("minItems", 0) <= n <= schema.get("maxItems", n):
            raise Mistake(path, f"`{_name(path)}` {schema['x-size']}; got {n} item(s).")
    least = schema.get("minimum")
    if least is not None and isinstance(value, int | float) and not value >= least:
        raise Mistake(path, f"`{_name(path)}` must be at least {least}; got {value}.")


def _alternatives(schema: Schema) -> Sequence[Schema]:
    return schema.get("anyOf", (schema,))


def _alternative(value: object, schema: Schema) -> Schema | None:
    """Return the part of the schema for a value of this type."""
    for each in _alternatives(schema):
        if "type" not in each or _is(value, each["type"]):
            return each
    return None


def _is(value: object, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    match kind:
        case "object":
            return isinstance(value, dict)
        case "array":
            return isinstance(value, list)
        case "string":
            return isinstance(value, str)
        case "integer":
            return isinstance(value, int)
        case _:
            return isinstance(value, int | float)


def _shown(value: object) -> str:
    match value:
        case dict():
            return "a table"
        case list():
            return "a list"
        case bool():
            return str(value).lower()
        case _:
            return printable(repr(value))


def _name(path: Path) -> str:
    names = [part for part in path if isinstance(part, str)]
    return names[-1] if names else "the file"


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names)} {'is' if len(names) == 1 else 'are'}"
