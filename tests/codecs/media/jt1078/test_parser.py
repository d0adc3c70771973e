import random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motorpool.codecs.errors import CodecError
from motorpool.codecs.media.h264 import H264
from motorpool.codecs.media.h265 import H265
from motorpool.codecs.media.jt1078 import parser
from motorpool.codecs.media.jt1078.parser import Jt1078Parser
from motorpool.codecs.media.jt1078.sender import Jt1078Sender
from motorpool.codecs.media.units import AccessUnit, AudioCoding, Coding
from motorpool.codecs.media.video_codec import VideoCodec
from motorpool.codecs.reports import FrameRejected

SIM = "13912345678"


def picture(size: int = 3000, timestamp: int = 0, channel: int = 1, keyframe: bool = False) -> AccessUnit:
    body = b"\0\0\0\1" + (b"\x65" if keyframe else b"\x61") + random.Random(size).randbytes(size)
    return AccessUnit(channel, H264, keyframe, timestamp, body, 40)


def speech(timestamp: int = 0, channel: int = 1, coding: Coding = AudioCoding.G711A) -> AccessUnit:
    return AccessUnit(channel, coding, False, timestamp, b"\xd5" * 320)


def packets(wire: bytes) -> list[bytes]:
    return [b"01cd" + piece for piece in wire.split(b"01cd")[1:]]


def received(codec: Jt1078Parser, *pieces: bytes) -> list[AccessUnit | FrameRejected]:
    return [unit for piece in pieces for unit in codec.receive(piece)]


units_on_air = st.lists(
    st.builds(
        lambda coding, size, channel, timestamp, interval, keyframe: AccessUnit(
            channel,
            coding,
            keyframe and isinstance(coding, VideoCodec),
            timestamp,
            random.Random(size).randbytes(size).replace(b"01cd", b"01ce"),
            interval if isinstance(coding, VideoCodec) else 0,
        ),
        st.sampled_from(
            [H264, H265, AudioCoding.AAC, AudioCoding.G711A, AudioCoding.G726, AudioCoding.ADPCM]
        ),
        st.integers(100, 4000),
        st.integers(0, 36),
        st.integers(0, 2**63),
        st.integers(1, 1000),
        st.booleans(),
    ),
    min_size=1,
    max_size=8,
)


@settings(max_examples=60)
@given(units_on_air, st.sampled_from([6, 10]), st.randoms(use_true_random=False))
def test_any_split_gives_the_units_that_were_sent(
    units: list[AccessUnit], width: int, chance: random.Random
) -> None:
    sender = Jt1078Sender(SIM, sim_bytes=width)
    wire = b"".join(map(sender.encode, units)) + sender.encode(speech())
    codec = Jt1078Parser()
    found = []
    while wire:
        size = chance.choice([1, 5, 40, 1400, 9000])
        found += codec.receive(wire[:size])
        wire = wire[size:]
    assert found == [*units, speech()]
    assert codec.sim == SIM.zfill(2 * width)
    assert codec.buffered == 0


def test_the_sample_packet_with_a_ten_byte_sim_is_read() -> None:
    # jt808-parser.md 6: PT 98, channel 1, P picture, whole, 1866 ms since I, 33 ms, 103 bytes.
    packet = bytes.fromhex(
        "3031636481e2007600000866496077582164011000000000" + "01c71cd5074a00210067" + "00000001219a"
    )
    packet += bytes(103 - 6)
    codec = Jt1078Parser()
    assert codec.receive(packet) == [AccessUnit(1, H264, False, 29_826_261, packet[-103:], 33)]
    assert codec.sim == "00000866496077582164"


def test_the_sample_packet_with_a_six_byte_sim_is_read() -> None:
    # jt808-parser.md 6: channel 3, P picture, 2020-09-15 14:30:38 UTC, 160 ms since I, 80 ms, 829 bytes.
    packet = bytes.fromhex("3031636481e2049200190130503703100000" + "0174922cb80f00a00050033d")
    packet += b"\0\0\0\1a" + bytes(829 - 5)
    codec = Jt1078Parser()
    (unit, _) = codec.receive(packet + packet)
    assert unit == AccessUnit(3, H264, False, 0x174922CB80F, packet[-829:], 80)
    assert codec.sim == "001901305037"


