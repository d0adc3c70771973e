"""Records the traffic of devices to a file (`serve --record FILE`), for `simulate --replay`.

The file is a stream of MessagePack maps, one for each event of a connection. Every map holds `c` (number of
the connection), `t` (seconds of a clock with any origin) and one of `o` (opened: the peer's host), `d` (bytes
from the device) and `e` (true: closed); the first two also hold `p` (the port's name: "jt1078-live").
"""

import contextlib
from pathlib import Path
from typing import BinaryIO

import msgspec
import trio

from motorpool.runtime import Actor, Kind, NodeLocal, Ref

FLUSH_SECONDS = 1.0
"""Time between two writes."""
MAX_BUFFERED_BYTES = 64 * 1024 * 1024
"""Limit of unwritten data; chunks above it are dropped, because devices never wait for the disk."""


class Chunk(msgspec.Struct, NodeLocal, frozen=True, gc=False):
    """One packed entry of the recording."""

    packed: bytes


RECORDER: Kind[None, Chunk] = Kind("recorder")


class Tap:
    """Sends what one connection receives to the recorder."""

    __slots__ = ("_connection", "_protocol", "_recorder")

    def __init__(self, recorder: Ref[Chunk], connection: int, protocol: str, peer: str) -> None:
        self._recorder = recorder
        self._connection = connection
        self._protocol = protocol
        self._offer({"c": connection, "p": protocol, "t": trio.current_time(), "o": peer})

    def received(self, data: bytes) -> None:
        """Record bytes that the device sent."""
        self._offer({"c": self._connection, "p": self._protocol, "t": trio.current_time(), "d": data})

    def closed(self) -> None:
        """Record the end of the connection."""
        self._offer({"c": self._connection, "t": trio.current_time(), "e": True})

    def _offer(self, event: dict[str, int | float | str | bytes]) -> None:
        self._recorder.offer(Chunk(msgspec.msgpack.encode(event)))  # dropped if the mailbox is full


class Recorder(Actor[Chunk]):
    """Appends chunks to the file, in a thread, once a second."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._buffer: list[bytes] = []
        self._buffered_bytes = 0
        self._dropped = 0
        self._file: BinaryIO | None = None

    async def start(self) -> None:
        """Open the file."""
        self._file = await trio.to_thread.run_sync(lambda: self._path.open("ab"))

    def handle(self, message: Chunk) -> None:
        """Buffer the chunk until the next write."""
        if self._buffered_bytes + len(message.packed) > MAX_BUFFERED_BYTES:
            self._dropped += 1
            return
        self._buffer.append(message.packed)
        self._buffered_bytes += len(message.packed)

    async def run(self) -> None:
        """Write the buffered chunks once a second."""
        try:
            while True:
                await trio.sleep(FLUSH_SECONDS)
                await self._write()
        finally:
            # `stop` has closed it, but does not run after a crash.
            if self._file is not None:
                with contextlib.suppress(OSError):
                    self._file.close()

    async def stop(self) -> None:
        """Write the buffered chunks and close the file."""
        await self._write()
        if self._file is not None:
            try:
                await trio.to_thread.run_sync(self._file.close)
            except OSError as error:  # flushing the file's own buffer failed
                self.context.log.error("cannot close the recording, its end is lost: %s", error)

    async def _write(self) -> None:
        if self._dropped:
            self.context.log.warning("the recording lost %d chunks: the disk is too slow", self._dropped)
            self._dropped = 0
        chunks, self._buffer, self._buffered_bytes = self._buffer, [], 0
        file = self._file
        if chunks and file is not None:

            def write() -> None:
                file.write(b"".join(chunks))
                file.flush()

            try:
                await trio.to_thread.run_sync(write)
            except OSError as error:
                self.context.log.error("the recording lost %d chunks: %s", len(chunks), error)
