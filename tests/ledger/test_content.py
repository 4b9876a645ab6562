import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alder.errors import BadLedger
from alder.ledger.content import GENESIS, SHORT, chain, content_digest, pack, unpack

KEYS = st.text(max_size=5) | st.sampled_from(["$array", "$float", "$stored", "$$x", "$"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda parts: st.lists(parts, max_size=3) | st.dictionaries(KEYS, parts, max_size=3),
    max_leaves=10,
)
CONTENTS = st.dictionaries(KEYS, VALUES, max_size=4)


def no_arrays(digest: str) -> np.ndarray:
    raise AssertionError(digest)


@given(CONTENTS)
def test_json_round_trips_whatever_its_keys(content: dict[str, object]) -> None:
    assert unpack(pack(content).text, no_arrays) == content


@given(CONTENTS)
def test_the_bytes_are_canonical_json(content: dict[str, object]) -> None:
    text = pack(content).text
    again = json.dumps(
        json.loads(text), sort_keys=True, separators=(",", ":"), allow_nan=False
    ).encode("ascii")
    assert again == text
    assert pack(dict(reversed(content.items()))).text == text


@pytest.mark.parametrize("shape", [(0,), (3,), (SHORT,), (SHORT + 1,), (0, 3), (4, 5), ()])
def test_arrays_of_every_shape_round_trip(shape: tuple[int, ...]) -> None:
    array = np.random.default_rng(0).normal(size=shape)
    array[...] = np.where(array > 1.0, np.nan, np.where(array < -1.0, -np.inf, array))
    packed = pack({"a": array})
    value: Any = unpack(packed.text, lambda digest: packed.arrays[digest].ravel())["a"]
    again = np.asanyarray(value)
    np.testing.assert_array_equal(again, array)
    assert again.shape == shape
    assert not again.flags.writeable


def test_numpy_scalars_are_written_as_numbers() -> None:
    content = {"a": np.float64(1.5), "b": np.int64(2), "c": np.bool_(True), "d": np.float32("inf")}
    assert unpack(pack(content).text, no_arrays) == {"a": 1.5, "b": 2, "c": True, "d": np.inf}


@pytest.mark.parametrize(
    ("content", "word"),
    [
        ({"a": object()}, "type object"),
        ({"a": {1: 2}}, "keys"),
        ({"a": np.arange(3)}, "float64"),
        ({"a": 10**5000}, "cannot be written"),
    ],
)
def test_what_no_event_can_hold_is_refused(content: dict[str, object], word: str) -> None:
    with pytest.raises(BadLedger, match=word):
        pack(content)


def test_a_content_nested_without_end_is_refused() -> None:
    content: dict[str, object] = {}
    content["self"] = content
    with pytest.raises(BadLedger, match="deeply"):
        pack(content)


@pytest.mark.parametrize(
    "text", [b"", b"[]", b"{", b'{"a":{"$float":"one"}}', b'{"a":{"$array":3}}', b"\xff"]
)
def test_bytes_that_are_no_content_are_refused(text: bytes) -> None:
    with pytest.raises(BadLedger):
        unpack(text, no_arrays)


def test_a_digest_depends_on_every_part_of_the_event() -> None:
    parts = [
        (GENESIS, 1, "fit", b"{}"),
        ("11" * 32, 1, "fit", b"{}"),
        (GENESIS, 2, "fit", b"{}"),
        (GENESIS, 1, "fi", b"t{}"),
        (GENESIS, 1, "fit", b"{ }"),
    ]
    assert len({chain(*part) for part in parts}) == len(parts)


def test_the_digest_of_a_content_depends_on_every_number_of_an_array() -> None:
    array = np.zeros(1000)
    other = array.copy()
    other[999] = 5e-324
    assert content_digest({"a": array}) != content_digest({"a": other})
