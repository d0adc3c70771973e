import pytest

from motorpool.codecs.media.h264 import H264
from motorpool.codecs.media.h265 import H265
from motorpool.codecs.media.jt1078.packet_header import recognize_codec, sim_width, split_hisilicon
from motorpool.codecs.media.jt1078.sender import Jt1078Sender
from motorpool.codecs.media.units import AccessUnit, AudioCoding, Coding

UNIT = AccessUnit(1, H264, False, 0, b"\0\0\0\1a" + b"\x77" * 100, 40)
SPEECH = AccessUnit(1, AudioCoding.G711A, False, 0, b"\xd5" * 320)


@pytest.mark.parametrize("width", [6, 10])
@pytest.mark.parametrize("unit", [UNIT, SPEECH])
@pytest.mark.parametrize("sim", ["13912345678", "000012345678", "861234567890", "39a2c4e6f801"])
def test_the_second_packet_tells_the_width(width: int, unit: AccessUnit, sim: str) -> None:
    packet = Jt1078Sender(sim, sim_bytes=width).encode(unit)
    assert sim_width(packet + packet, 0) == width


@pytest.mark.parametrize("width", [6, 10])
def test_transparent_packets_tell_the_width_too(width: int) -> None:
    packet = (
        b"01cd\x81\x5b\0\1" + bytes.fromhex("139123456789").rjust(width, b"\0") + b"\1\x40\0\x14" + b"\7" * 20
    )
    assert sim_width(packet + packet, 0) == width


def test_hexadecimal_digits_want_a_second_packet() -> None:
    packet = Jt1078Sender("39a2c4e6f801").encode(UNIT)
    assert sim_width(packet, 0) is None
    assert sim_width(packet + b"no packet" * 10_000, 0) == 0


def test_too_few_bytes_tell_nothing() -> None:
    packet = Jt1078Sender("13912345678").encode(UNIT)
    assert sim_width(packet[:20], 0) is None
    assert sim_width(b"01", 0) is None


@pytest.mark.parametrize("junk", [b"junk" * 10, b"01ce", b"01cd" + b"\xff" * 40])
def test_junk_is_no_packet(junk: bytes) -> None:
    assert sim_width(junk, 0) == 0


@pytest.mark.parametrize(
    ("payload", "pieces"),
    [
        (b"\0\1\x02\0abcd", [b"abcd"]),
        (b"\0\1\x02\0abcd\0\1\x01\0ef", [b"abcd", b"ef"]),
        (b"\0\1\x03\0abcd", [b"\0\1\x03\0abcd"]),  # L does not fit
        (b"\0\1\x02\1abcd", [b"\0\1\x02\1abcd"]),
        (b"\0\1", [b"\0\1"]),
        (b"\0\1\0\0", [b"\0\1\0\0"]),
        (b"abcd", [b"abcd"]),
        (b"", [b""]),
    ],
)
def test_hisilicon_heads_are_known_by_their_length(payload: bytes, pieces: list[bytes]) -> None:
    assert split_hisilicon(payload) == pieces


@pytest.mark.parametrize(
    ("payload", "coding"),
    [
        (b"\0\0\0\1\x67\x42", H264),
        (b"\0\0\1\x27\x42", H264),
        (b"\0\0\0\1\x40\1", H265),
        (b"\0\0\0\1\x46\1\x50", H265),
        (b"\0\0\0\1\x61\x9a", None),
        (b"no start code", None),
    ],
)
def test_parameter_sets_tell_the_coding(payload: bytes, coding: Coding | None) -> None:
    assert recognize_codec(payload) is coding
