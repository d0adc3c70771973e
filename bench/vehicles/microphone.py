"""The sound of an engine, encoded."""

import array
import math
from fractions import Fraction

import av
from av.audio.codeccontext import AudioCodecContext

from motorpool.codecs.media.units import AudioCoding

_PERIOD = 1024
"""Samples of the wave table, a power of two."""
_HUM = [
    round(1500 * math.sin(math.tau * i / _PERIOD) + 700 * math.sin(2 * math.tau * i / _PERIOD))
    + round(300 * math.sin(5 * math.tau * i / _PERIOD))
    for i in range(_PERIOD)
]
_ADTS_RATES = {96000: 0, 48000: 3, 44100: 4, 32000: 5, 24000: 6, 22050: 7, 16000: 8, 8000: 11}


class Microphone:
    """Generates the sound of an engine whose pitch follows the speed."""

    def __init__(self, coding: AudioCoding) -> None:
        self._encoder: AudioCodecContext
        match coding:
            case AudioCoding.AAC:
                self._encoder, sample_format = av.CodecContext.create("aac", "w"), "fltp"
                self._rate, self._samples = 16_000, 1024
            case AudioCoding.G711A:
                self._encoder, sample_format = av.CodecContext.create("pcm_alaw", "w"), "s16"
                self._rate, self._samples = 8_000, 320
            case _:
                raise ValueError(f"no microphone for {coding.name}")
        self.coding = coding
        self._encoder.sample_rate = self._rate
        self._encoder.layout = "mono"
        self._encoder.format = sample_format
        self._encoder.time_base = Fraction(1, self._rate)
        if coding is AudioCoding.AAC:
            self._encoder.bit_rate = 24_000
            self._encoder.options = {"aac_coder": "fast"}
        self._resampler = av.AudioResampler(format=sample_format, layout="mono", rate=self._rate)
        self._generated_samples = 0
        self._phase = 0.0
        self._encoded_samples = 0

    def encode_until(self, seconds: float, speed: float) -> list[tuple[int, bytes]]:
        """Return the packets up to `seconds` after the beginning, each with its time in milliseconds.

        `speed` is the vehicle's, in metres per second.
        """
        packets = []
        while (self._generated_samples + self._samples) / self._rate <= seconds:
            frame = self._hum(28.0 + 2.2 * speed)
            for resampled in self._resampler.resample(frame):
                for packet in self._encoder.encode(resampled):
                    milliseconds = round(self._encoded_samples * 1000 / self._rate)
                    payload = bytes(packet)
                    if self.coding is AudioCoding.AAC:
                        payload = adts_header(len(payload), self._rate) + payload
                    packets.append((milliseconds, payload))
                    self._encoded_samples += self._samples
        return packets

    def _hum(self, hertz: float) -> av.AudioFrame:
        step = hertz * _PERIOD / self._rate
        phase = self._phase
        wave = array.array("h", [_HUM[int(phase + i * step) & _PERIOD - 1] for i in range(self._samples)])
        self._phase = (phase + self._samples * step) % _PERIOD
        frame = av.AudioFrame(format="s16", layout="mono", samples=self._samples)
        frame.planes[0].update(wave.tobytes())
        frame.sample_rate = self._rate
        frame.pts = self._generated_samples
        frame.time_base = Fraction(1, self._rate)
        self._generated_samples += self._samples
        return frame


def adts_header(length: int, rate: int) -> bytes:
    """Return the ADTS header of an AAC-LC mono frame (ISO 13818-7, section 6.2)."""
    size = length + 7
    return bytes(
        (
            0xFF,
            0xF1,  # MPEG-4, no CRC
            1 << 6 | _ADTS_RATES[rate] << 2,  # LC
            1 << 6 | size >> 11,  # mono
            size >> 3 & 0xFF,
            (size & 7) << 5 | 0x1F,
            0xFC,
        )
    )
