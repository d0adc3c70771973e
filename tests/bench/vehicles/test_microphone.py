"""The hum of an engine: in time, decodable, higher when the vehicle is faster."""

import array
import io
from itertools import pairwise

import av
import pytest

from motorpool.bench.vehicles.microphone import Microphone, adts_header
from motorpool.codecs.media.units import AudioCoding, Coding


def samples(coding: Coding, packets: list[tuple[int, bytes]]) -> list[int]:
    """What the packets decode to, as 16 bit samples."""
    content = io.BytesIO(b"".join(payload for _, payload in packets))
    kind, options = ("aac", {}) if coding is AudioCoding.AAC else ("alaw", {"sample_rate": "8000"})
    resampler = av.AudioResampler(format="s16", layout="mono")
    heard = array.array("h")
    with av.open(content, format=kind, options=options) as container:
        for frame in container.decode(audio=0):
            for piece in resampler.resample(frame):
                heard.frombytes(bytes(piece.planes[0])[: 2 * piece.samples])
    return list(heard)


def crossings(wave: list[int]) -> int:
    return sum(earlier < 0 <= later for earlier, later in pairwise(wave))


@pytest.mark.parametrize(
    ("coding", "rate", "step"), [(AudioCoding.AAC, 16_000, 64), (AudioCoding.G711A, 8_000, 40)]
)
def test_sound_keeps_time_whatever_the_pieces(coding: Coding, rate: int, step: int) -> None:
    microphone = Microphone(coding)
    packets = [packet for number in range(1, 31) for packet in microphone.encode_until(number / 10, 12.0)]
    times = [milliseconds for milliseconds, _ in packets]
    assert times == [number * step for number in range(len(times))]
    assert len(samples(coding, packets)) / rate == pytest.approx(3.0, abs=0.2)


@pytest.mark.parametrize("coding", [AudioCoding.AAC, AudioCoding.G711A])
def test_a_faster_vehicle_hums_higher(coding: Coding) -> None:
    slow = samples(coding, Microphone(coding).encode_until(2.0, 2.0))
    fast = samples(coding, Microphone(coding).encode_until(2.0, 25.0))
    assert max(slow) > 1000
    assert crossings(fast) > 1.8 * crossings(slow)


def test_what_no_microphone_codes_is_refused() -> None:
    with pytest.raises(ValueError, match="G726"):
        Microphone(AudioCoding.G726)


def test_an_adts_header_is_the_standards() -> None:
    # 16 kHz, mono, LC, 100 bytes of frame behind 7 of header: written out bit by bit from ISO 13818-7.
    assert adts_header(100, 16_000).hex() == "fff160400d7ffc"
