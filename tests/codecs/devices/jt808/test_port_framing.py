"""Frames between the delimiters E7 and texts in parentheses, beside the standard's frames."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motorpool.codecs.devices.jt808.codec import Jt808
from motorpool.codecs.devices.jt808.frames import (
    Identity,
    add_e7_framing,
    decode_frame,
    encode_frame,
    unescape_e7,
)
from motorpool.codecs.errors import UnsupportedCommand
from motorpool.codecs.reports import (
    DeviceCommand,
    DeviceInformation,
    FrameRejected,
    Heartbeat,
    ImmediateReply,
    Login,
    PositionReport,
    UnknownMessage,
)

E7_ID = Identity.from_digits("12345678901234", is_2019=False, is_e7=True)
E7_HEARTBEAT = bytes.fromhex("e7050600021234567890123400013e02e60264e7")
STANDARD_HEARTBEAT = bytes.fromhex("7e00020000013912345678007d024c7e")
TEXT = b"(864401040034431,1,001,ALARM,3,~\xe7)"
NOW = datetime(2024, 3, 5, 14, 22, 31, tzinfo=UTC)


def unescape_by_bytes(content):
    """Read from left to right, as the rule is stated."""
    pairs = {(0xE6, 1): 0xE6, (0xE6, 2): 0xE7, (0x3E, 1): 0x3E, (0x3E, 2): 0x3D}
    found, at = bytearray(), 0
    while at < len(content):
        pair = tuple(content[at : at + 2])
        found.append(pairs.get(pair, content[at]))
        at += 2 if pair in pairs else 1
    return bytes(found)


@given(st.lists(st.sampled_from([0xE6, 0xE7, 0x3E, 0x3D, 0, 1, 2]), max_size=30).map(bytes))
def test_e7_escapes_from_left_to_right(content):
    assert unescape_e7(content) == unescape_by_bytes(content)
    sent = add_e7_framing(content)
    assert sent[:1] == sent[-1:] == b"\xe7"
    assert not {0xE7, 0x3D} & set(sent[1:-1])
    assert unescape_by_bytes(sent[1:-1])[:-1] == content


def test_the_example_of_an_e7_frame():
    frame = decode_frame(E7_HEARTBEAT[1:-1], is_e7=True)
    assert (frame.message_id, frame.serial, frame.body) == (0x0506, 1, b"\x3d\xe7")
    assert encode_frame(E7_ID, 0x0506, 1, b"\x3d\xe7") == E7_HEARTBEAT


@given(st.binary(min_size=7, max_size=7) | st.binary(min_size=10, max_size=10))
def test_an_identity_of_an_e7_frame_comes_back_from_its_key(phone):
    identity = Identity(phone, len(phone) == 10, is_e7=True)
    assert Identity.from_key(identity.key) == identity


@pytest.mark.parametrize(
    ("phone", "is_e7", "readings"),
    [
        ("12345678901234", True, ("12345678901234",)),
        ("00345678901234", True, ("00345678901234", "345678901234")),
        # The first 14 digits of an IMEI as a number, the 15th by Luhn.
        ("2c944ab787a7", False, ("2c944ab787a7", "490154203237518")),
        # In seven bytes a whole IMEI, or the same followed by another byte.
        ("01bdcaeb2b4c8e", True, ("01bdcaeb2b4c8e", "490154203237518", "019146648563963")),
        ("2c944ab787a7ff", True, ("2c944ab787a7ff", "490154203237518")),
    ],
)
def test_identities_are_read_in_every_way_that_devices_mean_them(phone, is_e7, readings):
    assert Identity(bytes.fromhex(phone), False, is_e7).unique_ids == readings


def test_an_imei_goes_back_as_it_came():
    packed = Identity(bytes.fromhex("2c944ab787a7"), is_2019=False)
    assert Identity.from_digits("490154203237518", is_2019=False) == packed


def test_an_e7_frame_is_answered_by_an_e7_frame():
    codec = Jt808()
    login, heartbeat = codec.receive(E7_HEARTBEAT)
    assert login == Login(("12345678901234",))
    (answer,) = [codec.acknowledge([heartbeat.receipt])]
    frame = decode_frame(answer[1:-1], is_e7=True)
    assert answer[:1] == answer[-1:] == b"\xe7"
    assert (frame.message_id, frame.phone, frame.body.hex()) == (0x8001, E7_ID.phone, "0001050600")


def test_an_e7_frame_with_bit_14_has_the_header_of_2019():
    identity = Identity.from_digits("12345678901234", is_2019=True, is_e7=True)
    codec = Jt808()
    login, heartbeat = codec.receive(encode_frame(identity, 2, 5, b""))
    assert login.unique_ids == ("00000012345678901234", "12345678901234")
    assert codec.acknowledge([heartbeat.receipt]) == encode_frame(
        identity, 0x8001, 0, bytes.fromhex("0005000200")
    )


def test_a_text_asks_for_the_time():
    codec = Jt808()
    codec.utc_now = lambda: NOW
    assert codec.receive(b"(864401040034431,1,001,BASE,2,TIME)") == [
        Login(("864401040034431",)),
        Heartbeat(),
        ImmediateReply(b"(864401040034431,1,001,BASE,2,20240305142231)"),
    ]


def test_any_other_text_is_a_result_without_an_answer():
    assert Jt808().receive(b"(864401040034431,1,001,LOCK,3,0)") == [
        Login(("864401040034431",)),
        DeviceInformation({"result": "(864401040034431,1,001,LOCK,3,0)"}),
    ]


def test_a_text_is_answered_by_commands_that_are_texts():
    codec = Jt808()
    codec.receive(b"(864401040034431,1,001,LOCK,3,0)")
    command = DeviceCommand("custom", {"data": "(864401040034431,1,001,UNLOCK,1)"}, "864401040034431")
    assert codec.encode(command).data == b"(864401040034431,1,001,UNLOCK,1)"
    with pytest.raises(UnsupportedCommand, match="text in parentheses"):
        codec.encode(DeviceCommand("engineStop", unique_id="864401040034431"))


ITEMS = {
    b"~": STANDARD_HEARTBEAT,
    b"e": E7_HEARTBEAT,
    b"(": TEXT,
    # The other delimiters are data inside a frame.
    b"d": encode_frame(Identity.from_digits("13912345678", is_2019=False), 2, 1, b"\xe7(\xe7"),
    b"D": encode_frame(E7_ID, 0x0506, 1, b"~(~"),
    b"\n": b"\r\n",
}


@settings(max_examples=150, deadline=None)
@given(
    items=st.lists(st.sampled_from(sorted(ITEMS)), max_size=8),
    cuts=st.lists(st.integers(0, 400), max_size=8),
)
def test_frames_of_all_forms_arrive_in_order_however_the_stream_is_divided(items, cuts):
    stream = b"".join(ITEMS[item] for item in items)
    ends = sorted(cut % (len(stream) + 1) for cut in cuts)
    codec = Jt808()
    reports = [
        report
        for start, end in zip([0, *ends], [*ends, len(stream)], strict=True)
        for report in codec.receive(stream[start:end])
    ]
    kinds = [type(report) for report in reports if not isinstance(report, Login)]
    of_items = {b"(": DeviceInformation, b"e": UnknownMessage, b"D": UnknownMessage}
    assert kinds == [of_items.get(item, Heartbeat) for item in items if item != b"\n"]


@pytest.mark.parametrize(
    "noise",
    [b"\xe7", b"(", b"\r\n", b"xyz", b"(abc", b"\xe7\0\2\0\0", b"\xe7\xe7", E7_HEARTBEAT[:-2]],
)
def test_frames_arrive_after_noise(noise):
    for frame in (STANDARD_HEARTBEAT, E7_HEARTBEAT):
        reports = Jt808().receive(noise + frame * 30)
        heartbeats = [report for report in reports if isinstance(report, Heartbeat | UnknownMessage)]
        assert len(heartbeats) >= 28


def test_datagrams_of_all_forms_may_lack_their_end():
    for frame in (STANDARD_HEARTBEAT, E7_HEARTBEAT, b"(864401040034431,1,001,LOCK,3)"):
        codec = Jt808()
        assert len(codec.receive_datagram(frame[:-1])) == 2
        assert len(codec.receive_datagram(frame)) == 1


def test_a_text_without_an_identity_is_rejected():
    (report,) = Jt808().receive(b"(,1)")
    assert isinstance(report, FrameRejected)


def test_a_location_of_an_e7_frame_is_stored():
    body = bytes.fromhex("00000000000000030158702c06ca4d14002301d6005c240305222231")
    _, report = Jt808().receive(encode_frame(E7_ID, 0x0200, 7, body))
    assert isinstance(report, PositionReport)
    assert (report.latitude, report.longitude) == (22.5731, 113.9213)