def test_sound_between_the_parts_of_a_picture_disturbs_neither() -> None:
    sender = Jt1078Sender(SIM)
    parts = packets(sender.encode(picture()))
    between = sender.encode(speech(20))
    codec = Jt1078Parser()
    found = received(codec, b"".join(parts[:2]) + between + b"".join(parts[2:]))
    assert found == [speech(20), picture()]


def test_channels_of_one_connection_are_joined_apart() -> None:
    sender = Jt1078Sender(SIM)
    first = packets(sender.encode(picture(channel=1)))
    second = packets(sender.encode(picture(channel=2)))
    mixed = b"".join(part for pair in zip(first, second, strict=True) for part in pair)
    assert received(Jt1078Parser(), mixed) == [picture(channel=1), picture(channel=2)]


def test_a_picture_begun_anew_drops_the_unfinished_one() -> None:
    sender = Jt1078Sender(SIM)
    cut_off = b"".join(packets(sender.encode(picture(timestamp=1)))[:2])
    codec = Jt1078Parser()
    assert received(codec, cut_off + sender.encode(picture(timestamp=2))) == [picture(timestamp=2)]


def test_parts_without_a_beginning_are_dropped() -> None:
    sender = Jt1078Sender(SIM)
    tail = b"".join(packets(sender.encode(picture()))[1:])
    codec = Jt1078Parser()
    assert received(codec, sender.encode(speech()) + tail + sender.encode(speech(9))) == [speech(), speech(9)]


def test_a_picture_that_lost_a_packet_is_dropped_where_the_device_counts() -> None:
    sender = Jt1078Sender(SIM)
    codec = Jt1078Parser()
    for number in range(10):
        assert len(codec.receive(sender.encode(picture(timestamp=number)))) == 1
    parts = packets(sender.encode(picture(timestamp=77)))
    assert received(codec, *parts[:1], *parts[2:]) == []
    assert received(codec, sender.encode(picture(timestamp=78))) == [picture(timestamp=78)]


def test_a_count_over_the_whole_connection_is_no_loss() -> None:
    sender = Jt1078Sender(SIM)
    codec = Jt1078Parser()
    count = 65_500  # wraps on the way
    found = []
    for number in range(40):
        for packet in packets(sender.encode(picture(timestamp=number)) + sender.encode(speech(number))):
            found += codec.receive(packet[:6] + count.to_bytes(2) + packet[8:])
            count = (count + 1) & 0xFFFF
    assert found == [unit for number in range(40) for unit in (picture(timestamp=number), speech(number))]


def test_a_device_that_never_counts_loses_no_picture() -> None:
    sender = Jt1078Sender(SIM)
    codec = Jt1078Parser()
    found = []
    for number in range(40):
        for packet in packets(sender.encode(picture(timestamp=number))):
            found += codec.receive(packet[:6] + b"\0\0" + packet[8:])
    assert found == [picture(timestamp=number) for number in range(40)]


def counted(sender: Jt1078Sender, codec: Jt1078Parser) -> None:
    """Enough pictures to be believed to count."""
    for number in range(40):
        assert len(codec.receive(sender.encode(picture(timestamp=10 * number)))) == 1


@pytest.mark.parametrize(
    "order",
    [[0, 1, 1, 2, 3], [0, 0, 1, 2, 3], [0, 1, 2, 3, 3], [0, 1, 2, 1, 2, 3], [0, 1, 2, 0, 1, 2, 3]],
    ids=str,
)
def test_a_packet_that_comes_again_does_not_harm_its_picture(order: list[int]) -> None:
    sender, codec = Jt1078Sender(SIM), Jt1078Parser()
    counted(sender, codec)
    first, second = picture(timestamp=400), picture(3000, timestamp=440)
    parts = packets(sender.encode(first))
    assert received(codec, *(parts[number] for number in order), sender.encode(second)) == [first, second]


