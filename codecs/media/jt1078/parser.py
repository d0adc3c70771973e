"""JT/T 1078 media packets in, access units out, over TCP or UDP
(docs/protocols/jt1078.md#joining-packets).
"""

from motorpool.codecs.errors import CodecError
from motorpool.codecs.media.jt1078.packet_header import (
    AUDIO,
    AUDIO_CODINGS,
    HEADERS,
    LAST,
    MAGIC,
    MAGIC_NUMBER,
    MIDDLE,
    TRANSPARENT,
    VIDEO_CODECS,
    WHOLE,
    recognize_codec,
    sim_width,
    split_hisilicon,
)
from motorpool.codecs.media.jt1078.pending_unit import KNOWN_BYTES, PendingUnit
from motorpool.codecs.media.units import AccessUnit, AudioCoding
from motorpool.codecs.reports import FrameRejected

MAX_UNIT_BYTES = 1 << 20
"""A picture past this is dropped: 4K key frames stay below."""
MAX_OPEN_BYTES = 4 << 20
"""Limit of all unfinished units of a connection together."""
MAX_GARBAGE_BYTES = 256 << 10
"""A peer that sends this much without one packet sends no media."""
MAX_UNIDENTIFIED_BYTES = 32 << 10
"""Before the first packet."""
LOOK_BYTES = 2 << 10
"""While a long body is awaited, what comes is looked at this often: it may hold the next packet."""
CANDIDATE_BYTES = 64
"""What the magic number of a packet counts for, at least, where no packet follows: each costs time."""


