"""Reads the recordings of device traffic that `serve --record FILE` writes.

Their format stands in actors/gateway/recorder.py; a map may also hold `s`, bytes from the server. In a file
to which a later run of the server was appended connection numbers repeat, and the clock may start again.
"""

from collections.abc import Iterable

import msgpack  # type: ignore[import-untyped]  # the package ships no types
import msgspec

from motorpool.codecs.errors import CodecError

MAX_CHUNK_BYTES = 16 * 1024 * 1024
"""Longest string in a recording: more than a device port reads at once."""


class Opened(msgspec.Struct, frozen=True):
    """A device connected."""

    connection: int
    """Number of the connection in the recording."""
    protocol: str
    """The port's name: "jt808", "osmand", "jt1078-live"."""
    seconds: float
    """Time by the recording's clock."""
    host: str
    """The peer's address."""


class Received(msgspec.Struct, frozen=True):
    """Bytes from the device, as returned by one read."""

    connection: int
    protocol: str
    seconds: float
    content: bytes


class Sent(msgspec.Struct, frozen=True):
    """Bytes to the device; for information, not played back."""

    connection: int
    protocol: str
    seconds: float
    content: bytes


class Closed(msgspec.Struct, frozen=True):
    """The connection ended, from either side."""

    connection: int
    seconds: float


Entry = Opened | Received | Sent | Closed


class TrafficRecordingReader:
    """Reads a recording from consecutive parts of its bytes."""

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
        """Return the entries that are complete with these bytes, in order.

        An incomplete entry at the end, left by a server that was killed, is ignored.

        Raises:
            CodecError: not a recording.
        """
        try:
            self._unpacker.feed(content)
            return [_entry(fields) for fields in _maps(self._unpacker)]
        except (ValueError, msgpack.exceptions.UnpackException, TypeError, RecursionError) as error:
            raise CodecError(f"not a recording: {error or type(error).__name__}") from error


def _maps(unpacker: Iterable[object]) -> Iterable[dict[object, object]]:
    for value in unpacker:
        if not isinstance(value, dict):
            raise CodecError(f"a recording consists of maps, not of {type(value).__name__}")
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
