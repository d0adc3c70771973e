"""Texts between servers: short enough, complete, and what cannot be sent is left to the database."""

from datetime import UTC, datetime

import msgspec
from hypothesis import example, given
from hypothesis import strategies as st

from motorpool.actors.cluster.remote_texts import decode_text, encode_devices, encode_events, encode_text
from motorpool.actors.messages.remote import DeviceUpdate, RemoteText
from motorpool.actors.messages.topics import WebEvent
from motorpool.storage.records import Event, Position

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
LIMIT = 7_900
ANY_TEXT = st.text(st.characters(), max_size=20) | st.integers(0, 9_000).map("x".__mul__) | st.just("\ud800")


def position(number, text):
    times = dict.fromkeys(("server_time", "device_time", "fix_time"), NOW)
    return Position(id=number, device_id=number, attributes={"text": text}, **times)


def is_sendable(text):
    return len(text.encode(errors="replace")) <= LIMIT


def has_surrogates(text):
    """Whether it has halves of a character, which no encoding can hold."""
    return any("\ud800" <= character <= "\udfff" for character in text)


@given(st.lists(ANY_TEXT, max_size=30))
@example(["a\udfff"])
def test_every_position_is_sent_or_named(names):
    sent = [DeviceUpdate(n, "online", NOW, position(n, name)) for n, name in enumerate(names, start=1)]
    texts = encode_devices(5, sent, LIMIT)
    assert all(is_sendable(text) for text in texts)
    received = [update for text in texts for update in decode_text(text).devices]
    assert [update.device_id for update in received] == [update.device_id for update in sent]
    for update, name in zip(received, names, strict=True):
        assert update.status == "online"
        assert update.last_update == NOW
        if update.position is None:
            assert update.position_id == update.device_id
            assert len(name) > 7_000 or has_surrogates(name)
        else:
            assert update.position == position(update.device_id, name)


@given(st.lists(st.tuples(st.sets(st.integers(1, 2**63 - 1), max_size=500), ANY_TEXT), max_size=5))
def test_every_user_gets_an_event_once_and_long_ones_are_cut(made):
    sent = [
        WebEvent(frozenset(users), Event(id=n, type="alarm", event_time=NOW, attributes={"message": text}))
        for n, (users, text) in enumerate(made)
    ]
    texts = encode_events(5, sent, LIMIT)
    assert all(is_sendable(text) for text in texts)
    received = [each for text in texts for each in decode_text(text).events]
    for each in sent:
        parts = [part for part in received if part.event.id == each.event.id]
        assert sorted(user for part in parts for user in part.user_ids) == sorted(each.user_ids)
        text = each.event.attributes["message"]
        for part in parts:
            assert (
                part.event == each.event
                or part.event.attributes["message"] == text[:500].encode(errors="replace").decode()
            )


def test_of_another_release_what_is_understood_is_taken():
    good = DeviceUpdate(1, "online", NOW, position(1, "here"))
    text = (
        encode_devices(5, [good], LIMIT)[0]
        .replace("[[1,", '[["no number"],[1,')
        .replace('"server"', '"new":1,"server"')
    )
    assert decode_text(text) == RemoteText(5, devices=(good,))
    nested = '{"server":1,"devices":[' + "[" * 60_000
    for invalid in ("", "[]", '{"server":"x"}', nested, '{"server":1,"devices":' + "[" * 60_000):
        assert decode_text(invalid) == RemoteText(0)
    for flags in ({"asks": True}, {"leaves": True}, {"lost": True}):
        assert decode_text(encode_text(RemoteText(5, **flags))) == RemoteText(5, **flags)


def test_a_position_with_a_number_that_json_has_not_costs_no_other():
    wrong = msgspec.structs.replace(position(1, ""), speed=float("nan"))
    (text,) = encode_devices(
        5, [DeviceUpdate(1, "online", NOW, wrong), DeviceUpdate(2, "online", NOW)], LIMIT
    )
    assert [update.device_id for update in decode_text(text).devices] == [2]


def test_times_without_a_zone_cost_no_other():
    local = NOW.replace(tzinfo=None)
    for name in ("server_time", "device_time", "fix_time"):
        wrong = DeviceUpdate(1, "online", NOW, msgspec.structs.replace(position(1, ""), **{name: local}))
        (text,) = encode_devices(5, [wrong, DeviceUpdate(2, "online", NOW, position(2, ""))], LIMIT)
        assert [update.device_id for update in decode_text(text).devices] == [2]
    (text,) = encode_devices(5, [DeviceUpdate(1, "online", local), DeviceUpdate(2, "online", NOW)], LIMIT)
    assert [update.device_id for update in decode_text(text).devices] == [2]
    events = [Event(id=n, type="alarm", event_time=time) for n, time in ((1, local), (2, NOW))]
    (text,) = encode_events(5, [WebEvent(frozenset({1}), each) for each in events], LIMIT)
    assert [each.event.id for each in decode_text(text).events] == [2]