class Jt1078Parser:
    """One media connection (or UDP peer): any pieces of its bytes in, whole units out."""

    def __init__(self) -> None:
        self._head = HEADERS[6]
        self._sim_bytes = b""
        self._unparsed: bytes | bytearray = b""
        self._needed = 0
        self._pending_units: dict[int, PendingUnit] = {}
        self._sequence = -1
        self._garbage_bytes = 0
        self._open_bytes = 0

    @property
    def sim(self) -> str | None:
        """All digits of the header's SIM, 12 or 20, known with the first valid packet."""
        return self._sim_bytes.hex() or None

    @property
    def buffered(self) -> int:
        """Bytes held back: an incomplete packet and unfinished units."""
        return len(self._unparsed) + self._open_bytes

    def receive(self, data: bytes) -> list[AccessUnit | FrameRejected]:
        """All units that are complete with these bytes, in the order of their last packets.

        A bad head costs its packet and the open units; the stream goes on at the next packet. A length that
        is too large is noticed by the packet it would swallow.

        Raises:
            CodecError: another SIM, or nothing but garbage: the connection is to be closed.
        """
        if self._unparsed:
            if len(self._unparsed) + len(data) < self._needed:
                if isinstance(self._unparsed, bytes):
                    self._unparsed = bytearray(
                        self._unparsed
                    )  # bytes that drip in must not be copied each time
                self._unparsed += data
                return []
            data = bytes(self._unparsed) + data
        found: list[AccessUnit | FrameRejected] = []
        position = 0 if self._sim_bytes else self._identify(data, found)
        if self._sim_bytes:
            position = self._packets(data, position, found)
        self._unparsed = data[position:]
        return found

    def _packets(self, data: bytes, position: int, found: list[AccessUnit | FrameRejected]) -> int:
        """Take the packets from `position` on; returns where the first incomplete one begins."""
        unpack, size = self._head.unpack_from, self._head.size
        sim_bytes, pending_units = self._sim_bytes, self._pending_units
        end = len(data)
        while end - position >= size:
            magic, marked_type, sequence, sim, channel, kind, timestamp, interval_key, interval, length = (
                unpack(data, position)
            )
            data_type = kind >> 4
            fragmentation = kind & 15
            if magic != MAGIC_NUMBER or sim != sim_bytes or data_type > TRANSPARENT or fragmentation > MIDDLE:
                if magic == MAGIC_NUMBER and sim != sim_bytes and not self._garbage_bytes:
                    raise CodecError(f"media of SIM {sim.hex()} on a connection of {sim_bytes.hex()}")
                position = self._skip(data, position, found, "no packet head")
                continue
            body = position + size
            if data_type == AUDIO:
                body -= 4
                length = interval_key
                interval = 0
            elif data_type == TRANSPARENT:
                body -= 12
                length = timestamp >> 48
            stop = body + length
            # A body that is not known to be followed by a packet may have swallowed one.
            if not data.startswith(MAGIC, stop) and self._holds_packet(data, body, stop):
                position = self._skip(data, position, found, f"a packet lies within a body of {length} bytes")
                continue
            if stop > end:
                self._needed = min(stop, end + LOOK_BYTES) - position
                return position
            position = stop
            self._garbage_bytes = 0
            if data_type == TRANSPARENT:
                self._sequence = (sequence + 1) & 0xFFFF
                continue
            key = channel << 1 | (data_type == AUDIO)
            pending = pending_units.get(key)
            if pending is None:
                pending = pending_units[key] = PendingUnit(channel, data_type == AUDIO, sequence=sequence)
            if sequence != pending.sequence and sequence != self._sequence:  # noqa: PLR1714 - a tuple costs here
                if pending.is_stale(sequence, kind, timestamp, data[stop - KNOWN_BYTES : stop]):
                    continue
                pending.note_gap()
            pending.sequence = self._sequence = (sequence + 1) & 0xFFFF

            if fragmentation >= LAST:
                if not pending.parts:
                    continue
                if length:  # or empty parts would pile up below any limit
                    pending.parts.append(data[body:stop])
                pending.size += length
                self._open_bytes += length
                if pending.size > MAX_UNIT_BYTES or self._open_bytes > MAX_OPEN_BYTES:
                    self._drop_unit(pending)
                elif fragmentation == LAST:
                    self._close(pending, found)
                continue
            if pending.parts:
                self._drop_unit(pending)
            pending.data_type = data_type
            pending.timestamp = timestamp
            pending.interval = interval
            if marked_type & 127 != pending.payload_type:
                pending.payload_type = marked_type & 127
                pending.coding = None
            pending.has_gap = pending.is_damaged = False  # what was missing was missing before it
            if not 0 < data_type < AUDIO:
                pending.recent.append((sequence, timestamp, data[stop - KNOWN_BYTES : stop]))
            if fragmentation == WHOLE:
                pending.note_complete()
                self._emit(pending, data[body:stop], found)
            else:
                pending.parts.append(data[body:stop])
                pending.size = length
                self._open_bytes += length
        self._needed = size
        return position

    def _identify(self, data: bytes, found: list[AccessUnit | FrameRejected]) -> int:
        """Find the first packet and its SIM; returns its position."""
        position = 0
        while position < len(data):
            width = sim_width(data, position)
            if width is None:
                self._needed = 0
                break
            if width:
                self._head = HEADERS[width]
                self._sim_bytes = data[position + 8 : position + 8 + width]
                break
            position = self._skip(data, position, found, "no packet head")
        return position

    def _holds_packet(self, data: bytes, position: int, stop: int) -> bool:
        """Whether one of our packets begins between `position` and `stop`."""
        while (position := data.find(MAGIC, position, stop)) >= 0:
            if data.startswith(self._sim_bytes, position + 8):
                return True
            position += 1
        return False

    def _skip(self, data: bytes, position: int, found: list[AccessUnit | FrameRejected], error: str) -> int:
        """Leave what is at `position`; returns where a packet may begin next."""
        if not self._garbage_bytes:
            found.append(FrameRejected(error, data[position : position + 256]))
            for pending in self._pending_units.values():
                if pending.parts:
                    self._drop_unit(pending)
        following = data.find(MAGIC, position + 1)
        if following < 0:
            following = max(position + 1, len(data) - 3)  # the magic itself may be incomplete
            self._garbage_bytes += following - position
        else:
            self._garbage_bytes += max(following - position, CANDIDATE_BYTES)
        limit = MAX_GARBAGE_BYTES if self._sim_bytes else MAX_UNIDENTIFIED_BYTES
        if self._garbage_bytes > limit:
            raise CodecError(f"{self._garbage_bytes} bytes without a media packet")
        return following

    def _drop_unit(self, pending: PendingUnit) -> None:
        self._open_bytes -= pending.size
        pending.parts.clear()
        pending.size = 0
        pending.is_damaged = False

    def _close(self, pending: PendingUnit, found: list[AccessUnit | FrameRejected]) -> None:
        if pending.is_damaged:
            self._drop_unit(pending)
            return
        if not pending.has_gap:
            pending.note_complete()
        payload = b"".join(pending.parts)
        self._drop_unit(pending)
        self._emit(pending, payload, found)

    def _emit(self, pending: PendingUnit, payload: bytes, found: list[AccessUnit | FrameRejected]) -> None:
        pending.is_damaged = False
        if not payload:
            return
        if pending.is_audio:
            coding = AUDIO_CODINGS.get(pending.payload_type)
            pieces = [payload] if coding is AudioCoding.AAC else split_hisilicon(payload)
            for piece in pieces:  # a comprehension costs more for one piece, as most packets have
                unit = AccessUnit(pending.channel, coding, False, pending.timestamp, piece)
                found.append(unit)
            return
        if pending.data_type == 0 or pending.coding is None:
            if pending.coding is None:
                pending.coding = VIDEO_CODECS.get(pending.payload_type)
            pending.coding = recognize_codec(payload) or pending.coding
        found.append(
            AccessUnit(
                pending.channel,
                pending.coding,
                pending.data_type == 0,
                pending.timestamp,
                payload,
                pending.interval,
            )
        )
