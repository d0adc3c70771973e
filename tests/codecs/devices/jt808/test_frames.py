import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motorpool.bench.vehicles.jt808.terminal import encode_packets
from motorpool.codecs.checksums import xor8
from motorpool.codecs.devices.jt808.frames import Identity, decode_frame, encode_frame, new_framer
from motorpool.codecs.errors import ChecksumError, FrameError

OLD = Identity.from_digits("13912345678", is_2019=False)
NEW = Identity.from_digits("13912345678", is_2019=True)
HEARTBEAT = bytes.fromhex("7e00020000013912345678007d024c7e")


def test_an_identity_is_written_as_sent_and_without_leading_zeros():
    assert OLD.unique_ids == ("013912345678", "13912345678")
    assert NEW.unique_ids == ("00000000013912345678", "013912345678", "13912345678")
    assert OLD.number == NEW.number == "13912345678"


def test_a_long_number_of_2019_has_no_twelve_digit_form():
    imei = Identity.from_digits("863333040000017", is_2019=True)
    assert imei.unique_ids == ("00000863333040000017", "863333040000017")


def test_a_number_of_zeros_is_zero():
    assert Identity(bytes(6), is_2019=False).number == "0"


def test_a_number_that_is_not_decimal_may_be_an_imei_in_binary():
    # 0x01a2b3c4d5e6 = 1798312351206; whose Luhn sum is 49: the digit 1 is missing.
    assert Identity(bytes.fromhex("01a2b3c4d5e6"), is_2019=False).unique_ids == (
        "01a2b3c4d5e6",
        "017983123512061",
    )
    assert Identity(b"\xff" * 6, is_2019=False).unique_ids == ("f" * 12,)


@pytest.mark.parametrize("digits", ["1234567890123", "12x4", "phone"])
def test_numbers_that_fit_no_header_are_refused(digits):
    with pytest.raises(FrameError, match="does not fit"):
        Identity.from_digits(digits, is_2019=False)


@given(st.binary(min_size=6, max_size=6) | st.binary(min_size=10, max_size=10))
def test_an_identity_comes_back_from_its_key(phone):
    identity = Identity(phone, len(phone) == 10)
    assert Identity.from_key(identity.key) == identity


def test_a_frame_is_escaped_and_checked():
    assert encode_frame(OLD, 2, 0x7E, b"") == HEARTBEAT


@settings(max_examples=100)
@given(
    st.sampled_from([OLD, NEW]),
    # Ids 0x55… are those of locks, whose header is another one.
    st.integers(0, 0xFFFF).filter(lambda message_id: message_id >> 8 != 0x55),
    st.integers(0, 0xFFFF),
    st.binary(max_size=1023),
    st.sampled_from([(0, 0), (1, 1), (9, 3), (65535, 65535)]),
)
def test_what_is_sealed_is_opened_again(identity, message_id, serial, body, packet):
    (content,) = new_framer().receive(encode_frame(identity, message_id, serial, body, *packet))
    frame = decode_frame(content)

    assert (frame.message_id, frame.serial, frame.body) == (message_id, serial, body)
    assert (frame.phone, frame.is_2019, frame.total, frame.index) == (
        identity.phone,
        identity.is_2019,
        *packet,
    )


@given(st.lists(st.sampled_from([0x7D, 0x7E, 1, 2, 0]), max_size=40).map(bytes))
def test_bytes_that_look_like_escapes_survive(body):
    (content,) = new_framer().receive(encode_frame(OLD, 0x0900, 1, body))
    assert decode_frame(content).body == body


def test_a_body_of_more_than_ten_bits_length_is_refused():
    with pytest.raises(FrameError, match="1024 bytes"):
        encode_frame(OLD, 2, 0, bytes(1024))


def test_packets_have_consecutive_serials_and_count_from_one():
    packets = [
        decode_frame(content)
        for packet in encode_packets(OLD, 0x0801, 65535, b"abcdefg", packet_bytes=3)
        for content in new_framer().receive(packet)
    ]
    assert [(one.serial, one.total, one.index, one.body) for one in packets] == [
        (65535, 3, 1, b"abc"),
        (0, 3, 2, b"def"),
        (1, 3, 3, b"g"),
    ]


def test_a_short_message_is_no_packet():
    assert encode_packets(OLD, 2, 0x7E, b"") == [HEARTBEAT]


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"\0" * 12, "no header"),
        (b"\x00\x02\x40\x00" + bytes(13), "no 2019 header"),
        (b"\x00\x02\x20\x00" + bytes(12), "no packet numbers"),
        (b"\x00\x02\x20\x00" + bytes(8) + b"\0\x02\0\x03" + b"\0", "packet 3 of 2"),
        (b"\x00\x02\x20\x00" + bytes(8) + b"\0\x02\0\x00" + b"\0", "packet 0 of 2"),
        (b"\x00\x02\x00\x05" + bytes(9), "announces a body of 5 bytes, 0 came"),
        (b"\x00\x02\x04\x00" + bytes(9), "0x0002 is encrypted"),
    ],
)
def test_headers_that_cannot_be(content, error):
    with pytest.raises(FrameError, match=error):
        decode_frame(with_check_byte(content))


def with_check_byte(content):
    return content[:-1] + bytes((xor8(content[:-1]),))


def test_a_frame_of_a_maker_that_does_not_escape_7d_is_read():
    content = bytes.fromhex("00020003 013912345678 0001 7d0155".replace(" ", ""))
    content += bytes((xor8(content),))
    frame = decode_frame(content)
    assert frame.body == b"\x7d\x01\x55"
    with pytest.raises(ChecksumError):
        decode_frame(content[:3] + b"\x04" + content[4:])


def test_a_wrong_check_byte_is_an_error():
    (escaped,) = new_framer().receive(HEARTBEAT.replace(b"\x4c\x7e", b"\x4d\x7e"))
    with pytest.raises(ChecksumError, match="the check byte is wrong"):
        decode_frame(escaped)
