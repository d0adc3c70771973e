"""Telephone codings both ways: what is encoded decodes to the same sound."""

import array
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.codecs.errors import CodecError
from motorpool.codecs.media.telephone_sound import (
    CODINGS,
    FRAME_BYTES,
    FRAME_SAMPLES,
    TelephoneDecoder,
    TelephoneEncoder,
)
from motorpool.codecs.media.units import AudioCoding

LAYOUTS = [
    (AudioCoding.G711A, 0, 320, 30),
    (AudioCoding.G711U, 0, 320, 30),
    (AudioCoding.ADPCM, 0, 164, 20),
    *((AudioCoding.G726, bits, 40 * bits, 10 + 4 * (bits - 2)) for bits in (2, 3, 4, 5)),
]
"""Coding, bits of a sample of G.726, bytes of a packet, and how far noise is below the sound, dB."""


def tone(frames: int) -> bytes:
    samples = [
        round(9000 * math.sin(math.tau * 440 * number / 8000)) for number in range(frames * FRAME_SAMPLES)
    ]
    return array.array("h", samples).tobytes()


def frames_of(pcm: bytes) -> list[bytes]:
    return [pcm[start : start + FRAME_BYTES] for start in range(0, len(pcm), FRAME_BYTES)]


@pytest.mark.parametrize(("coding", "bits", "size", "decibels"), LAYOUTS)
def test_a_tone_comes_back_with_little_noise(
    coding: AudioCoding, bits: int, size: int, decibels: float
) -> None:
    encoder, decoder = TelephoneEncoder(coding, bits), TelephoneDecoder(coding, bits)
    said = tone(25)
    silence = [bytes(FRAME_BYTES)] * encoder.delay_frames
    packets = [packet for pcm in [*frames_of(said), *silence] for packet in encoder.encode(pcm)]
    assert {len(packet) for packet in packets} == {size}
    assert len(packets) >= 25
    heard = b"".join(map(decoder.decode, packets))
    # The first 40 ms are left out, in which some codings adapt.
    pairs = list(zip(array.array("h", said), array.array("h", heard), strict=False))[FRAME_SAMPLES:]
    noise = sum((one - other) ** 2 for one, other in pairs)
    assert 10 * math.log10(sum(one * one for one, _ in pairs) / noise) > decibels


@given(st.lists(st.integers(-32768, 32767), min_size=FRAME_SAMPLES, max_size=FRAME_SAMPLES))
def test_any_samples_are_encoded_as_one_packet_of_40_ms(samples: list[int]) -> None:
    pcm = array.array("h", samples).tobytes()
    for coding in CODINGS - {AudioCoding.G726}:
        (packet,) = TelephoneEncoder(coding).encode(pcm)
        assert len(TelephoneDecoder(coding).decode(packet)) == FRAME_BYTES


@given(st.binary(max_size=400))
def test_any_bytes_are_decoded_or_dropped(payload: bytes) -> None:
    for coding, bits, _, _ in LAYOUTS:
        assert len(TelephoneDecoder(coding, bits).decode(payload)) <= 8 * (len(payload) + 1)


def test_other_codings_are_not_encoded() -> None:
    with pytest.raises(CodecError, match="aac"):
        TelephoneEncoder(AudioCoding.AAC)
