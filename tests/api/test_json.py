import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Annotated

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.actors.words.masking import MASK
from motorpool.actors.words.record_json import encode, format_time
from motorpool.api.http.errors import BadRequest
from motorpool.api.json import camel, decode, parse_time, read_fields
from motorpool.storage.records import Device, Group, OptionalText

# hypothesis takes naive bounds and adds the zone itself.
EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - as above
FAR = datetime(9999, 1, 1)  # noqa: DTZ001 - as above


class Thing(msgspec.Struct, rename="camel", frozen=True):
    name: str
    group_id: int = 0
    phone: str | None = None
    last_seen: datetime | None = None
    attributes: dict = {}


@pytest.mark.parametrize(
    ("instant", "text"),
    [
        (datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), "2026-01-02T03:04:05Z"),
        (datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=UTC), "2026-01-02T03:04:05.678Z"),
        (datetime(2026, 1, 2, 3, 4, 5, 678999, tzinfo=UTC), "2026-01-02T03:04:05.678Z"),
        (datetime(2026, 1, 2, 3, 4, 5, 999, tzinfo=UTC), "2026-01-02T03:04:05Z"),
        (datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone(timedelta(hours=8))), "2026-01-01T19:04:05Z"),
    ],
)
def test_times_have_z_and_milliseconds_only_when_not_zero(instant, text):
    assert format_time(instant) == text
    assert encode([Thing("a", last_seen=instant)]) == encode([Thing("a")]).replace(
        b'"lastSeen":null', f'"lastSeen":"{text}"'.encode()
    )


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2026-01-02T03:04:05Z", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        ("2026-01-02T03:04Z", datetime(2026, 1, 2, 3, 4, tzinfo=UTC)),
        ("2026-01-02T03:04:05.000+00:00", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        ("2026-01-02T03:04:05.123456Z", datetime(2026, 1, 2, 3, 4, 5, 123456, tzinfo=UTC)),
        ("2026-01-02T03:04:05.123456789Z", datetime(2026, 1, 2, 3, 4, 5, 123456, tzinfo=UTC)),
        ("2026-01-02T03:04:05.5+02:00", datetime(2026, 1, 2, 1, 4, 5, 500000, tzinfo=UTC)),
        ("2026-01-02T03:04:05-0130", datetime(2026, 1, 2, 4, 34, 5, tzinfo=UTC)),
        # What a client library makes of an aware datetime.
        ("2026-01-02T03:04:05+00:00Z", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
    ],
)
def test_dates_are_read_in_every_form_that_clients_send(text, instant):
    assert parse_time(text) == instant


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-01-02T03:04:05",
        "2026-01-02",
        "2026-13-02T03:04:05Z",
        "2026-01-02T25:04:05Z",
        "yesterday",
        "0001-01-01T00:00:00+05:00",
        "2026-01-02T03:04:05.1234567890Z",
        "2026-01-02T03:04:05+99:99",
        "2026-01-02T03:04:0\u0665Z",
    ],
)
def test_a_date_without_zone_or_out_of_the_calendar_is_refused(text):
    with pytest.raises(ValueError, match=r"."):
        parse_time(text)


@given(st.datetimes(min_value=EPOCH, max_value=FAR, timezones=st.just(UTC)))
def test_what_is_written_is_read_back_to_the_millisecond(instant):
    read = parse_time(format_time(instant))
    assert read == instant.replace(microsecond=instant.microsecond // 1000 * 1000)


def test_epoch_milliseconds_are_a_date():
    assert decode(b'{"name":"a","lastSeen":1767323045678}', Thing).last_seen == datetime(
        2026, 1, 2, 3, 4, 5, 678000, tzinfo=UTC
    )


def test_null_is_the_default_where_a_field_knows_no_null():
    thing = decode(b'{"name":"a","groupId":null,"phone":null,"attributes":null,"lastSeen":null}', Thing)
    assert thing == Thing("a")


def test_unknown_fields_are_ignored():
    assert decode(b'{"name":"a","later":1}', Thing) == Thing("a")


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"", "the request needs a JSON body"),
        (b"   ", "the request needs a JSON body"),
        (b"{", "the body is not JSON: input data was truncated"),
        (b"\xff", "the body is not JSON: invalid character (byte 0)"),
        (b'{"name":"a",}', "the body is not JSON: trailing comma in object (byte 12)"),
        (b"[]", "expected `object`, got `array`"),
        (b'{"groupId":1}', "object missing required field `name`"),
        (b'{"name":5}', "name: expected `str`, got `int`"),
        (b'{"name":"a","groupId":"x"}', "groupId: expected `int`, got `str`"),
        (b'{"name":"a","groupId":1.5}', "groupId: expected `int`, got `float`"),
        (b'{"name":"a","lastSeen":"today"}', "lastSeen: not an ISO 8601 date-time"),
        (b'{"name":"a","lastSeen":-1}', "lastSeen: not an ISO 8601 date-time"),
        (b'{"name":"a","lastSeen":99999999999999999}', "lastSeen: not an ISO 8601 date-time"),
        (b'{"name":"a\\u0000"}', "name: holds a character that cannot be stored"),
        (b'{"name":"a","attributes":{"\\u0000":1}}', "attributes: holds a character that cannot be"),
        (b'{"name":null}', "object missing required field `name`"),
    ],
)
def test_a_wrong_body_is_one_line_that_names_the_field(body, text):
    with pytest.raises(BadRequest) as caught:
        decode(body, Thing)
    assert text in caught.value.text
    assert "\n" not in caught.value.text