@pytest.mark.parametrize("back", [1, 2, 20])
def test_pictures_and_sound_that_are_sent_again_come_once(back: int) -> None:
    sender, codec = Jt1078Sender(SIM), Jt1078Parser()
    counted(sender, codec)
    units = [
        unit
        for number in range(30)
        for unit in (picture(2000 + number, timestamp=500 + 40 * number), speech(500 + 40 * number))
    ]
    wires = [sender.encode(unit) for unit in units]
    # In the middle the proxy sends again what it had sent last.
    found = received(codec, *wires[:40], *wires[40 - back : 40], *wires[40:])
    assert found == units


def test_what_comes_again_inside_another_picture_harms_neither() -> None:
    sender, codec = Jt1078Sender(SIM), Jt1078Parser()
    counted(sender, codec)
    before, open_one = sender.encode(picture(timestamp=400)), picture(2800, timestamp=440)
    parts = packets(sender.encode(open_one))
    found = received(codec, before, *parts[:2], before, *parts[2:])
    assert found == [picture(timestamp=400), open_one]


def test_a_count_that_begins_anew_with_each_picture_loses_none() -> None:
    codec = Jt1078Parser()
    for number in range(40):
        wire = Jt1078Sender(SIM, body_bytes=100).encode(picture(3000 + number, timestamp=0))
        assert len(codec.receive(wire)) == 1


def test_silence_that_stands_still_without_a_count_is_not_taken_for_repeats() -> None:
    wire = Jt1078Sender(SIM).encode(speech(0))
    codec = Jt1078Parser()
    assert received(codec, *[wire] * 50) == [speech(0)] * 50


def test_a_picture_that_comes_late_is_left_out_and_a_key_frame_never() -> None:
    sender, codec = Jt1078Sender(SIM), Jt1078Parser()
    counted(sender, codec)
    late, plain, key = (picture(500, timestamp=ms, keyframe=ms == 480) for ms in (400, 440, 480))
    wires = [sender.encode(unit) for unit in (late, plain, key)]
    assert received(codec, wires[1], wires[0], wires[2]) == [plain, key]
    early = picture(600, timestamp=520)
    last = [sender.encode(unit) for unit in (picture(700, timestamp=500, keyframe=True), early)]
    assert [unit.timestamp for unit in received(codec, last[1], last[0])] == [520, 500]


def test_one_loss_after_another_does_not_shake_the_belief_in_a_count() -> None:
    sender, codec = Jt1078Sender(SIM), Jt1078Parser()
    for number in range(70):
        codec.receive(sender.encode(picture(timestamp=40 * number)))
    for number in range(70, 74):
        parts = packets(sender.encode(picture(timestamp=40 * number)))
        assert received(codec, parts[0], *parts[2:]) == []


def test_a_clock_and_a_count_that_begin_anew_with_each_key_frame_lose_nothing() -> None:
    codec = Jt1078Parser()
    for turn in range(4):
        sender = Jt1078Sender(SIM)
        units = [picture(500 + ms + turn, timestamp=ms, keyframe=ms == 0) for ms in range(0, 1000, 40)]
        units += [
            msgspec.structs.replace(speech(ms), payload=bytes([turn]) * 320) for ms in range(0, 1000, 40)
        ]
        units.sort(key=lambda unit: unit.timestamp)
        assert received(codec, *map(sender.encode, units)) == units


def test_packets_lost_before_a_picture_do_not_cost_it() -> None:
    sender, codec = Jt1078Sender(SIM), Jt1078Parser()
    counted(sender, codec)
    sender.encode(picture(timestamp=400))
    assert received(codec, sender.encode(picture(timestamp=440))) == [picture(timestamp=440)]


