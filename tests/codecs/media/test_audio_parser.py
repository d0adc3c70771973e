import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.codecs.media import adts
from motorpool.codecs.media.audio_parser import AudioParser, ParsedAudio, g726_bits
from motorpool.codecs.media.units import AccessUnit, AudioCoding


def parse(parser: AudioParser, coding: AudioCoding, payload: bytes) -> ParsedAudio | None:
    return parser.push(coding, AccessUnit(1, coding, False, 0, payload))


@pytest.mark.parametrize(
    ("coding", "size", "samples", "bits"),
    [
        (AudioCoding.G711A, 320, 320, 0),
        (AudioCoding.G711U, 160, 160, 0),
        (AudioCoding.ADPCM, 164, 320, 0),
        (AudioCoding.G726, 80, 320, 2),
        (AudioCoding.G726, 120, 320, 3),
        (AudioCoding.G726, 160, 320, 4),
        (AudioCoding.G726, 200, 320, 5),
        (AudioCoding.G726, 40, 160, 2),
        (AudioCoding.G726, 60, 160, 3),
        (AudioCoding.G726, 100, 160, 5),
    ],
)
def test_telephone_sound_is_as_long_as_its_bytes_say(
    coding: AudioCoding, size: int, samples: int, bits: int
) -> None:
    payload = b"\x11" * size
    assert parse(AudioParser(), coding, payload) == ParsedAudio(coding, payload, samples, 8000, bits, False)


@pytest.mark.parametrize(("spacing", "bits"), [(20, 4), (40, 2), (0, 2), (-5, 2), (1_000_000, 2)])
def test_the_spacing_tells_the_rate_of_g726_where_the_size_does_not(spacing: int, bits: int) -> None:
    assert g726_bits(80, spacing) == bits


@given(st.integers(0, 2000), st.integers(-100, 2000))
def test_g726_has_two_to_five_bits(size: int, spacing: int) -> None:
    assert 2 <= g726_bits(size, spacing) <= 5


def test_aac_with_heads_passes_as_it_is() -> None:
    frame = adts.header(50, 16000) + bytes(50)
    sounds = AudioParser()
    assert parse(sounds, AudioCoding.AAC, frame) == ParsedAudio(AudioCoding.AAC, frame, 1024, 16000, 0, False)
    assert parse(sounds, AudioCoding.AAC, frame) == ParsedAudio(AudioCoding.AAC, frame, 1024, 16000, 0, False)
    assert parse(sounds, AudioCoding.AAC, frame * 2) == ParsedAudio(
        AudioCoding.AAC, frame * 2, 2048, 16000, 0, False
    )


def test_aac_without_heads_is_taken_as_8_khz_mono() -> None:
    taken = parse(AudioParser(), AudioCoding.AAC, b"\x21\x10\x05")
    assert taken == ParsedAudio(
        AudioCoding.AAC, adts.header(3, 8000, 1) + b"\x21\x10\x05", 1024, 8000, 0, False
    )


def test_another_coding_or_rate_is_a_change() -> None:
    sounds = AudioParser()
    slow, fast = (adts.header(50, rate) + bytes(50) for rate in (8000, 16000))
    told = [parse(sounds, AudioCoding.AAC, frame) for frame in (slow, slow, fast, fast, slow)]
    told += [parse(sounds, AudioCoding.G711A, b"\xd5" * 160) for _ in range(2)]
    assert [sounding.changed for sounding in told if sounding] == [
        False,
        False,
        True,
        False,
        True,
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("coding", "payload"),
    [
        (AudioCoding.AAC, b""),
        (AudioCoding.AAC, adts.header(50) + bytes(49)),
        (AudioCoding.AAC, bytes(9000)),
        (AudioCoding.ADPCM, b"\0\0\0\0"),
        (AudioCoding.G711A, b""),
        (AudioCoding.G711A, bytes(8001)),
    ],
)
def test_what_cannot_be_decoded_is_refused(coding: AudioCoding, payload: bytes) -> None:
    assert parse(AudioParser(), coding, payload) is None
