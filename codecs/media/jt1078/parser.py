"""JT/T 1078 media packets in, access units out, over TCP or UDP
(docs/protocols/jt1078.md#joining-packets).
"""

from collections.abc import Callable
from dataclasses import dataclass

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
    VIDEO_CODINGS,
    WHOLE,
    sim_width,
    split_hisilicon,
)
from motorpool.codecs.media.jt1078.pending_unit import KNOWN_BYTES, Join
from motorpool.codecs.media.units import AccessUnit, Coding
from motorpool.codecs.media.video_codecs import sniff
from motorpool.codecs.reports import FrameRejected

MAX_UNIT_BYTES = 1 << 20
"""A picture past this is dropped: 4K key frames stay below."""
MAX_OPEN_BYTES = 4 << 20
"""Of all unfinished units of a connection together."""
MAX_JUNK_BYTES = 256 << 10
"""A peer that sends this much without one packet sends no media."""

_FURTHEST_GAP = 1000
"""A larger step in the sequence is a restart of the count, not loss."""


@dataclass(slots=True)
class Jt1078Statistics:
    """What went through one connection."""

    packets: int = 0
    units: int = 0
    lost: int = 0
    """Packets missing by sequence; only as good as the device's count."""
    stale: int = 0
    """Packets that came again or late, and were left out."""
    rejected: int = 0
    """Runs of bytes that were no packet."""
    dropped_units: int = 0
    """Units given up: unfinished, begun in the middle, too large, or with a hole."""


