import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.codecs.devices.jt808.frames import Identity, decode_frame, encode_frame, new_framer
from motorpool.codecs.devices.jt808.responses import (
    IDENTITY_SHIFT,
    MEDIA,
    MEDIA_PACKETS,
    REGISTRATION,
    UNSUPPORTED,
    ResponseEncoder,
    make_receipt,
)

OLD = Identity.from_digits("13912345678", is_2019=False)
NEW = Identity.from_digits("13912345678", is_2019=True)


def frames(data):
    return [decode_frame(content) for content in new_framer().receive(data)]


def receipt(identity, message_id=0x0200, serial=7, kind=0, media_id=0):
    return make_receipt(identity.key << IDENTITY_SHIFT, message_id, serial, kind, media_id)


@given(st.sampled_from([OLD, NEW]), st.integers(0, 65535), st.integers(0, 65535))
def test_the_general_response_repeats_serial_and_id_in_the_form_of_the_message(identity, message_id, serial):
    (frame,) = frames(ResponseEncoder().accept(receipt(identity, message_id, serial)))
    assert (frame.message_id, frame.phone, frame.is_2019) == (0x8001, identity.phone, identity.is_2019)
    assert frame.body == serial.to_bytes(2, "big") + message_id.to_bytes(2, "big") + b"\0"


BYTES = st.sampled_from(b"\x13\x7d\x7e\xe7\0")
IDENTITIES = st.one_of(
    st.builds(Identity, st.lists(BYTES, min_size=size, max_size=size).map(bytes), st.just(new), st.just(e7))
    for size, new, e7 in ((6, False, False), (10, True, False), (7, False, True))
)
WORDS = st.one_of(st.integers(0, 65535), st.sampled_from((0x7D7E, 0x7E00, 0x007D, 0x7D01)))


@given(st.lists(st.tuples(IDENTITIES, WORDS, WORDS), max_size=6), st.integers(0, 300), st.integers(0, 3))
def test_the_general_response_is_the_frame_of_its_body_whatever_has_to_be_escaped(messages, first, result):
    answers = ResponseEncoder()
    for _ in range(first):
        answers.next_serial()
    for number, (identity, message_id, serial) in enumerate(messages):
        body = serial.to_bytes(2, "big") + message_id.to_bytes(2, "big") + bytes((result,))
        answer = answers.refuse(receipt(identity, message_id, serial), result)
        assert answer == encode_frame(identity, 0x8001, first + number & 0xFFFF, body)


def test_serials_of_responses_are_consecutive_and_wrap():
    answers = ResponseEncoder()
    serials = [answers.next_serial() for _ in range(65537)]
    assert serials[:3] == [0, 1, 2]
    assert serials[-2:] == [65535, 0]
    (frame,) = frames(answers.accept(receipt(OLD)))
    assert frame.serial == 1


def test_a_registration_is_accepted_with_a_code():
    (frame,) = frames(ResponseEncoder().accept(receipt(NEW, 0x0100, 5, REGISTRATION)))
    assert (frame.message_id, frame.body) == (0x8100, b"\0\5\0" + b"13912345678")


def test_a_registration_is_refused_as_an_unknown_terminal_without_a_code():
    (frame,) = frames(ResponseEncoder().refuse(receipt(OLD, 0x0100, 5, REGISTRATION)))
    assert (frame.message_id, frame.body) == (0x8100, b"\0\5\4")


@pytest.mark.parametrize("kind", [0, MEDIA])
def test_other_refusals_are_failures(kind):
    (frame,) = frames(ResponseEncoder().refuse(receipt(OLD, 0x0801, 5, kind, 77)))
    assert (frame.message_id, frame.body) == (0x8001, bytes.fromhex("0005080101"))


def test_an_unsupported_message_is_answered_as_such():
    (frame,) = frames(ResponseEncoder().refuse(receipt(OLD, 0x0F55, 5), UNSUPPORTED))
    assert frame.body == bytes.fromhex("00050f5503")


def test_a_file_is_answered_by_its_media_id():
    (frame,) = frames(ResponseEncoder().accept(receipt(OLD, 0x0801, 5, MEDIA, 0xFFFF_FFFF)))
    assert (frame.message_id, frame.body) == (0x8800, b"\xff\xff\xff\xff")


def test_the_last_packet_of_a_file_is_answered_beside_the_file():
    packet, whole = frames(ResponseEncoder().accept(receipt(OLD, 0x0801, 5, MEDIA_PACKETS, 77)))
    assert (packet.message_id, packet.body) == (0x8001, bytes.fromhex("0005080100"))
    assert (whole.message_id, whole.body) == (0x8800, bytes.fromhex("0000004d"))


def test_terminals_of_one_connection_are_answered_each_by_its_number():
    answers = ResponseEncoder()
    data = b"".join(answers.accept(receipt(identity)) for identity in (OLD, NEW, OLD))
    assert [frame.phone for frame in frames(data)] == [OLD.phone, NEW.phone, OLD.phone]
