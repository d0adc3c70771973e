"""A socket in front of another program's that can be cut: bytes then wait, as on a dead network.

All that servers exchange with their database and with NATS comes through here, in the process of the bench.
So sockets are read and written without a checkpoint of Trio for each call, at a quarter of the CPU.
"""

import socket
from contextlib import suppress
from pathlib import Path

import trio

SOCKET = ".s.PGSQL.5432"
"""The name of PostgreSQL's in its folder."""

Address = Path | tuple[str, int]
"""Of a Unix socket, or host and port."""
_BACKLOG = 100
_READ_BYTES = 65536
_FULL_SECONDS = 0.02


class Relay:
    """Passes the connections of one client on."""

    def __init__(self, address: Address, target: Address) -> None:
        """`address` is where the client connects, `target` where the other program listens."""
        self._address = address
        self._target = target
        self._whole = trio.Event()
        self._whole.set()

    async def run(self, task_status: trio.TaskStatus[None]) -> None:
        """Accept connections until cancelled."""
        with _new_socket(self._address) as listening:
            listening.bind(_name(self._address))
            listening.listen(_BACKLOG)
            try:
                async with trio.open_nursery() as nursery:
                    task_status.started()
                    while True:
                        await trio.lowlevel.wait_readable(listening)
                        with suppress(BlockingIOError):
                            nursery.start_soon(self._pass_on, listening.accept()[0])
            finally:
                if isinstance(self._address, Path):
                    self._address.unlink(missing_ok=True)

    def cut(self) -> None:
        """Pass nothing on from now; connections stay open."""
        if self._whole.is_set():
            self._whole = trio.Event()

    def mend(self) -> None:
        """Pass on again, what waited included."""
        self._whole.set()

    async def _pass_on(self, client: socket.socket) -> None:
        with client, _new_socket(self._target) as server:
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
        """Connect to the program; while its backlog is full, try again. Raises OSError."""
        if not isinstance(self._target, Path):
            with suppress(BlockingIOError):
                server.connect(self._target)
            await trio.lowlevel.wait_writable(server)
            if error := server.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                raise OSError(error, "not connected")
            return
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


def _new_socket(address: Address) -> socket.socket:
    made = socket.socket(socket.AF_UNIX if isinstance(address, Path) else socket.AF_INET)
    made.setblocking(False)
    if not isinstance(address, Path):
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made


def _name(address: Address) -> str | tuple[str, int]:
    return str(address) if isinstance(address, Path) else address
