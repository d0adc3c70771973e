"""A Unix socket before that of PostgreSQL, which can be cut: bytes then wait, as on a dead network."""

from pathlib import Path

import trio

__all__ = ["Relay"]

SOCKET = ".s.PGSQL.5432"
_READ_BYTES = 65536


class Relay:
    """Passes the connections of one client of PostgreSQL on."""

    def __init__(self, folder: Path, target: Path) -> None:
        """`folder` is where the client connects, `target` the folder of PostgreSQL's socket."""
        self._path = folder / SOCKET
        self._target = target / SOCKET
        self._whole = trio.Event()
        self._whole.set()

    async def run(self, task_status: trio.TaskStatus[list[trio.SocketListener]]) -> None:
        """Accept connections until cancelled."""
        listening = trio.socket.socket(trio.socket.AF_UNIX)
        await listening.bind(str(self._path))
        listening.listen(100)
        try:
            await trio.serve_listeners(
                self._pass_on, [trio.SocketListener(listening)], task_status=task_status
            )
        finally:
            self._path.unlink(missing_ok=True)

    def cut(self) -> None:
        """Pass nothing on from now; connections stay open."""
        if self._whole.is_set():
            self._whole = trio.Event()

    def mend(self) -> None:
        """Pass on again, what waited included."""
        self._whole.set()

    async def _pass_on(self, client: trio.SocketStream) -> None:
        await self._whole.wait()
        try:
            server = await trio.open_unix_socket(str(self._target))
        except OSError:
            return
        async with server, trio.open_nursery() as nursery:
            for source, sink in ((client, server), (server, client)):
                nursery.start_soon(self._copy, source, sink, nursery.cancel_scope)

    async def _copy(self, source: trio.SocketStream, sink: trio.SocketStream, both: trio.CancelScope) -> None:
        """Copy until one side ends; then both do, though not while the relay is cut."""
        try:
            while content := await source.receive_some(_READ_BYTES):
                await self._whole.wait()
                await sink.send_all(content)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        await self._whole.wait()
        both.cancel()
