"""What the supervisor of a machine and its servers tell each other: lines of JSON over a pair of sockets.

The end of the stream is the end of the other process, however it came.
"""

import socket
from collections.abc import AsyncIterator
from contextlib import suppress

import msgspec
import trio

MAX_BYTES = 1 << 20
"""Of one message."""
_READ_BYTES = 1 << 16


class Plan(msgspec.Struct, frozen=True, tag=True):
    """What a server is to use in place of its settings; the first message to it."""

    index: int
    """Of the server on its machine, from 0: of its media ports and in log and metrics."""
    cluster: str
    database: str
    """URL."""
    address: str
    """As the setting `[node] address`."""
    roles: tuple[str, ...]
    http: tuple[int, ...]
    """Descriptors of the sockets of HTTP."""
    devices: dict[int, int]
    """Descriptors of the sockets of devices, by port number."""
    load: int
    """Descriptor of the page of `MachineLoad`."""
    data: str
    """The data folder; this and what follows as in the settings when the supervisor was started."""
    device_host: str
    port_offset: int
    protocols: tuple[str, ...] | None


class Joined(msgspec.Struct, frozen=True, tag=True):
    """A server has its row in the database."""

    node: int
    """Its number there."""
    url: str
    """Where other servers reach it."""
    key: str
    """What they show it."""


class Ready(msgspec.Struct, frozen=True, tag=True):
    """A server serves devices and HTTP."""


class Sibling(msgspec.Struct, frozen=True):
    """A server of the machine."""

    index: int
    node: int
    """Its number in the database."""
    url: str
    key: str


class Leave(msgspec.Struct, frozen=True, tag=True):
    """A server is to end once it has sent its devices to others and answered all requests."""


class Siblings(msgspec.Struct, frozen=True, tag=True):
    """Which servers of the machine are ready, the one that is told included."""

    ready: tuple[Sibling, ...]
    wanted: int
    """How many there should be."""


class Failed(msgspec.Struct, frozen=True, tag=True):
    """A server ends; a line says why."""

    line: str


class RestartAsked(msgspec.Struct, frozen=True, tag=True):
    """An administrator wants all servers of the machine to be replaced."""


Message = Plan | Joined | Ready | Leave | Siblings | Failed | RestartAsked

_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[Message] = msgspec.json.Decoder(Message)


def receive_plan(descriptor: int) -> tuple[Plan, socket.socket]:
    """Wait for the first message to a server; return it with the socket.

    Raises:
        OSError: the supervisor is gone.
    """
    connection = socket.socket(fileno=descriptor)
    line = bytearray()
    while not line.endswith(b"\n"):
        # Byte by byte: what follows the line is for `Channel`.
        byte = connection.recv(1)
        if not byte:
            connection.close()
            raise OSError("the supervisor has ended")
        line += byte
    return msgspec.json.decode(line, type=Plan), connection


def send_line(connection: socket.socket, message: Message) -> None:
    """Send a message without an event loop. Raises OSError."""
    connection.setblocking(True)
    connection.sendall(_encoder.encode(message) + b"\n")


class Channel:
    """One end of the pair."""

    def __init__(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        self._stream = trio.SocketStream(trio.socket.from_stdlib_socket(connection))
        self._sending = trio.Lock()

    async def send(self, message: Message) -> bool:
        """Send a message; return False if the other process has ended.

        Cancelled in the middle of a message: the other process sees the end of the stream.
        """
        try:
            async with self._sending:
                try:
                    await self._stream.send_all(_encoder.encode(message) + b"\n")
                except trio.Cancelled:
                    # Else it would take the rest of this line and the next one for a message.
                    with suppress(OSError):
                        self._stream.socket.shutdown(socket.SHUT_WR)
                    raise
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            return False
        return True

    async def messages(self) -> AsyncIterator[Message]:
        """Yield what the other process sends, until it ends. Raises ValueError for what is no message."""
        buffered = bytearray()
        while True:
            try:
                data = await self._stream.receive_some(_READ_BYTES)
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                return
            if not data:
                return
            buffered += data
            *lines, rest = buffered.split(b"\n")
            for line in lines:
                try:
                    message = _decoder.decode(line)
                except msgspec.DecodeError as error:
                    raise ValueError(f"no message of the control channel: {error}: {line[:80]!r}") from None
                yield message
            buffered = rest
            if len(buffered) > MAX_BYTES:
                raise ValueError("a message of the control channel is too long")

    async def aclose(self) -> None:
        """Close this end."""
        await self._stream.aclose()