@pytest.mark.parametrize("body_bytes", [65_535, 10_000, 951])
def test_bodies_past_the_nominal_size_are_taken(body_bytes: int) -> None:
    sender = Jt1078Sender(SIM, body_bytes=body_bytes)
    units = [picture(65_000, timestamp=0, keyframe=True), picture(200, timestamp=40)]
    wire = b"".join(map(sender.encode, units))
    codec = Jt1078Parser()
    assert received(codec, *(wire[start : start + 1400] for start in range(0, len(wire), 1400))) == units


@pytest.mark.parametrize("mark", ["never", "always"])
def test_the_mark_bit_says_nothing(mark: str) -> None:
    sender = Jt1078Sender(SIM)
    wires = packets(b"".join(sender.encode(picture(timestamp=ms)) for ms in (0, 40, 80)))
    marked = [
        wire[:5] + bytes([wire[5] & 0x7F if mark == "never" else wire[5] | 0x80]) + wire[6:] for wire in wires
    ]
    assert received(Jt1078Parser(), *marked) == [picture(timestamp=ms) for ms in (0, 40, 80)]


def test_junk_between_packets_costs_nothing_but_itself() -> None:
    sender = Jt1078Sender(SIM)
    first, second = sender.encode(picture(200)), sender.encode(picture(300))
    found = received(
        Jt1078Parser(), first + first + b"junk 01c 01cd and more of it, long enough to be a head" + second
    )
    assert [type(unit) for unit in found] == [AccessUnit, AccessUnit, FrameRejected, AccessUnit]
    assert found[3] == picture(300)


def test_junk_before_the_first_packet_is_skipped() -> None:
    sender = Jt1078Sender(SIM)
    wire = sender.encode(picture(200)) + sender.encode(speech())
    rejected, *units = received(Jt1078Parser(), b"\0" * 1000 + wire)
    assert isinstance(rejected, FrameRejected)
    assert len(rejected.frame) == 256
    assert units == [picture(200), speech()]


@pytest.mark.parametrize("wrong", [300, 60_000])
def test_a_body_length_that_is_too_large_costs_only_its_own_unit(wrong: int) -> None:
    sender = Jt1078Sender(SIM)
    first, *others = packets(sender.encode(picture(2500)))
    broken = first[:28] + wrong.to_bytes(2) + first[30:] if wrong > 950 else b""
    if not broken:  # a short packet that swallows the head of the next one
        whole = sender.encode(picture(100))
        broken, others = whole[:28] + wrong.to_bytes(2) + whole[30:], []
    rest = b"".join(sender.encode(picture(3000, timestamp=number)) for number in range(30))
    found = received(Jt1078Parser(), sender.encode(speech()) + broken + b"".join(others) + rest)
    assert found[0] == speech()
    assert isinstance(found[1], FrameRejected)
    assert found[2:] == [picture(3000, timestamp=number) for number in range(30)]


def test_a_body_length_that_is_too_small_costs_only_its_own_unit() -> None:
    sender = Jt1078Sender(SIM)
    first, *others = packets(sender.encode(picture(2500)))
    broken = first[:28] + (500).to_bytes(2) + first[30:]
    wire = sender.encode(speech()) + broken + b"".join(others) + sender.encode(picture(700))
    found = received(Jt1078Parser(), wire)
    assert found[0] == speech()
    assert isinstance(found[1], FrameRejected)
    assert found[2:] == [picture(700)]


def test_another_sim_on_the_connection_ends_it() -> None:
    codec = Jt1078Parser()
    codec.receive(Jt1078Sender(SIM).encode(picture()))
    with pytest.raises(CodecError, match="139123456"):
        codec.receive(Jt1078Sender("13800000000").encode(picture()))


