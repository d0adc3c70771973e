"""Recordings of device traffic: a stream of MessagePack maps, one for each chunk of bytes and its time.

`serve --record FILE` writes one, `simulate --replay FILE` plays one back. Every map holds `c` (number of the
connection) and `t` (seconds of one clock with any origin: only differences count), and one of
`o` (it opened: the peer's host), `d` (bytes from the device), `s` (bytes the server sent), `e` (true: it
closed); all but the last hold `p` (protocol) too. A file that was gone on with holds connection numbers
again, and its clock may have begun anew.
"""

from collections.abc import Iterable

import msgpack  # type: ignore[import-untyped]  # the package ships no types
import msgspec

from motorpool.codecs.errors import CodecError

MAX_CHUNK_BYTES = 16 * 1024 * 1024
"""More than any device port reads at once; a longer string is no recording of ours."""


class Opened(msgspec.Struct, frozen=True):
    """A device connected."""

    connection: int
    protocol: str
    """The port's name: "jt808", "osmand", "jt1078-live"."""
    seconds: float
    host: str


class Received(msgspec.Struct, frozen=True):
    """Bytes from the device, as one read returned them."""

    connection: int
    protocol: str
    seconds: float
    content: bytes


class Sent(msgspec.Struct, frozen=True):
    """Bytes to the device; kept for reading, never played back."""

    connection: int
    protocol: str
    seconds: float
    content: bytes


class Closed(msgspec.Struct, frozen=True):
    """The connection ended, whoever ended it."""

    connection: int
    seconds: float


Entry = Opened | Received | Sent | Closed


def opened(connection: int, protocol: str, seconds: float, host: str) -> bytes:
    """Encode the beginning of a connection."""
    return _pack({"c": connection, "p": protocol, "t": seconds, "o": host})


def chunk(connection: int, protocol: str, seconds: float, content: bytes) -> bytes:
    """Encode bytes from the device."""
    return _pack({"c": connection, "p": protocol, "t": seconds, "d": content})


def sent(connection: int, protocol: str, seconds: float, content: bytes) -> bytes:
    """Encode bytes to the device."""
    return _pack({"c": connection, "p": protocol, "t": seconds, "s": content})


def closed(connection: int, seconds: float) -> bytes:
    """Encode the end of a connection."""
    return _pack({"c": connection, "t": seconds, "e": True})


def _pack(fields: dict[str, int | str | float | bytes]) -> bytes:
    packed: bytes = msgpack.packb(fields)
    return packed


class TrafficRecordingReader:
    """Reads a recording piece by piece; entries may be cut anywhere."""

    def __init__(self) -> None:
        self._unpacker = msgpack.Unpacker(
            max_buffer_size=2 * MAX_CHUNK_BYTES,
            max_bin_len=MAX_CHUNK_BYTES,
            max_str_len=1024,
            max_map_len=16,
            max_array_len=0,
            max_ext_len=0,
        )

    def receive(self, content: bytes) -> list[Entry]:
        """All entries that are complete with these bytes, in order.

        A recording that was cut off (the server was killed) just ends: its half entry never comes.

        Raises:
            CodecError: this is no recording.
        """
        try:
            self._unpacker.feed(content)
            return [_entry(fields) for fields in _maps(self._unpacker)]
        except (ValueError, msgpack.exceptions.UnpackException, TypeError, RecursionError) as error:
            raise CodecError(f"not a recording: {error or type(error).__name__}") from error


def _maps(unpacker: Iterable[object]) -> Iterable[dict[object, object]]:
    for value in unpacker:
        if not isinstance(value, dict):
            raise CodecError(f"a recording holds maps, here is {type(value).__name__}")
        yield value


def _entry(fields: dict[object, object]) -> Entry:
    match fields:
        case {"c": int(connection), "t": float(seconds), "e": True}:
            return Closed(connection, seconds)
        case {"c": int(connection), "p": str(protocol), "t": float(seconds), "d": bytes(content)}:
            return Received(connection, protocol, seconds, content)
        case {"c": int(connection), "p": str(protocol), "t": float(seconds), "s": bytes(content)}:
            return Sent(connection, protocol, seconds, content)
        case {"c": int(connection), "p": str(protocol), "t": float(seconds), "o": str(host)}:
            return Opened(connection, protocol, seconds, host)
        case _:
            raise CodecError("an entry of a recording needs c, t, and e or p with one of o, d and s")
