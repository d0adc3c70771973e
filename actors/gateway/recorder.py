"""What devices send, kept with its times, for `simulate --replay` (serve --record FILE)."""

from pathlib import Path
from typing import BinaryIO

import msgspec
import trio

from motorpool.codecs import traffic_recording
from motorpool.runtime import Actor, ChildSpec, Kind, NodeLocal, Ref

__all__ = ["RECORDER", "Recorder", "Tap", "recorder_spec"]

FLUSH_SECONDS = 1.0
HELD_BYTES = 64 * 1024 * 1024
"""What may wait for the disk; past it chunks are dropped and counted, devices never wait for a recording."""


class Chunk(msgspec.Struct, NodeLocal, frozen=True, gc=False):
    """One packed entry of the recording."""

    packed: bytes


RECORDER: Kind[None, Chunk] = Kind("recorder")


class Tap:
    """One connection's end of the recorder."""

    __slots__ = ("_connection", "_protocol", "_recorder")

    def __init__(self, recorder: Ref[Chunk], connection: int, protocol: str, peer: str) -> None:
        self._recorder = recorder
        self._connection = connection
        self._protocol = protocol
        self._tell(traffic_recording.encode_opened(connection, protocol, trio.current_time(), peer))

    def received(self, data: bytes) -> None:
        """The device sent this."""
        self._tell(
            traffic_recording.encode_received(self._connection, self._protocol, trio.current_time(), data)
        )

    def closed(self) -> None:
        """The connection has ended."""
        self._tell(traffic_recording.encode_closed(self._connection, trio.current_time()))

    def _tell(self, packed: bytes) -> None:
        self._recorder.offer(Chunk(packed))  # a recording is never worth a device's connection


class Recorder(Actor[Chunk]):
    """Appends to the file, in a thread, once a second."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._held: list[bytes] = []
        self._held_bytes = 0
        self._dropped = 0
        self._file: BinaryIO | None = None

    async def start(self) -> None:
        """Open the file."""
        self._file = await trio.to_thread.run_sync(lambda: self._path.open("ab"))

    def handle(self, message: Chunk) -> None:
        """Keep it for the next write."""
        if self._held_bytes + len(message.packed) > HELD_BYTES:
            self._dropped += 1
            return
        self._held.append(message.packed)
        self._held_bytes += len(message.packed)

    async def run(self) -> None:
        """Write what came, once a second."""
        while True:
            await trio.sleep(FLUSH_SECONDS)
            await self._write()

    async def stop(self) -> None:
        """Write the rest and close the file."""
        await self._write()
        if self._file is not None:
            try:
                await trio.to_thread.run_sync(self._file.close)
            except OSError as error:  # what the file still held back finds no room either
                self.context.log.error("the recording lost its end: %s", error)

    async def _write(self) -> None:
        if self._dropped:
            self.context.log.warning("the recording lost %d chunks: the disk is too slow", self._dropped)
            self._dropped = 0
        held, self._held, self._held_bytes = self._held, [], 0
        file = self._file
        if held and file is not None:

            def write() -> None:
                file.write(b"".join(held))
                file.flush()

            try:
                await trio.to_thread.run_sync(write)
            except OSError as error:
                self.context.log.error("the recording lost %d chunks: %s", len(held), error)


def recorder_spec(path: Path) -> ChildSpec[Chunk]:
    """The recorder's place in the tree, only with `--record`."""
    return ChildSpec(kind=RECORDER, factory=lambda: Recorder(path), resident=False, mailbox_size=10_000)