@pytest.mark.parametrize(
    ("first", "limit"),
    [(b"", parser.MAX_UNIDENTIFIED_BYTES), (Jt1078Sender(SIM).encode(picture()), parser.MAX_GARBAGE_BYTES)],
)
def test_endless_junk_ends_the_connection(first: bytes, limit: int) -> None:
    codec = Jt1078Parser()
    codec.receive(first)
    for _ in range(limit // 1000):
        codec.receive(b"\x55" * 1000)
        assert codec.buffered < 2000
    with pytest.raises(CodecError, match="without a media packet"):
        codec.receive(b"\x55" * 1000)


def test_junk_in_which_packets_seem_to_begin_ends_the_connection_earlier() -> None:
    """Each place where a packet seems to begin costs as much time as many other bytes."""
    codec = Jt1078Parser()
    with pytest.raises(CodecError, match="without a media packet"):
        codec.receive(b"01cd" * (parser.MAX_UNIDENTIFIED_BYTES // parser.CANDIDATE_BYTES + 10))


@settings(max_examples=150)
@given(st.lists(st.binary(max_size=200) | st.just(b"01cd\x81\xe2"), max_size=20), st.booleans())
def test_random_bytes_raise_nothing_but_codec_errors(pieces: list[bytes], identified: bool) -> None:
    codec = Jt1078Parser()
    if identified:
        codec.receive(Jt1078Sender(SIM).encode(picture()))
    try:
        received(codec, *pieces)
    except CodecError:
        return
    assert codec.buffered < 70_000


def test_a_picture_without_end_is_dropped_at_the_limit() -> None:
    sender = Jt1078Sender(SIM)
    first, middle, *_ = packets(sender.encode(picture(3000)))
    codec = Jt1078Parser()
    codec.receive(first)
    for _ in range(3000):
        codec.receive(middle)
        assert codec.buffered <= parser.MAX_UNIT_BYTES + 70_000
    assert codec.buffered == 0


def test_empty_parts_take_no_memory() -> None:
    sender = Jt1078Sender(SIM)
    first, middle, *_, last = packets(sender.encode(picture(3000)))
    empty = middle[:28] + b"\0\0"
    codec = Jt1078Parser()
    found = received(codec, first, empty * 1000, last)
    assert found == [msgspec.structs.replace(picture(3000), payload=first[30:] + last[30:])]


def test_unfinished_pictures_of_many_channels_stay_within_one_limit() -> None:
    codec = Jt1078Parser()
    for channel in range(12):
        parts = packets(Jt1078Sender(SIM).encode(picture(900_000, channel=channel)))
        for part in parts[:-1]:
            codec.receive(part)
        assert codec.buffered <= parser.MAX_OPEN_BYTES + 70_000


def test_the_heads_of_hisilicon_are_taken_off_sound() -> None:
    body = bytes(range(160)) * 2
    unit = AccessUnit(1, AudioCoding.G711A, False, 5, b"\0\1\xa0\0" + body)
    assert received(Jt1078Parser(), Jt1078Sender(SIM).encode(unit) * 2)[0] == AccessUnit(
        1, AudioCoding.G711A, False, 5, body
    )


def test_h265_that_is_labelled_h264_is_recognised_and_stays_so() -> None:
    sender = Jt1078Sender(SIM)
    key = AccessUnit(1, H264, True, 0, b"\0\0\0\1\x40\1" + b"\x0c" * 300, 40)
    plain = AccessUnit(1, H264, False, 40, b"\0\0\0\1\2\1" + b"\x0c" * 300, 40)
    found = received(Jt1078Parser(), sender.encode(key) + sender.encode(plain) + sender.encode(plain))
    assert [unit.coding for unit in found] == [H265] * 3


def test_transparent_packets_and_empty_ones_are_no_units() -> None:
    sim = bytes.fromhex(SIM.zfill(12))
    transparent = b"01cd\x81\x5b\0\1" + sim + b"\1\x40" + (20).to_bytes(2) + bytes(20)
    empty = b"01cd\x81\xe2\0\1" + sim + b"\1\x10" + bytes(8) + b"\0\0\0\x28\0\0"
    codec = Jt1078Parser()
    assert received(codec, Jt1078Sender(SIM).encode(speech()), transparent, empty, transparent) == [speech()]


def test_a_coding_that_is_not_carried_is_named_other() -> None:
    wire = bytearray(Jt1078Sender(SIM).encode(speech()))
    wire[5] = 0x80 | 28  # AMR
    assert received(Jt1078Parser(), bytes(wire) * 2)[0].coding is None