def test_deep_nesting_is_refused_however_deep():
    for depth in (33, 500, 100_000):
        body = b'{"name":"a","attributes":{"x":' + b"[" * depth + b"]" * depth + b"}}"
        with pytest.raises(BadRequest, match="nested deeper than 32"):
            decode(body, Thing, depth=32)
    body = b'{"name":"a","attributes":{"x":' + b"[" * 29 + b"]" * 29 + b"}}"
    assert decode(body, Thing, depth=32).name == "a"


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_characters="\x00", exclude_categories=("Cs",)), max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(json_values)
def test_attributes_survive_a_round_trip(value):
    body = json.dumps({"name": "a", "attributes": {"x": value}}).encode()
    back = json.loads(encode(decode(body, Thing, depth=64)))
    assert back["attributes"]["x"] == value


@given(st.binary(max_size=64))
def test_any_bytes_are_a_record_or_a_refusal(body):
    refusal = "none"
    try:
        decode(body, Thing)
    except BadRequest as error:
        refusal = error.text
    assert refusal


def test_texts_that_look_like_dates_in_attributes_stay_as_they_are():
    thing = Thing(
        "a", attributes={"x": "2026-01-02T03:04:05.123456Z"}, last_seen=datetime(2026, 1, 1, tzinfo=UTC)
    )
    assert json.loads(encode(thing))["attributes"]["x"] == "2026-01-02T03:04:05.123456Z"


def test_json_names_are_camel_case_and_those_that_are_stay_so():
    assert [camel(name) for name in ("name", "device_id", "from_address", "listDevices")] == [
        "name",
        "deviceId",
        "fromAddress",
        "listDevices",
    ]


class Row(msgspec.Struct, rename="camel", frozen=True):
    item_id: int
    count: int = 1


class Order(msgspec.Struct, rename="camel", frozen=True):
    rows: Annotated[list[Row], msgspec.Meta(max_length=2)] = []


def test_null_is_the_default_in_records_of_a_list_too():
    assert decode(b'{"rows": [{"itemId": 7, "count": null}]}', Order) == Order([Row(7)])
    assert decode(b'{"rows": null}', Order) == Order()
    for body, why in (
        (b'{"rows": [{"itemId": null}]}', "rows[0]: object missing required field `itemId`"),
        (b'{"rows": [{"itemId": 1}, 5]}', "rows[1]: expected `object`, got `int`"),
        (b'{"rows": [{"itemId": 1}, {"itemId": "1"}]}', "rows[1].itemId: expected `int`, got `str`"),
        (b'{"rows": [[], [], []]}', "rows: expected `array` of length <= 2"),
    ):
        with pytest.raises(BadRequest) as refused:
            decode(body, Order)
        assert refused.value.text == why


def test_lists_are_encoded_alike_whether_their_items_are_of_one_type_or_of_several():
    secret = {"mail.smtp.password": "hunter2", "note": "kept"}
    records = [
        Device(id=1, name="Van", attributes=secret, last_update=datetime(2026, 5, 1, 12, tzinfo=UTC)),
        Group(id=2, name="North", attributes=secret),
        Device(id=3, name="Car"),
    ]
    alone = [json.loads(encode(record)) for record in records]
    assert alone[0]["lastUpdate"] == "2026-05-01T12:00:00Z"
    assert alone[0]["attributes"] == alone[1]["attributes"] == {"mail.smtp.password": MASK, "note": "kept"}
    assert json.loads(encode(records)) == alone
    assert json.loads(encode(records[::2])) == alone[::2]
    assert json.loads(encode((records[1], records[1]))) == [alone[1], alone[1]]
    assert json.loads(encode({"groups": records[1:2], "none": [], "text": ["a", None]})) == {
        "groups": alone[1:2],
        "none": [],
        "text": ["a", None],
    }
    assert encode([msgspec.Raw(b'{"a":1}')] * 2) == b'[{"a":1},{"a":1}]'


class Place(msgspec.Struct, rename="camel"):
    name: OptionalText = ""
    degrees: float = 0.0
    ids: tuple[int, ...] = ()
    parts: list["Place"] = []


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        ({"ids": [2**63]}, "ids: out of range"),
        ({"parts": [{"ids": [-(2**63) - 1]}]}, "ids: out of range"),
        ({"degrees": "inf"}, "degrees: not a finite number"),
        ({"degrees": "nan"}, "degrees: not a finite number"),
    ],
)
def test_numbers_that_no_column_takes_are_refused_by_name(sent, text):
    with pytest.raises(BadRequest, match=f"^{text}$"):
        read_fields(sent, Place, strict=False)


def test_a_text_that_may_be_absent_is_null_where_it_is_empty():
    shown = [{"name": "x", "degrees": 0.0, "ids": [], "parts": []}]
    shown.append({**shown[0], "name": None, "parts": [{**shown[0], "name": None}]})
    assert json.loads(encode([Place("x"), Place(parts=[Place()])])) == shown


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59.9999999Z"])
def test_the_ends_of_the_calendar_are_not_what_the_driver_takes_for_infinity(text):
    instant = parse_time(text)
    assert datetime.min.replace(tzinfo=UTC) < instant < datetime.max.replace(tzinfo=UTC)
    assert format_time(instant)[:19] == text[:19]
