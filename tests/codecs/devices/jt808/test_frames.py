import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motorpool.codecs.devices.jt808.frames import (
    MAX_UNFINISHED_BYTES,
    Framer,
    Identity,
    open_frame,
    seal,
    seal_packets,
)
from motorpool.codecs.errors import FrameError
from motorpool.codecs.reports import FrameRejected

OLD = Identity.from_digits("13912345678", modern=False)
NEW = Identity.from_digits("13912345678", modern=True)
HEARTBEAT = bytes.fromhex("7e00020000013912345678007d024c7e")


def test_an_identity_is_written_as_sent_and_without_leading_zeros():
    assert OLD.unique_ids == ("013912345678", "13912345678")
    assert NEW.unique_ids == ("00000000013912345678", "013912345678", "13912345678")
    assert OLD.number == NEW.number == "13912345678"


def test_a_long_number_of_2019_has_no_twelve_digit_form():
    imei = Identity.from_digits("863333040000017", modern=True)
    assert imei.unique_ids == ("00000863333040000017", "863333040000017")


def test_a_number_of_zeros_is_zero():
    assert Identity(bytes(6), modern=False).number == "0"


def test_a_number_that_is_not_decimal_may_be_an_imei_in_binary():
    # 0x01a2b3c4d5e6 = 1798312351206; whose Luhn sum is 49: the digit 1 is missing.
    assert Identity(bytes.fromhex("01a2b3c4d5e6"), modern=False).unique_ids == (
        "01a2b3c4d5e6",
        "017983123512061",
    )
    assert Identity(b"\xff" * 6, modern=False).unique_ids == ("f" * 12,)


@pytest.mark.parametrize("digits", ["1234567890123", "12x4", "phone"])
def test_numbers_that_fit_no_header_are_refused(digits):
    with pytest.raises(FrameError, match="does not fit"):
        Identity.from_digits(digits, modern=False)


@given(st.binary(min_size=6, max_size=6) | st.binary(min_size=10, max_size=10))
def test_an_identity_comes_back_from_its_key(phone):
    identity = Identity(phone, len(phone) == 10)
    assert Identity.from_key(identity.key) == identity


def test_a_frame_is_escaped_and_checked():
    assert seal(OLD, 2, 0x7E, b"") == HEARTBEAT


@settings(max_examples=100)
@given(
    st.sampled_from([OLD, NEW]),
    st.integers(0, 0xFFFF),
    st.integers(0, 0xFFFF),
    st.binary(max_size=1023),
    st.sampled_from([(0, 0), (1, 1), (9, 3), (65535, 65535)]),
)
def test_what_is_sealed_is_opened_again(identity, message_id, serial, body, packet):
    (content,) = Framer().receive(seal(identity, message_id, serial, body, *packet))
    frame = open_frame(content)

    assert (frame.message_id, frame.serial, frame.body) == (message_id, serial, body)
    assert (frame.phone, frame.modern, frame.total, frame.index) == (identity.phone, identity.modern, *packet)


@given(st.lists(st.sampled_from([0x7D, 0x7E, 1, 2, 0]), max_size=40).map(bytes))
def test_bytes_that_look_like_escapes_survive(body):
    (content,) = Framer().receive(seal(OLD, 0x0900, 1, body))
    assert open_frame(content).body == body


def test_a_body_of_more_than_ten_bits_length_is_refused():
    with pytest.raises(FrameError, match="1024 bytes"):
        seal(OLD, 2, 0, bytes(1024))


def test_packets_have_consecutive_serials_and_count_from_one():
    packets = [
        open_frame(content)
        for packet in seal_packets(OLD, 0x0801, 65535, b"abcdefg", packet_bytes=3)
        for content in Framer().receive(packet)
    ]
    assert [(one.serial, one.total, one.index, one.body) for one in packets] == [
        (65535, 3, 1, b"abc"),
        (0, 3, 2, b"def"),
        (1, 3, 3, b"g"),
    ]


def test_a_short_message_is_no_packet():
    assert seal_packets(OLD, 2, 0x7E, b"") == [HEARTBEAT]


def content_of(frame):
    (content,) = Framer().receive(frame)
    return content


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"\0" * 12, "no header"),
        (b"\x00\x02\x40\x00" + bytes(13), "no 2019 header"),
        (b"\x00\x02\x20\x00" + bytes(12), "no packet numbers"),
        (b"\x00\x02\x20\x00" + bytes(8) + b"\0\x02\0\x03" + b"\0", "packet 3 of 2"),
        (b"\x00\x02\x20\x00" + bytes(8) + b"\0\x02\0\x00" + b"\0", "packet 0 of 2"),
        (b"\x00\x02\x00\x05" + bytes(9), "tells 5 bytes of body, 0 came"),
        (b"\x00\x02\x04\x00" + bytes(9), "0x0002 is encrypted"),
    ],
)
def test_headers_that_cannot_be(content, error):
    with pytest.raises(FrameError, match=error):
        open_frame(content)


def test_a_wrong_check_byte_costs_one_frame():
    spoilt = HEARTBEAT.replace(b"\x4c\x7e", b"\x4d\x7e")
    frames = Framer().receive(spoilt + HEARTBEAT)
    assert [isinstance(frame, FrameRejected) for frame in frames] == [True, False]
    assert frames[0].error == "the check byte is wrong"


def test_frames_may_share_a_delimiter():
    assert len(Framer().receive(HEARTBEAT + HEARTBEAT[1:])) == 2


def test_two_delimiters_in_a_row_are_no_frame():
    assert Framer().receive(b"~~" + HEARTBEAT + b"~~~") == [content_of(HEARTBEAT)]


def test_bytes_before_the_first_delimiter_are_dropped_and_told_once():
    framer = Framer()
    assert framer.receive(b"noi") == []
    assert framer.receive(b"se") == []
    rejected, content = framer.receive(HEARTBEAT)
    assert rejected == FrameRejected("bytes before the first delimiter", b"noise")
    assert content == content_of(HEARTBEAT)


@pytest.mark.parametrize("opening", [b"~", b""])
def test_a_frame_without_end_is_dropped_and_told_once(opening):
    framer = Framer()
    told = framer.receive(opening)
    for _ in range(1000):
        told += framer.receive(b"x" * 1000)
        assert framer.buffered <= MAX_UNFINISHED_BYTES
    assert [type(one) for one in told] == [FrameRejected]
    assert told[0].frame == b"x" * 256
    assert framer.receive(HEARTBEAT) == [content_of(HEARTBEAT)]


def test_junk_between_frames_costs_neither():
    frames = Framer().receive(HEARTBEAT + b"junk" + HEARTBEAT)
    assert [type(frame) for frame in frames] == [bytes, FrameRejected, bytes]


@pytest.mark.parametrize(("before", "told"), [(b"", 1), (HEARTBEAT, 1)])
def test_a_frame_too_long_is_dropped_also_where_it_comes_at_once(before, told):
    frames = Framer().receive(before + b"~" * (not before) + b"x" * 5000 + HEARTBEAT)
    rejected = [frame for frame in frames if isinstance(frame, FrameRejected)]
    assert len(rejected) == told
    assert "more than 4096 bytes" in rejected[0].error


def test_much_noise_before_the_first_delimiter_is_told_as_such():
    rejected, _ = Framer().receive(b"x" * 5000 + HEARTBEAT)
    assert "more than 4096 bytes" in rejected.error
