"""The schemas people validate against are those the programs follow."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from alder.expr.json import proposal_schema, tree_schema
from alder.records.lawfile import law_schema

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
SCHEMAS: dict[str, Callable[[], object]] = {
    "tree.schema.json": tree_schema,
    "proposal.schema.json": proposal_schema,
    "law.schema.json": law_schema,
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_published_schema_is_the_one_in_the_code(name: str) -> None:
    written = json.dumps(SCHEMAS[name](), indent=2) + "\n"
    path = REFERENCE / name
    assert path.read_text("utf-8") == written, f"write the new schema to docs/reference/{name}"
