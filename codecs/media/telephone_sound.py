"""Telephone codings of sound to 16 bit PCM and back: 8,000 samples a second, mono
(docs/protocols/jt1078.md#audio).

PCM has the byte order of the machine. Blocking, some 0.1 ms for 40 ms of sound.
"""

import array
import io
from fractions import Fraction

import av
from av.audio.codeccontext import AudioCodecContext

from motorpool.codecs.errors import CodecError
from motorpool.codecs.media.audio_parser import ADPCM_HEADER_BYTES, RATE
from motorpool.codecs.media.units import AudioCoding

FRAME_SAMPLES = 320
"""Of each packet that an encoder returns: 40 ms, as most terminals send."""
FRAME_BYTES = 2 * FRAME_SAMPLES
"""The same as PCM."""
CODINGS = frozenset((AudioCoding.G711A, AudioCoding.G711U, AudioCoding.G726, AudioCoding.ADPCM))
"""The codings that can be decoded and encoded."""

_G711 = {AudioCoding.G711A: "pcm_alaw", AudioCoding.G711U: "pcm_mulaw"}
_SAMPLE_TIME = Fraction(1, RATE)

_STEPS = array.array("h", (7, 8, 9, 10, 11, 12, 13, 14, 16, 17, 19, 21, 23, 25, 28, 31, 34, 37, 41, 45, 50))
_STEPS.extend((55, 60, 66, 73, 80, 88, 97, 107, 118, 130, 143, 157, 173, 190, 209, 230, 253, 279, 307, 337))
_STEPS.extend((371, 408, 449, 494, 544, 598, 658, 724, 796, 876, 963, 1060, 1166, 1282, 1411, 1552, 1707))
_STEPS.extend((1878, 2066, 2272, 2499, 2749, 3024, 3327, 3660, 4026, 4428, 4871, 5358, 5894, 6484, 7132))
_STEPS.extend((7845, 8630, 9493, 10442, 11487, 12635, 13899, 15289, 16818, 18500, 20350, 22385, 24623))
_STEPS.extend((27086, 29794, 32767))
_INDEX_CHANGES = (-1, -1, -1, -1, 2, 4, 6, 8)
"""Tables of IMA ADPCM (IMA, Recommended Practices for Enhancing Digital Audio Compatibility, 1992)."""


class TelephoneDecoder:
    """Decodes the units of one stream in order."""

    def __init__(self, coding: AudioCoding, g726_bits: int = 0) -> None:
        """`g726_bits` is the bits of a sample of G.726, 2 to 5."""
        self.layout = (coding, g726_bits)
        self._decoder = _open_decoder(coding, g726_bits)

    def decode(self, payload: bytes) -> bytes:
        """Return the samples of a unit; as many as could be decoded."""
        if self.layout[0] is AudioCoding.ADPCM:
            samples = max(0, 2 * (len(payload) - ADPCM_HEADER_BYTES))
            payload = (
                payload[:ADPCM_HEADER_BYTES] + samples.to_bytes(4, "little") + payload[ADPCM_HEADER_BYTES:]
            )
        try:
            frames = self._decoder.decode(av.Packet(payload))
        except av.FFmpegError:
            return b""
        return b"".join(bytes(frame.planes[0])[: 2 * frame.samples] for frame in frames)


class TelephoneEncoder:
    """Encodes one stream."""

    def __init__(self, coding: AudioCoding, g726_bits: int = 0) -> None:
        """`g726_bits` is the bits of a sample of G.726, 2 to 5.

        Raises:
            CodecError: the coding cannot be encoded.
        """
        if coding not in CODINGS:
            raise CodecError(f"sound cannot be encoded as {coding.value}")
        self._frame_bytes = FRAME_SAMPLES * g726_bits // 8
        self._encoder = None if coding is AudioCoding.ADPCM else _open_encoder(coding, g726_bits)
        self._adpcm_index = 0
        self._samples = 0
        self._unsent = b""
        """Bytes of G.726 that are no whole packet yet."""

    def encode(self, pcm: bytes) -> list[bytes]:
        """Return the packets that these FRAME_SAMPLES samples complete: one, of G.726 none or many, since
        FFmpeg encodes 512 ms of it at a time.
        """
        if self._encoder is None:
            return [self._encode_adpcm(array.array("h", pcm))]
        frame = av.AudioFrame("s16", "mono", len(pcm) // 2)
        frame.planes[0].update(pcm.ljust(frame.planes[0].buffer_size, b"\0"))
        frame.sample_rate = RATE
        frame.time_base = _SAMPLE_TIME
        frame.pts = self._samples
        self._samples += frame.samples
        packets = [bytes(packet) for packet in self._encoder.encode(frame)]
        if not self._frame_bytes:
            return packets
        coded, size = self._unsent + b"".join(packets), self._frame_bytes
        whole = len(coded) // size * size
        self._unsent = coded[whole:]
        return [coded[start : start + size] for start in range(0, whole, size)]

    @property
    def delay_frames(self) -> int:
        """Packets of silence after which the last sound has been returned."""
        return 13 if self._frame_bytes else 0

    def _encode_adpcm(self, samples: "array.array[int]") -> bytes:
        """Return a packet that a decoder without memory of the one before can decode."""
        # The predictor is no sample: what follows begins near it.
        predicted, index = samples[0], self._adpcm_index
        packet = bytearray(predicted.to_bytes(2, "little", signed=True) + bytes((index, 0)))
        high = 0
        for number, sample in enumerate(samples):
            step, difference = _STEPS[index], sample - predicted
            code = 0
            if difference < 0:
                code, difference = 8, -difference
            change = step >> 3
            for bit in (4, 2, 1):
                if difference >= step:
                    code |= bit
                    difference -= step
                    change += step
                step >>= 1
            predicted = max(-32768, min(32767, predicted - change if code & 8 else predicted + change))
            index = max(0, min(88, index + _INDEX_CHANGES[code & 7]))
            if number & 1:
                packet.append(high << 4 | code)
            else:
                high = code
        self._adpcm_index = index
        return bytes(packet)


def _open_decoder(coding: AudioCoding, g726_bits: int) -> AudioCodecContext:
    if coding is AudioCoding.G726:
        # PyAV cannot set the bits of a sample; the demuxer can, and leaves a decoder that is ready.
        options = {"code_size": str(g726_bits), "sample_rate": str(RATE)}
        with av.open(io.BytesIO(bytes(64)), format="g726le", options=options) as container:
            return container.streams.audio[0].codec_context
    # Of FFmpeg's IMA decoders the one for AMV takes high nibbles first, and its predictor is no sample.
    name = _G711.get(coding, "adpcm_ima_amv")
    decoder = av.CodecContext.create(name, "r")
    assert isinstance(decoder, AudioCodecContext)
    decoder.sample_rate = RATE
    decoder.layout = "mono"
    return decoder


def _open_encoder(coding: AudioCoding, g726_bits: int) -> AudioCodecContext:
    encoder = av.CodecContext.create(_G711.get(coding, "g726le"), "w")
    assert isinstance(encoder, AudioCodecContext)
    encoder.sample_rate = RATE
    encoder.layout = "mono"
    encoder.format = "s16"
    encoder.time_base = _SAMPLE_TIME
    if coding is AudioCoding.G726:
        encoder.options = {"code_size": str(g726_bits)}
    return encoder
