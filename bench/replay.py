"""Replays recordings of `serve --record`: every connection, with its bytes at their times."""

import logging
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import trio

from motorpool.bench.target import Target
from motorpool.bench.traffic_recording import Closed, Entry, Opened, Received, Sent, TrafficRecordingReader
from motorpool.codecs.devices import CODECS
from motorpool.codecs.errors import CodecError
from motorpool.codecs.media.jt1078 import MEDIA_PORTS

READ_BYTES = 256 * 1024
HANG_UP_SECONDS = 5.0
"""Time for the server to close its end after ours."""
WAITING_CHUNKS = 1000
"""Backlog of a connection at which the whole replay waits for the server."""

_log = logging.getLogger(__name__)


class Played(msgspec.Struct):
    """Result of a replay."""

    connections: int = 0
    failed: int = 0
    """Connections that the server refused or closed early."""
    bytes_sent: int = 0


async def replay(path: Path, target: Target, speed: float = 1.0) -> Played:
    """Play the recording at `speed` times its speed.

    Raises:
        OSError: the file cannot be read.
        CodecError: it is no recording.
    """
    played = Played()
    failure: Exception | None = None
    async with trio.open_nursery() as nursery:
        lines = _Lines(nursery, target, played)
        try:
            await _play(path, lines, speed)
        except (OSError, CodecError) as error:
            # Raised here it would be wrapped in a group.
            failure = error
        lines.end_all()
    if failure is not None:
        raise failure
    return played


async def _play(path: Path, lines: "_Lines", speed: float) -> None:
    begun, latest, behind = trio.current_time(), 0.0, 0.0
    first: float | None = None
    async for entry in _entries(path):
        if first is None:
            first = latest = entry.seconds
        if entry.seconds < latest:
            # A later run, whose clock began anew, appended to the file.
            behind += latest - entry.seconds
        latest = entry.seconds
        await trio.sleep_until(begun + (entry.seconds + behind - first) / speed)
        match entry:
            case Opened(connection, protocol):
                lines.open(connection, protocol)
            case Received(connection, _, _, content):
                await lines.send(connection, content)
            case Closed(connection):
                lines.end(connection)
            case Sent():
                pass


class _Lines:
    """Open connections, by their numbers in the recording."""

    def __init__(self, nursery: trio.Nursery, target: Target, played: Played) -> None:
        self._nursery = nursery
        self._target = target
        self._played = played
        self._open: dict[int, trio.MemorySendChannel[bytes]] = {}

    def open(self, connection: int, protocol: str) -> None:
        self.end(connection)
        port = _port(protocol)
        if port is None:
            _log.warning("connection %d: no such protocol here: %s", connection, protocol)
            return
        self._open[connection], waiting = trio.open_memory_channel[bytes](WAITING_CHUNKS)
        self._played.connections += 1
        host = self._target.host
        self._nursery.start_soon(_play_line, host, self._target.port(port), waiting, self._played)

    async def send(self, connection: int, content: bytes) -> None:
        if connection in self._open:
            try:
                await self._open[connection].send(content)
            except trio.BrokenResourceError:
                self.end(connection)

    def end(self, connection: int) -> None:
        if connection in self._open:
            self._open.pop(connection).close()

    def end_all(self) -> None:
        for connection in list(self._open):
            self.end(connection)


def _port(protocol: str) -> int | None:
    if protocol.startswith("jt1078-"):
        return MEDIA_PORTS.get(protocol.removeprefix("jt1078-"))
    return CODECS[protocol].port if protocol in CODECS else None


async def _entries(path: Path) -> AsyncIterator[Entry]:
    reader = TrafficRecordingReader()
    async with await trio.open_file(path, "rb") as file:
        while content := await file.read(READ_BYTES):
            for entry in reader.receive(content):
                yield entry


async def _play_line(host: str, port: int, chunks: trio.MemoryReceiveChannel[bytes], played: Played) -> None:
    """Send one connection's bytes, and discard the server's."""
    async with chunks:
        try:
            async with await trio.open_tcp_stream(host, port) as stream, trio.open_nursery() as nursery:
                nursery.start_soon(_read_away, stream)
                async for content in chunks:
                    await stream.send_all(content)
                    played.bytes_sent += len(content)
                # A close with unread answers would be a reset, which may cost what the server has not read.
                await stream.send_eof()
                nursery.cancel_scope.deadline = trio.current_time() + HANG_UP_SECONDS
        except* (OSError, trio.BrokenResourceError) as group:
            played.failed += 1
            _log.debug("port %d: %s", port, group.exceptions[0])


async def _read_away(stream: trio.SocketStream) -> None:
    while await stream.receive_some(65536):
        pass
