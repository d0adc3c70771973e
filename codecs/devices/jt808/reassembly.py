"""Reassembles subpackaged JT/T 808 messages and requests missing packets
(docs/protocols/jt808.md#subpackaged-messages).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from struct import pack

from motorpool.codecs.devices.jt808.frames import Frame, Identity, encode_frame
from motorpool.codecs.errors import FrameError

MAX_MESSAGES = 4
"""Incomplete messages at a time; the oldest is dropped for a new one."""
MAX_PACKETS = 4096
"""Packets of one message; a photo of 1 MiB in packets of 280 bytes needs fewer."""
MAX_BYTES = 1 << 20
"""Bytes of all incomplete messages together."""
RESEND_AFTER_SECONDS = 5.0
"""Without a new packet before missing ones are requested, and between two requests."""
ABANDON_AFTER_SECONDS = 60.0
"""Without a new packet before an incomplete message is dropped."""
MAX_REQUESTED_PACKETS = 255
"""Packets in one 0x8003: the 2013 form counts with a byte."""

RESEND_REQUEST = 0x8003


@dataclass(slots=True, eq=False)
class _PartialMessage:
    """A message with missing packets."""

    identity: Identity
    message_id: int
    total: int
    first_serial: int
    packets: dict[int, bytes] = field(default_factory=dict)
    last_packet_at: float | None = None
    """Monotonic time of the first tick after the last packet; None before that tick."""
    requested_at: float = float("-inf")
    resend_requested: bool = False

    @property
    def size(self) -> int:
        return sum(map(len, self.packets.values()))

    def missing(self) -> list[int]:
        return [index for index in range(1, self.total + 1) if index not in self.packets]


class PacketReassembler:
    """The incomplete messages of one connection; bounded in number, packets, bytes and time."""

    __slots__ = ("_buffered", "_completed", "_partials")

    def __init__(self) -> None:
        self._partials: list[_PartialMessage] = []
        self._buffered = 0
        self._completed: dict[tuple[Identity, int, int, int], float | None] = {}
        """Messages just completed, with the first tick after: a repeated packet of theirs begins no new
        message, and is answered by the response to the message."""

    @property
    def buffered(self) -> int:
        """Bytes held, at most `MAX_BYTES`."""
        return self._buffered

    def is_repeated(self, identity: Identity, frame: Frame) -> bool:
        """Whether this packet belongs to a message that is complete, whose response is under way."""
        return frame.total > 1 and _key(identity, frame) in self._completed

    def add(self, identity: Identity, frame: Frame) -> bytes | None:
        """Return the whole body once no packet is missing, else None.

        Raises:
            FrameError: a message of more than `MAX_PACKETS`.
        """
        if frame.total == 1:
            return frame.body
        if frame.total > MAX_PACKETS:
            raise FrameError(f"a message of {frame.total} packets")
        partial = self._find(identity, frame)
        body = frame.body
        self._buffered += len(body) - len(partial.packets.get(frame.index, b""))
        partial.packets[frame.index] = body
        partial.last_packet_at = None
        if len(partial.packets) == partial.total:
            self._drop(partial)
            while len(self._completed) >= MAX_MESSAGES:
                del self._completed[next(iter(self._completed))]
            self._completed[_key(identity, frame, partial.first_serial)] = None
            return b"".join(partial.packets[index] for index in range(1, partial.total + 1))
        while self._buffered > MAX_BYTES:
            self._drop(self._partials[0])
        return None

    def resend_requests(self, now: float, next_serial: Callable[[], int]) -> list[bytes]:
        """Return the requests for missing packets (0x8003) that are due, and drop messages that are too old.

        `now` is the monotonic time in seconds.
        """
        requests: list[bytes] = []
        for key, since in tuple(self._completed.items()):
            if since is None:
                self._completed[key] = now
            elif now - since >= ABANDON_AFTER_SECONDS:
                del self._completed[key]
        for partial in tuple(self._partials):
            if partial.last_packet_at is None:
                partial.last_packet_at = now
            if now - partial.last_packet_at >= ABANDON_AFTER_SECONDS:
                self._drop(partial)
            elif (
                now - partial.last_packet_at >= RESEND_AFTER_SECONDS
                and now - partial.requested_at >= RESEND_AFTER_SECONDS
            ):
                partial.resend_requested = True
                partial.requested_at = now
                requests.append(
                    encode_frame(
                        partial.identity, RESEND_REQUEST, next_serial(), _encode_resend_request(partial)
                    )
                )
        return requests

    def _find(self, identity: Identity, frame: Frame) -> _PartialMessage:
        first_serial = frame.serial - frame.index + 1 & 0xFFFF
        candidates = [
            partial
            for partial in self._partials
            if partial.message_id == frame.message_id
            and partial.total == frame.total
            and partial.identity == identity
        ]
        for partial in candidates:
            if partial.first_serial == first_serial:
                return partial
        for partial in candidates:
            # Some terminals give repeated packets new serials. Packet 1 may as well begin the next message.
            if partial.resend_requested and frame.index > 1 and frame.index not in partial.packets:
                return partial
        while len(self._partials) >= MAX_MESSAGES:
            self._drop(self._partials[0])
        partial = _PartialMessage(identity, frame.message_id, frame.total, first_serial)
        self._partials.append(partial)
        return partial

    def _drop(self, partial: _PartialMessage) -> None:
        self._partials.remove(partial)
        self._buffered -= partial.size


def _key(identity: Identity, frame: Frame, first_serial: int | None = None) -> tuple[Identity, int, int, int]:
    first = frame.serial - frame.index + 1 & 0xFFFF if first_serial is None else first_serial
    return identity, frame.message_id, frame.total, first


def _encode_resend_request(partial: _PartialMessage) -> bytes:
    missing = partial.missing()[:MAX_REQUESTED_PACKETS]
    form = ">HH" if partial.identity.is_2019 else ">HB"
    return pack(form, partial.first_serial, len(missing)) + b"".join(pack(">H", index) for index in missing)