class Jt1078Parser:
    """One media connection (or UDP peer): any pieces of its bytes in, whole units out."""

    def __init__(self, is_known: Callable[[str], bool] | None = None) -> None:
        """`is_known` is told a SIM's digits, zeros and all; it helps to tell the two widths of SIM apart."""
        self.statistics = Jt1078Statistics()
        self._is_known = is_known
        self._head = HEADERS[6]
        self._sim_bytes = b""
        self._rest: bytes | bytearray = b""
        self._needed = 0
        self._joins: dict[int, Join] = {}
        self._sequence = -1
        self._junk = 0
        self._open_bytes = 0

    @property
    def sim(self) -> str | None:
        """All digits of the header's SIM, 12 or 20, known with the first valid packet."""
        return self._sim_bytes.hex() or None

    @property
    def buffered(self) -> int:
        """Bytes held back: a cut packet and unfinished units."""
        return len(self._rest) + self._open_bytes

    def receive(self, data: bytes) -> list[AccessUnit | FrameRejected]:
        """All units that are complete with these bytes, in the order of their last packets.

        A bad head costs its packet and the open units; the stream goes on at the next packet. A length that
        is too large is noticed by the packet it would swallow.

        Raises:
            CodecError: another SIM, or nothing but junk: the connection is to be closed.
        """
        if self._rest:
            if len(self._rest) + len(data) < self._needed:
                if isinstance(self._rest, bytes):
                    self._rest = bytearray(self._rest)  # bytes that drip in must not be copied each time
                self._rest += data
                return []
            data = bytes(self._rest) + data
        found: list[AccessUnit | FrameRejected] = []
        position = 0 if self._sim_bytes else self._identify(data, found)
        if self._sim_bytes:
            position = self._packets(data, position, found)
        self._rest = data[position:]
        return found

    def _packets(self, data: bytes, position: int, found: list[AccessUnit | FrameRejected]) -> int:
        """Take the packets from `position` on; returns where the first incomplete one begins."""
        unpack, size = self._head.unpack_from, self._head.size
        own_sim, joins, statistics = self._sim_bytes, self._joins, self.statistics
        end = len(data)
        while end - position >= size:
            magic, marked_type, sequence, sim, channel, kind, timestamp, interval_key, interval, length = (
                unpack(data, position)
            )
            data_type = kind >> 4
            cut = kind & 15
            if magic != MAGIC_NUMBER or sim != own_sim or data_type > TRANSPARENT or cut > MIDDLE:
                if magic == MAGIC_NUMBER and sim != own_sim and not self._junk:
                    raise CodecError(f"media of SIM {sim.hex()} on a connection of {own_sim.hex()}")
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
                self._needed = stop - position
                return position
            position = stop
            self._junk = 0
            statistics.packets += 1
            if data_type == TRANSPARENT:
                self._sequence = (sequence + 1) & 0xFFFF
                continue
            key = channel << 1 | (data_type == AUDIO)
            join = joins.get(key)
            if join is None:
                join = joins[key] = Join(channel, data_type == AUDIO, sequence=sequence)
            if sequence != join.sequence and sequence != self._sequence:  # noqa: PLR1714 - a tuple costs here
                if join.is_stale(sequence, kind, timestamp, data[stop - KNOWN_BYTES : stop]):
                    statistics.stale += 1
                    continue
                self._hole(join, sequence)
            join.sequence = self._sequence = (sequence + 1) & 0xFFFF

            if cut >= LAST:
                if not join.parts:
                    statistics.dropped_units += cut == LAST
                    continue
                if length:  # or empty parts would pile up below any limit
                    join.parts.append(data[body:stop])
                join.size += length
                self._open_bytes += length
                if join.size > MAX_UNIT_BYTES or self._open_bytes > MAX_OPEN_BYTES:
                    self._abandon(join)
                elif cut == LAST:
                    self._close(join, found)
                continue
            if join.parts:
                self._abandon(join)
            join.data_type = data_type
            join.timestamp = timestamp
            join.interval = interval
            if marked_type & 127 != join.payload_type:
                join.payload_type = marked_type & 127
                join.coding = Coding.OTHER
            join.holed = join.broken = False  # what was missing was missing before it
            if not 0 < data_type < AUDIO:
                join.recent.append((sequence, timestamp, data[stop - KNOWN_BYTES : stop]))
            if cut == WHOLE:
                join.trust()
                self._emit(join, data[body:stop], found)
            else:
                join.parts.append(data[body:stop])
                join.size = length
                self._open_bytes += length
        self._needed = size
        return position

    def _identify(self, data: bytes, found: list[AccessUnit | FrameRejected]) -> int:
        """Find the first packet and its SIM; returns its position."""
        position = 0
        while position < len(data):
            width = sim_width(data, position, self._is_known)
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
        if not self._junk:
            self.statistics.rejected += 1
            found.append(FrameRejected(error, data[position : position + 256]))
            for join in self._joins.values():
                if join.parts:
                    self._abandon(join)
        following = data.find(MAGIC, position + 1)
        if following < 0:
            following = max(position + 1, len(data) - 3)  # the magic itself may be cut
        self._junk += following - position
        if self._junk > MAX_JUNK_BYTES:
            raise CodecError(f"{self._junk} bytes without a media packet")
        return following

    def _hole(self, join: Join, sequence: int) -> None:
        """Note a step in the sequence: neither the unit's own count nor the connection's went on by one."""
        gap = min((sequence - expected) & 0xFFFF for expected in (join.sequence, self._sequence))
        if 0 < gap < _FURTHEST_GAP:
            self.statistics.lost += gap
        join.doubt()

    def _abandon(self, join: Join) -> None:
        self.statistics.dropped_units += 1
        self._clear(join)

    def _clear(self, join: Join) -> None:
        self._open_bytes -= join.size
        join.parts.clear()
        join.size = 0
        join.broken = False

    def _close(self, join: Join, found: list[AccessUnit | FrameRejected]) -> None:
        if join.broken:
            self._abandon(join)
            return
        if not join.holed:
            join.trust()
        payload = b"".join(join.parts)
        self._clear(join)
        self._emit(join, payload, found)

    def _emit(self, join: Join, payload: bytes, found: list[AccessUnit | FrameRejected]) -> None:
        join.broken = False
        if not payload:
            return
        if join.is_audio:
            coding = AUDIO_CODINGS.get(join.payload_type, Coding.OTHER)
            pieces = [payload] if coding is Coding.AAC else split_hisilicon(payload)
            for piece in pieces:
                self.statistics.units += 1
                found.append(AccessUnit(join.channel, coding, False, join.timestamp, piece))
            return
        if join.data_type == 0 or join.coding is Coding.OTHER:
            if join.coding is Coding.OTHER:
                join.coding = VIDEO_CODINGS.get(join.payload_type, Coding.OTHER)
            join.coding = sniff(payload) or join.coding
        self.statistics.units += 1
        found.append(
            AccessUnit(join.channel, join.coding, join.data_type == 0, join.timestamp, payload, join.interval)
        )
