"""Access units in, JT/T 1078 media packets out: what terminals send, and the sound that is sent to them."""

from motorpool.codecs.media.jt1078.packet_header import (
    AUDIO,
    AUDIO_CODINGS,
    FIRST,
    HEADERS,
    LAST,
    MAGIC_NUMBER,
    MIDDLE,
    VIDEO_CODECS,
    WHOLE,
)
from motorpool.codecs.media.units import AccessUnit, Coding

PAYLOAD_TYPES: dict[Coding | None, int] = {
    coding: number for number, coding in sorted((AUDIO_CODINGS | VIDEO_CODECS).items(), reverse=True)
}
"""Of the types that mean the same coding the lowest."""
BODY_BYTES = 950
"""Longest body of a packet (docs/protocols/jt1078.md#packet)."""


class Jt1078Sender:
    """One direction of a media connection; may carry several channels."""

    def __init__(self, sim: str, sim_bytes: int = 6, body_bytes: int = BODY_BYTES) -> None:
        """`sim`: the digits of the terminal's phone, zeros are put before them up to 12 or 20."""
        self._sim = bytes.fromhex(sim.zfill(2 * sim_bytes))
        self._head = HEADERS[sim_bytes]
        if len(self._sim) != sim_bytes:
            raise ValueError(f"SIM {sim} does not fit {sim_bytes} bytes")
        self._body_bytes = body_bytes
        self._sequences: dict[int, int] = {}
        self._key_times: dict[int, int] = {}
        self._times: dict[int, int] = {}

    def encode(self, unit: AccessUnit, data_type: int | None = None) -> bytes:
        """The unit's packets, joined. `data_type` 0 I, 1 P, 2 B; None goes by the unit's key frame mark."""
        is_audio = not unit.is_video
        if is_audio:
            data_type = AUDIO
        elif data_type is None:
            data_type = 0 if unit.keyframe else 1
        channel, timestamp, payload = unit.channel, unit.timestamp, unit.payload
        since_key = since_picture = 0
        if not is_audio:
            if data_type == 0:
                self._key_times[channel] = timestamp
            since_key = _interval(timestamp - self._key_times.get(channel, timestamp))
            since_picture = unit.frame_interval or _interval(timestamp - self._times.get(channel, timestamp))
            self._times[channel] = timestamp

        key = channel << 1 | is_audio
        sequence = self._sequences.get(key, 0)
        payload_type = PAYLOAD_TYPES[unit.coding]
        step, size = self._body_bytes, len(payload)
        pieces = []
        for start in range(0, max(size, 1), step):
            body = payload[start : start + step]
            is_first, is_last = start == 0, start + step >= size
            fragmentation = (WHOLE if is_last else FIRST) if is_first else (LAST if is_last else MIDDLE)
            head = self._head.pack(
                MAGIC_NUMBER,
                payload_type | (is_last << 7),
                sequence,
                self._sim,
                channel,
                data_type << 4 | fragmentation,
                timestamp & 0xFFFF_FFFF_FFFF_FFFF,
                len(body) if is_audio else since_key,
                since_picture,
                len(body),
            )
            pieces.append(head[:4] + b"\x81" + head[5:-4] if is_audio else head[:4] + b"\x81" + head[5:])
            pieces.append(body)
            sequence = (sequence + 1) & 0xFFFF
        self._sequences[key] = sequence
        return b"".join(pieces)


def _interval(milliseconds: int) -> int:
    """Return an interval as a WORD; 0 where the clock jumped."""
    return milliseconds if 0 <= milliseconds <= 0xFFFF else 0
