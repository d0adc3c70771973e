"""A Unix socket in front of PostgreSQL's that can be cut: bytes then wait, as on a dead network.

All that two servers exchange with their database comes through here, in the process of the bench. So sockets
are read and written without a checkpoint of Trio for each call, at a quarter of the CPU.
"""

import socket
from contextlib import suppress
from pathlib import Path

import trio

SOCKET = ".s.PGSQL.5432"
_BACKLOG = 100
_READ_BYTES = 65536
_FULL_SECONDS = 0.02


class Relay:
    """Passes the connections of one client of PostgreSQL on."""

    def __init__(self, folder: Path, target: Path) -> None:
        """`folder` is where the client connects, `target` the folder of PostgreSQL's socket."""
        self._path = folder / SOCKET
        self._target = target / SOCKET
        self._whole = trio.Event()
        self._whole.set()

    async def run(self, task_status: trio.TaskStatus[None]) -> None:
        """Accept connections until cancelled."""
        with _new_socket() as listening:
            listening.bind(str(self._path))
            listening.listen(_BACKLOG)
            try:
                async with trio.open_nursery() as nursery:
                    task_status.started()
                    while True:
                        await trio.lowlevel.wait_readable(listening)
                        with suppress(BlockingIOError):
                            nursery.start_soon(self._pass_on, listening.accept()[0])
            finally:
                self._path.unlink(missing_ok=True)

    def cut(self) -> None:
        """Pass nothing on from now; connections stay open."""
        if self._whole.is_set():
            self._whole = trio.Event()

    def mend(self) -> None:
        """Pass on again, what waited included."""
        self._whole.set()

    async def _pass_on(self, client: socket.socket) -> None:
        with client, _new_socket() as server:
            client.setblocking(False)
            await self._whole.wait()
            try:
                await self._connect(server)
            except OSError:
                return
            async with trio.open_nursery() as nursery:
                for source, sink in ((client, server), (server, client)):
                    nursery.start_soon(self._copy, source, sink, nursery.cancel_scope)

    async def _connect(self, server: socket.socket) -> None:
        """Connect to PostgreSQL; while its backlog is full, try again. Raises OSError."""
        while True:
            try:
                server.connect(str(self._target))
            except BlockingIOError:
                await trio.sleep(_FULL_SECONDS)
            else:
                return

    async def _copy(self, source: socket.socket, sink: socket.socket, both: trio.CancelScope) -> None:
        """Copy until one side ends; then both do, though not while the relay is cut."""
        with suppress(OSError):
            while True:
                await trio.lowlevel.wait_readable(source)
                try:
                    content = source.recv(_READ_BYTES)
                except BlockingIOError:
                    continue
                if not content:
                    break
                if not self._whole.is_set():
                    await self._whole.wait()
                left = memoryview(content)
                while left:
                    try:
                        left = left[sink.send(left) :]
                    except BlockingIOError:
                        await trio.lowlevel.wait_writable(sink)
        await self._whole.wait()
        both.cancel()


def _new_socket() -> socket.socket:
    made = socket.socket(socket.AF_UNIX)
    made.setblocking(False)
    return made
