import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motorpool.bench.vehicles.jt808.terminal import encode_packets
from motorpool.codecs.devices.jt808.frames import Identity, decode_frame, new_framer
from motorpool.codecs.devices.jt808.reassembly import MAX_BYTES, MAX_MESSAGES, PacketReassembler
from motorpool.codecs.errors import FrameError

OLD = Identity.from_digits("13912345678", is_2019=False)
NEW = Identity.from_digits("13912345678", is_2019=True)


def packets(body, size, first_serial=100, identity=OLD, message_id=0x0801):
    return [
        decode_frame(content)
        for packet in encode_packets(identity, message_id, first_serial, body, size)
        for content in new_framer().receive(packet)
    ]


def add_all(reassembler, frames, identity=OLD):
    return [reassembler.add(identity, frame) for frame in frames]


class Serials:
    def __init__(self):
        self.next = 0

    def __call__(self):
        self.next += 1
        return self.next - 1


def resend_bodies(reassembler, now):
    """The bodies of the resend requests that are due at this time."""
    return [
        decode_frame(content).body
        for frame in reassembler.resend_requests(now, Serials())
        for content in new_framer().receive(frame)
    ]


@settings(max_examples=100)
@given(st.binary(min_size=2, max_size=300), st.integers(1, 40), st.integers(0, 65535), st.randoms())
def test_packets_in_any_order_give_the_message_once(body, size, first_serial, random):
    frames = packets(body, size, first_serial)
    if len(frames) == 1:
        return
    random.shuffle(frames)
    reassembler = PacketReassembler()
    assert add_all(reassembler, frames) == [None] * (len(frames) - 1) + [body]
    assert reassembler.buffered == 0


def test_a_single_packet_is_the_message():
    frame = packets(b"abc", 2)[0]
    single = type(frame)(frame.message_id, 1, frame.phone, False, frame.start, frame.content, 1, 1)
    assert PacketReassembler().add(OLD, single) == b"ab"


def test_a_repeated_packet_is_no_second_one():
    reassembler = PacketReassembler()
    first, second, third = packets(b"abcdef", 2)
    assert add_all(reassembler, [first, first, second, second, third]) == [None] * 4 + [b"abcdef"]


def test_packets_after_the_complete_message_are_repeated():
    reassembler = PacketReassembler()
    frames = packets(b"abcdef", 2)
    assert not reassembler.is_repeated(OLD, frames[2])
    add_all(reassembler, frames)
    assert all(reassembler.is_repeated(OLD, frame) for frame in frames)
    reassembler.resend_requests(0.0, Serials())
    reassembler.resend_requests(60.0, Serials())
    assert not reassembler.is_repeated(OLD, frames[2])


def test_messages_of_two_terminals_do_not_mix():
    reassembler = PacketReassembler()
    ours, theirs = packets(b"abcd", 2), packets(b"wxyz", 2, identity=NEW)
    assert reassembler.add(OLD, ours[0]) is None
    assert reassembler.add(NEW, theirs[1]) is None
    assert reassembler.add(OLD, ours[1]) == b"abcd"
    assert reassembler.add(NEW, theirs[0]) == b"wxyz"


@pytest.mark.parametrize(("identity", "body"), [(OLD, "00640200020004"), (NEW, "0064000200020004")])
def test_missing_packets_are_requested_after_five_seconds(identity, body):
    reassembler = PacketReassembler()
    frames = packets(b"abcdefgh", 2, identity=identity)
    add_all(reassembler, [frames[0], frames[2]], identity)

    assert resend_bodies(reassembler, 10.0) == []
    assert resend_bodies(reassembler, 14.9) == []
    assert resend_bodies(reassembler, 15.0) == [bytes.fromhex(body)]
    assert resend_bodies(reassembler, 16.0) == []
    assert resend_bodies(reassembler, 20.0) == [bytes.fromhex(body)]
    assert add_all(reassembler, [frames[1], frames[3]], identity)[-1] == b"abcdefgh"
    assert resend_bodies(reassembler, 30.0) == []


def test_each_packet_restarts_the_wait():
    reassembler = PacketReassembler()
    frames = packets(b"abcdefgh", 2)
    reassembler.add(OLD, frames[0])
    assert resend_bodies(reassembler, 0.0) == []
    reassembler.add(OLD, frames[1])
    assert resend_bodies(reassembler, 6.0) == []
    assert len(resend_bodies(reassembler, 11.0)) == 1


def test_what_is_sent_again_with_new_serials_finds_its_message():
    reassembler = PacketReassembler()
    frames = packets(b"abcdef", 2)
    add_all(reassembler, [frames[0], frames[1]])
    resend_bodies(reassembler, 0.0)
    resend_bodies(reassembler, 5.0)
    again = packets(b"abcdef", 2, first_serial=700)[2]
    assert reassembler.add(OLD, again) == b"abcdef"


def test_a_new_message_is_not_mistaken_for_a_requested_packet():
    reassembler = PacketReassembler()
    add_all(reassembler, packets(b"abcdef", 2)[1:])
    resend_bodies(reassembler, 0.0)
    resend_bodies(reassembler, 5.0)
    assert add_all(reassembler, packets(b"uvwxyz", 2, first_serial=700)) == [None, None, b"uvwxyz"]


def test_an_incomplete_message_is_dropped_after_a_minute():
    reassembler = PacketReassembler()
    reassembler.add(OLD, packets(b"abcd", 2)[0])
    assert reassembler.buffered == 2
    resend_bodies(reassembler, 0.0)
    resend_bodies(reassembler, 59.9)
    assert reassembler.buffered == 2
    assert resend_bodies(reassembler, 60.0) == []
    assert reassembler.buffered == 0


def test_the_oldest_of_too_many_incomplete_messages_is_dropped():
    reassembler = PacketReassembler()
    halves = [packets(b"abcd", 2, first_serial=10 * number) for number in range(MAX_MESSAGES + 1)]
    for first, _ in halves:
        reassembler.add(OLD, first)
    assert reassembler.buffered == 2 * MAX_MESSAGES
    assert reassembler.add(OLD, halves[1][1]) == b"abcd"
    assert reassembler.add(OLD, halves[0][1]) is None


def test_bytes_held_are_bounded_whatever_comes():
    reassembler = PacketReassembler()
    for first_serial in (0, 5000, 10000):
        for frame in packets(bytes(1_500_000), 1023, first_serial)[:-1]:
            reassembler.add(OLD, frame)
            assert reassembler.buffered <= MAX_BYTES


def test_a_message_of_countless_packets_is_refused():
    frame = packets(b"abcd", 2)[0]
    endless = type(frame)(frame.message_id, 1, frame.phone, False, frame.start, frame.content, 65535, 1)
    with pytest.raises(FrameError, match="65535 packets"):
        PacketReassembler().add(OLD, endless)


def test_a_resend_request_lists_at_most_255_packets():
    reassembler = PacketReassembler()
    reassembler.add(OLD, packets(bytes(1000), 1)[0])
    resend_bodies(reassembler, 0.0)
    (body,) = resend_bodies(reassembler, 5.0)
    assert body[2] == 255
    assert len(body) == 3 + 2 * 255


def test_only_the_latest_whole_messages_are_remembered():
    reassembler = PacketReassembler()
    messages = [packets(b"abcd", 2, first_serial=10 * number) for number in range(MAX_MESSAGES + 1)]
    for message in messages:
        add_all(reassembler, message)
    assert not reassembler.is_repeated(OLD, messages[0][0])
    assert all(reassembler.is_repeated(OLD, message[0]) for message in messages[1:])
