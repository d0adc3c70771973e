import io
import math
import struct

import av
import pytest

from motorpool.codecs.media import adts
from motorpool.codecs.media.aac import AacTranscoder
from motorpool.codecs.media.fragments import AudioFrame
from motorpool.codecs.media.units import AudioCoding, Coding

# Tables of the IMA ADPCM recommendation (1992).
INDEX_STEPS = (-1, -1, -1, -1, 2, 4, 6, 8) * 2
# fmt: off
STEPS = (
    7, 8, 9, 10, 11, 12, 13, 14, 16, 17, 19, 21, 23, 25, 28, 31, 34, 37, 41, 45, 50, 55, 60, 66,
    73, 80, 88, 97, 107, 118, 130, 143, 157, 173, 190, 209, 230, 253, 279, 307, 337, 371, 408, 449,
    494, 544, 598, 658, 724, 796, 876, 963, 1060, 1166, 1282, 1411, 1552, 1707, 1878, 2066, 2272,
    2499, 2749, 3024, 3327, 3660, 4026, 4428, 4871, 5358, 5894, 6484, 7132, 7845, 8630, 9493,
    10442, 11487, 12635, 13899, 15289, 16818, 18500, 20350, 22385, 24623, 27086, 29794, 32767,
)
# fmt: on


def tone(samples: int, hertz: float = 400.0) -> list[int]:
    return [round(12_000 * math.sin(2 * math.pi * hertz * sample / 8000)) for sample in range(samples)]


def decoded(frames: list[AudioFrame]) -> list[int]:
    """Samples of AAC frames, less the encoder's first 1024, which lie before the sound."""
    with av.open(io.BytesIO(b"".join(frame.payload for frame in frames)), format="aac") as container:
        samples: list[float] = []
        for frame in container.decode(audio=0):
            samples += struct.unpack(f"<{frame.samples}f", bytes(frame.planes[0])[: 4 * frame.samples])
    return [round(32768 * sample) for sample in samples[1024:]]


def correlation(one: list[int], other: list[int]) -> float:
    pairs = list(zip(one, other, strict=False))
    return sum(a * b for a, b in pairs) / math.sqrt(
        sum(a * a for a, _ in pairs) * sum(b * b for _, b in pairs)
    )


def encoded(codec: str, samples: list[int], bits: int = 0) -> list[bytes]:
    encoder = av.CodecContext.create(codec, "w")
    encoder.sample_rate = 8000
    encoder.layout = "mono"
    encoder.format = "s16"
    if bits:
        encoder.bit_rate = 8000 * bits
    frame = av.AudioFrame("s16", "mono", len(samples))
    pcm = struct.pack(f"<{len(samples)}h", *samples)
    frame.planes[0].update(pcm.ljust(frame.planes[0].buffer_size, b"\0"))
    frame.sample_rate = 8000
    whole = b"".join(bytes(packet) for packet in encoder.encode(frame) + encoder.encode(None))
    size = 40 * (bits or 8)  # of 40 ms
    return [whole[start : start + size] for start in range(0, len(whole), size)]


def ima_encoded(samples: list[int]) -> list[bytes]:
    """IMA ADPCM as terminals send it: predictor, index, 0, then codes, the high nibble first."""
    payloads = []
    predictor = index = 0
    for start in range(0, len(samples), 320):
        head = struct.pack("<hBB", predictor, index, 0)
        codes = []
        for sample in samples[start : start + 320]:
            step = STEPS[index]
            difference = sample - predictor
            code = 8 if difference < 0 else 0
            rest, change = abs(difference), step >> 3
            for bit in (4, 2, 1):
                part = step >> (2 if bit == 1 else 1 if bit == 2 else 0)
                if rest >= part:
                    code |= bit
                    rest -= part
                    change += part
            predictor = max(-32768, min(32767, predictor + (-change if code & 8 else change)))
            index = max(0, min(88, index + INDEX_STEPS[code]))
            codes.append(code)
        body = bytes(high << 4 | low for high, low in zip(codes[::2], codes[1::2], strict=True))
        payloads.append(head + body)
    return payloads


def sounds_of(coding: Coding, payloads: list[bytes], bits: int = 0, start: int = 900_000) -> list[AudioFrame]:
    return [
        AudioFrame(start + number * 3600, coding, payload, 320, bits)
        for number, payload in enumerate(payloads)
    ]


@pytest.mark.parametrize(
    ("coding", "codec", "bits", "likeness"),
    [
        (AudioCoding.G711A, "pcm_alaw", 0, 0.99),
        (AudioCoding.G711U, "pcm_mulaw", 0, 0.99),
        (AudioCoding.G726, "g726le", 2, 0.9),
        (AudioCoding.G726, "g726le", 3, 0.95),
        (AudioCoding.G726, "g726le", 4, 0.98),
        (AudioCoding.G726, "g726le", 5, 0.98),
        (AudioCoding.ADPCM, "", 0, 0.98),
    ],
)
def test_the_same_sound_comes_out_to_the_sample(
    coding: Coding, codec: str, bits: int, likeness: float
) -> None:
    samples = tone(8000)
    payloads = encoded(codec, samples, bits) if codec else ima_encoded(samples)
    assert len(payloads) == 25
    transcoder = AacTranscoder(coding, bits)
    sounds = sounds_of(coding, payloads, bits)
    frames = transcoder.transcode(sounds[:10]) + transcoder.transcode(sounds[10:]) + transcoder.drain()
    heard = decoded(frames)
    assert len(heard) >= 8000
    assert correlation(heard[1024:7000], samples[1024:7000]) > likeness


def test_each_frame_lies_where_its_first_sample_does() -> None:
    transcoder = AacTranscoder(AudioCoding.G711A)
    frames = transcoder.transcode(sounds_of(AudioCoding.G711A, [b"\xd5" * 320] * 50)) + transcoder.drain()
    # 1024 samples at 8 kHz are 11,520 ticks; the encoder's first frame lies before the first sample.
    assert [frame.pts for frame in frames] == [900_000 - 11_520 + 11_520 * n for n in range(len(frames))]
    assert all(adts.measure(frame.payload) == adts.AudioLength(1024, 8000) for frame in frames)


def test_a_gap_in_the_sound_is_a_gap_in_the_frames() -> None:
    transcoder = AacTranscoder(AudioCoding.G711A)
    before = sounds_of(AudioCoding.G711A, [b"\xd5" * 320] * 16)  # five frames to the sample
    after = sounds_of(AudioCoding.G711A, [b"\xd5" * 320] * 16, start=900_000 + 900_000)
    times = [frame.pts for frame in transcoder.transcode(before) + transcoder.transcode(after)]
    times += [frame.pts for frame in transcoder.drain()]
    assert times[:6] == [900_000 + 11_520 * n for n in range(-1, 5)]
    assert times[6:10] == [1_800_000 + 11_520 * n for n in range(4)]


def test_units_that_do_not_decode_sound_as_silence() -> None:
    transcoder = AacTranscoder(AudioCoding.ADPCM)
    broken = AudioFrame(900_000, AudioCoding.ADPCM, b"\0\0\xff\0" + bytes(160), 320)
    frames = transcoder.transcode([broken] * 10) + transcoder.drain()
    assert len(decoded(frames)) >= 3200


def test_nothing_gives_nothing() -> None:
    assert AacTranscoder(AudioCoding.G711U).transcode([]) == []
