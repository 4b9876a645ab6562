import keyword

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alder.errors import BadParameter
from alder.export.formats import FORMATS, Format, export
from alder.export.naming import RESERVED, Names
from alder.expr.text import parse
from export.laws import NAMES, law_of


@pytest.mark.parametrize("to", FORMATS)
def test_every_export_carries_units_ranges_intervals_and_digest(to: Format) -> None:
    law = law_of(parse("k*r - c*double", NAMES), {"k": 1.3, "c": 0.4})
    for text in export(law, to).values():
        for words in ("m/s^2", "-2 to 2", "1.10 to 1.50", law.digest):
            assert words in text


@pytest.mark.parametrize("to", FORMATS)
def test_every_export_says_which_name_stands_for_which_variable(to: Format) -> None:
    law = law_of(parse("k*double", NAMES), {"k": 1.3})
    assert all("double_2: double" in text for text in export(law, to).values())


def test_an_unknown_format_is_refused_with_a_suggestion() -> None:
    law = law_of(parse("k*r", NAMES), {"k": 1.3})
    with pytest.raises(BadParameter, match=r"Did you mean `latex`\?"):
        export(law, "latx")  # type: ignore[arg-type]


@given(st.lists(st.text(max_size=8), max_size=12))
def test_identifiers_are_legal_and_never_alike(wanted: list[str]) -> None:
    names = Names()
    given_names = [names.take(name) for name in wanted]
    assert len(set(given_names)) == len(given_names)
    for name in given_names:
        assert name.isascii()
        assert name.isidentifier()
        assert not keyword.iskeyword(name)
        assert name not in RESERVED
        assert "__" not in name
        assert not name.startswith("_")
