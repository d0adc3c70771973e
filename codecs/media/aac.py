"""Telephone audio into AAC with ADTS headers, by PyAV. Blocking: it belongs in a thread."""

from collections import deque
from collections.abc import Iterable, Sequence
from fractions import Fraction

import av
from av.audio.codeccontext import AudioCodecContext
from av.packet import Packet
from av.stream import Stream

from motorpool.codecs.media import adts
from motorpool.codecs.media.audio_parser import RATE
from motorpool.codecs.media.fragments import AudioFrame
from motorpool.codecs.media.telephone_sound import TelephoneDecoder
from motorpool.codecs.media.timestamps import TICKS_PER_SECOND
from motorpool.codecs.media.units import AudioCoding

_SAMPLE_TIME = Fraction(1, RATE)
_BIT_RATE = 24_000


class AacTranscoder:
    """Units of one telephone coding into AAC at 8 kHz mono; the encoder lives as long as the stream.

    Times are exact to the sample: a frame takes the time of the unit that holds its first sample.
    """

    def __init__(self, coding: AudioCoding, g726_bits_per_sample: int = 0) -> None:
        self.layout = (coding, g726_bits_per_sample)
        self._decoder = TelephoneDecoder(coding, g726_bits_per_sample)
        self._encoder = _open_encoder()
        self._samples = 0
        self._anchors: deque[tuple[int, int]] = deque()

    def transcode(self, audio_frames: Sequence[AudioFrame]) -> list[AudioFrame]:
        """Return the AAC frames that these units complete; up to two frames stay in the encoder."""
        pieces = []
        for frame in audio_frames:
            # What cannot be decoded becomes silence, so that the rest keeps its time.
            pcm = self._decoder.decode(frame.payload)
            pieces.append(pcm[: 2 * frame.samples].ljust(2 * frame.samples, b"\0"))
            self._anchors.append((self._samples, frame.pts))
            self._samples += frame.samples
        return self._encode(b"".join(pieces))

    def drain(self) -> list[AudioFrame]:
        """Return what the encoder still holds; the transcoder cannot be used afterwards."""
        return self._frames(self._encoder.encode(None))

    def _encode(self, pcm: bytes) -> list[AudioFrame]:
        if not pcm:
            return []
        frame = av.AudioFrame("s16", "mono", len(pcm) // 2)
        frame.planes[0].update(pcm.ljust(frame.planes[0].buffer_size, b"\0"))
        frame.sample_rate = RATE
        frame.time_base = _SAMPLE_TIME
        frame.pts = self._samples - len(pcm) // 2
        return self._frames(self._encoder.encode(frame))

    def _frames(self, packets: "Iterable[Packet[Stream]]") -> list[AudioFrame]:
        audio_frames = []
        for packet in packets:
            payload = bytes(packet)
            position = packet.pts or 0
            while len(self._anchors) > 1 and self._anchors[1][0] <= position:
                self._anchors.popleft()
            sample, pts = self._anchors[0]
            pts += (position - sample) * TICKS_PER_SECOND // RATE
            framed = adts.header(len(payload), RATE) + payload
            audio_frames.append(AudioFrame(pts, AudioCoding.AAC, framed, adts.FRAME_SAMPLES))
        return audio_frames


def _open_encoder() -> AudioCodecContext:
    encoder = av.CodecContext.create("aac", "w")
    encoder.sample_rate = RATE
    encoder.layout = "mono"
    encoder.format = "fltp"
    encoder.bit_rate = _BIT_RATE
    encoder.time_base = _SAMPLE_TIME
    encoder.options = {"aac_coder": "fast"}
    return encoder
