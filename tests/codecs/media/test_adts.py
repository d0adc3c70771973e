import av
import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.codecs.media import adts


def test_a_head_is_written_as_the_standard_says() -> None:
    # 0xFFF1: MPEG-4 without checksum; 0x6C: LC, 8 kHz; 0x40: mono; length 107.
    assert adts.header(100).hex() == "fff16c400d7ffc"


@given(st.integers(1, adts.MAX_FRAME_BYTES), st.sampled_from(adts.SAMPLE_RATES), st.integers(1, 7))
def test_a_head_reads_as_it_was_written(size: int, rate: int, channels: int) -> None:
    frame = adts.header(size, rate, channels) + bytes(size)
    assert adts.has_header(frame)
    assert adts.measure(frame) == adts.AudioLength(1024, rate)
    assert adts.is_single_frame(frame, adts.fixed_part(frame))
    assert adts.measure(frame * 3) == adts.AudioLength(3072, rate)
    assert not adts.is_single_frame(frame * 3, adts.fixed_part(frame))


def test_frames_come_bare_with_the_configuration_that_their_heads_stand_for() -> None:
    low, high = adts.header(5, 8000, 1) + b"first", adts.header(6, 48000, 2) + b"second"
    # AudioSpecificConfig: low complexity is object type 2, then the rate's index and the channels.
    assert adts.frames(low + high) == [(b"\x15\x88", b"first"), (b"\x11\x90", b"second")]
    assert adts.frames(b"") == []


def test_ffmpeg_reads_our_heads() -> None:
    head = adts.header(200, 16000, 2)
    context = av.CodecContext.create("aac", "r")
    (packet,) = context.parse(head + bytes(200) + head)
    assert packet.size == 207


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"\xff\xf1",
        adts.header(100) + bytes(99),
        adts.header(100) + bytes(101),
        adts.header(100)[:2] + b"\x7c" + adts.header(100)[3:] + bytes(100),  # rate 15
        b"\xff\xf1\x6c\x40\0\0\0" + bytes(20),  # length 0
        adts.header(10) + bytes(10) + b"\0" * 30,
    ],
)
def test_heads_that_do_not_fit_their_bytes_are_refused(payload: bytes) -> None:
    assert adts.measure(payload) is None


@given(st.binary(max_size=40).map(lambda tail: b"\xff\xf1" + tail))
def test_any_bytes_can_be_read(payload: bytes) -> None:
    found = adts.measure(payload)
    assert found is None or found.samples % 1024 == 0


def test_a_frame_is_like_another_with_the_same_configuration_alone() -> None:
    mono, stereo = (adts.header(20, channels=channels) + bytes(20) for channels in (1, 2))
    with_checksum = bytes((mono[0], mono[1] & 0xFE)) + mono[2:]
    assert adts.is_single_frame_without_checksum(adts.header(9) + bytes(9), mono)
    for other in (stereo, with_checksum, mono + mono, adts.header(20, rate=16000) + bytes(20)):
        assert not adts.is_single_frame_without_checksum(other, mono)
    assert not adts.is_single_frame_without_checksum(with_checksum, with_checksum)
