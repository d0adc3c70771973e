"""Joins the packets of subpackaged JT/T 808 messages and asks for missing ones (docs/protocols/jt808.md)."""

from collections.abc import Callable
from struct import pack

from motorpool.codecs.devices.jt808.frames import Frame, Identity, seal
from motorpool.codecs.errors import FrameError

MAX_MESSAGES = 4
"""Half messages at a time; the oldest makes room."""
MAX_PACKETS = 4096
"""Of one message: beyond what a photo of 1 MiB needs in packets of 280 bytes."""
MAX_BYTES = 1 << 20
"""Of all half messages together."""
ASK_SECONDS = 5.0
"""Of silence before missing packets are asked for, and between two questions."""
DROP_SECONDS = 60.0
"""Without a new packet after which a half message is given up."""
MAX_ASKED = 255
"""Packets in one 0x8003: the 2013 form counts with a byte."""

RESEND = 0x8003


class _Half:
    """A message of which some packets are here."""

    __slots__ = (
        "asked",
        "asked_at",
        "first_serial",
        "identity",
        "message_id",
        "packets",
        "quiet_since",
        "total",
    )

    def __init__(self, identity: Identity, frame: Frame, first_serial: int) -> None:
        self.identity = identity
        self.message_id = frame.message_id
        self.first_serial = first_serial
        self.total = frame.total
        self.packets: dict[int, bytes] = {}
        self.quiet_since: float | None = None
        """The first tick after the last packet."""
        self.asked_at = float("-inf")
        self.asked = False

    @property
    def size(self) -> int:
        return sum(map(len, self.packets.values()))

    def missing(self) -> list[int]:
        return [index for index in range(1, self.total + 1) if index not in self.packets]


class Assembly:
    """All half messages of one connection; bounded in number, packets, bytes and time."""

    __slots__ = ("_halves", "_held", "_whole")

    def __init__(self) -> None:
        self._halves: list[_Half] = []
        self._held = 0
        self._whole: dict[tuple[Identity, int, int, int], float | None] = {}
        """Messages just completed, and the first tick after: packets of theirs that come again are no new
        message, and the answer to the message is theirs too."""

    @property
    def buffered(self) -> int:
        """Bytes held, at most `MAX_BYTES`."""
        return self._held

    def is_repeated(self, identity: Identity, frame: Frame) -> bool:
        """Whether this packet belongs to a message that is whole already: its answer is on the way."""
        return frame.total > 1 and _key(identity, frame) in self._whole

    def add(self, identity: Identity, frame: Frame) -> bytes | None:
        """The whole body once its last missing packet is there.

        Raises:
            FrameError: a message of more than `MAX_PACKETS`.
        """
        if frame.total == 1:
            return frame.body
        if frame.total > MAX_PACKETS:
            raise FrameError(f"a message of {frame.total} packets")
        half = self._find(identity, frame)
        body = frame.body
        self._held += len(body) - len(half.packets.get(frame.index, b""))
        half.packets[frame.index] = body
        half.quiet_since = None
        if len(half.packets) == half.total:
            self._drop(half)
            while len(self._whole) >= MAX_MESSAGES:
                del self._whole[next(iter(self._whole))]
            self._whole[_key(identity, frame, half.first_serial)] = None
            return b"".join(half.packets[index] for index in range(1, half.total + 1))
        while self._held > MAX_BYTES:
            self._drop(self._halves[0])
        return None

    def questions(self, now: float, next_serial: Callable[[], int]) -> list[bytes]:
        """What to ask for missing packets (0x8003) at this monotonic time; half messages too old go."""
        questions: list[bytes] = []
        for key, since in tuple(self._whole.items()):
            if since is None:
                self._whole[key] = now
            elif now - since >= DROP_SECONDS:
                del self._whole[key]
        for half in tuple(self._halves):
            if half.quiet_since is None:
                half.quiet_since = now
            if now - half.quiet_since >= DROP_SECONDS:
                self._drop(half)
            elif now - half.quiet_since >= ASK_SECONDS and now - half.asked_at >= ASK_SECONDS:
                half.asked = True
                half.asked_at = now
                questions.append(seal(half.identity, RESEND, next_serial(), _question(half)))
        return questions

    def _find(self, identity: Identity, frame: Frame) -> _Half:
        first_serial = frame.serial - frame.index + 1 & 0xFFFF
        candidates = [
            half
            for half in self._halves
            if half.message_id == frame.message_id and half.total == frame.total and half.identity == identity
        ]
        for half in candidates:
            if half.first_serial == first_serial:
                return half
        for half in candidates:
            # Some terminals number what they send again anew. Packet 1 may as well open the next message.
            if half.asked and frame.index > 1 and frame.index not in half.packets:
                return half
        while len(self._halves) >= MAX_MESSAGES:
            self._drop(self._halves[0])
        half = _Half(identity, frame, first_serial)
        self._halves.append(half)
        return half

    def _drop(self, half: _Half) -> None:
        self._halves.remove(half)
        self._held -= half.size


def _key(identity: Identity, frame: Frame, first_serial: int | None = None) -> tuple[Identity, int, int, int]:
    first = frame.serial - frame.index + 1 & 0xFFFF if first_serial is None else first_serial
    return identity, frame.message_id, frame.total, first


def _question(half: _Half) -> bytes:
    missing = half.missing()[:MAX_ASKED]
    form = ">HH" if half.identity.modern else ">HB"
    return pack(form, half.first_serial, len(missing)) + b"".join(pack(">H", index) for index in missing)
