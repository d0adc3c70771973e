import json
from datetime import UTC, datetime

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.storage.database.cleaning import json_bytes, text_bytes
from motorpool.storage.records import Event

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


def test_an_ordinary_value_is_plain_json():
    assert json.loads(json_bytes({"a": [1, 2.5, None, True], "b": "é"})) == {
        "a": [1, 2.5, None, True],
        "b": "é",
    }


def test_nul_is_replaced_in_values_and_keys():
    assert json.loads(json_bytes({"a\x00": ["b\x00c"]})) == {"a\ufffd": ["b\ufffdc"]}


def test_nul_is_replaced_in_records():
    assert (
        json.loads(json_bytes([Event(type="a\x00", attributes={"b": "c\x00"})]))[0].items()
        >= {
            "type": "a\ufffd",
            "attributes": {"b": "c\ufffd"},
        }.items()
    )


def test_a_backslash_before_u0000_is_no_nul():
    assert json.loads(json_bytes({"path": "c:\\u0000"})) == {"path": "c:\\u0000"}


def test_lone_surrogates_are_replaced():
    cleaned = json.loads(json_bytes({"a": "x\ud800y"}))["a"]
    assert cleaned.startswith("x")
    assert cleaned.endswith("y")
    assert "\ud800" not in cleaned


async def test_a_number_past_64_bits_survives_the_table(database):
    stored = await database.fetch_value("select $1::text::jsonb", json_bytes({"a": 1 << 70}).decode())
    assert stored == {"a": 1 << 70}


@pytest.mark.parametrize("spoiler", ["", "\x00"])
def test_times_and_bytes_become_text_whatever_else_there_is(spoiler):
    value = {"raw": b"\x01\xff\x00", "at": datetime(2026, 1, 2, tzinfo=UTC), "text": spoiler}
    cleaned = json.loads(json_bytes(value))
    assert (cleaned["raw"], cleaned["at"]) == ("Af8A", "2026-01-02T00:00:00Z")


def test_a_value_that_holds_itself_ends():
    value: dict = {}
    value["again"] = value
    assert json.loads(json_bytes(value))["again"]["again"]


@given(VALUES)
def test_whatever_comes_is_json_that_postgresql_can_hold(value):
    encoded = json_bytes(value)
    assert "\x00" not in str(msgspec.json.decode(encoded))
    encoded.decode("utf-8")


@given(st.text())
def test_text_without_nul_stays_as_it_is(text):
    assert text_bytes(text) == text.replace("\x00", "\ufffd").encode("utf-8")


def test_text_with_a_lone_surrogate_can_be_encoded():
    assert text_bytes("a\udfffb").decode("utf-8")[0] == "a"
