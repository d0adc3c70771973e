"""A WebSocket to another server of the cluster, for what passes both ways (docs/servers.md#video)."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit

import msgspec
import trio
from wsproto import ConnectionType, WSConnection
from wsproto.events import (
    AcceptConnection,
    BytesMessage,
    CloseConnection,
    Event,
    Ping,
    RejectConnection,
    RejectData,
    Request,
    TextMessage,
)
from wsproto.utilities import ProtocolError

from motorpool.api.cluster.home_requests import CONNECT_SECONDS
from motorpool.api.http.node_gate import CALLER_HEADER, CLIENT_HEADER, KEY_HEADER, Sender
from motorpool.storage.cluster.homes import Home

PING_SECONDS = 10.0
"""After this time without a byte the other server is asked for one; after as much again it is given up."""
CLOSE_SECONDS = 2.0
MAX_MESSAGE_BYTES = 64 * 1024
MAX_TEXT_BYTES = 1024
"""Of a refusal."""


class HomeRefused(Exception):
    """The other server has not opened the socket."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(f"{status} {text}")
        self.status = status
        self.text = text


class HomeClosed(Exception):
    """The other server has closed the socket; `code` is None if its connection broke."""

    def __init__(self, code: int | None, reason: str) -> None:
        super().__init__(f"{code} {reason}")
        self.code = code
        self.reason = reason


class HomeSocket:
    """An open socket. One task at a time receives; any number send."""

    def __init__(self, stream: trio.SocketStream) -> None:
        self._stream = stream
        self._connection = WSConnection(ConnectionType.CLIENT)
        self._sending = trio.Lock()

    async def open(self, request: Request) -> None:
        """Send the request, and wait until it is accepted. Raises HomeRefused, or HomeClosed."""
        await self._send(request)
        status, text = 0, b""
        while True:
            for event in await self._events():
                match event:
                    case AcceptConnection():
                        return
                    case RejectConnection(status_code=status, has_body=False):
                        raise HomeRefused(status, "")
                    case RejectConnection():
                        status = event.status_code
                    case RejectData():
                        text += event.data
                        if event.body_finished or len(text) > MAX_TEXT_BYTES:
                            raise HomeRefused(status, text[:MAX_TEXT_BYTES].decode(errors="replace"))
                    case CloseConnection():
                        raise HomeClosed(event.code, event.reason or "")
                    case _:
                        pass

    async def messages(self) -> AsyncIterator[bytes]:
        """Yield what the other server sends, until it closes the socket: then HomeClosed is raised."""
        message = bytearray()
        while True:
            for event in await self._events():
                match event:
                    case BytesMessage():
                        message += event.data
                        if len(message) > MAX_MESSAGE_BYTES:
                            raise HomeClosed(None, "a message is too long")
                        if event.message_finished:
                            yield bytes(message)
                            message.clear()
                    case Ping():
                        await self._send(event.response())
                    case CloseConnection():
                        raise HomeClosed(event.code, event.reason or "")
                    case _:
                        pass

    async def send(self, data: bytes | str) -> None:
        """Send a message. Raises HomeClosed."""
        await self._send(TextMessage(data) if isinstance(data, str) else BytesMessage(data))

    async def close(self) -> None:
        """Say goodbye, if that is possible at once, and close."""
        with trio.CancelScope(shield=True), trio.move_on_after(CLOSE_SECONDS), suppress(HomeClosed):
            await self._send(CloseConnection(code=1000))
        await trio.aclose_forcefully(self._stream)

    async def _events(self) -> list[Event]:
        """Return what the next bytes mean."""
        for is_asked in (False, True):
            with trio.move_on_after(PING_SECONDS):
                try:
                    data = await self._stream.receive_some()
                    if not data:
                        raise HomeClosed(None, "it has closed the connection")
                    self._connection.receive_data(bytes(data))
                    return list(self._connection.events())
                except (trio.BrokenResourceError, trio.ClosedResourceError, ProtocolError) as error:
                    raise HomeClosed(None, str(error)) from error
            if not is_asked:
                await self._send(Ping())
        raise HomeClosed(None, "it does not answer")

    async def _send(self, event: Event) -> None:
        async with self._sending:
            try:
                await self._stream.send_all(self._connection.send(event))
            except (trio.BrokenResourceError, trio.ClosedResourceError, ProtocolError) as error:
                raise HomeClosed(None, str(error)) from error


@asynccontextmanager
async def open_home_socket(
    home: Home, path: str, sender: Sender, client: str, *, seconds: float
) -> AsyncIterator[HomeSocket]:
    """Open a socket of another server, which acts for `sender`; `client` is the address of their browser.

    Raises:
        HomeRefused: the other server refused it.
        HomeClosed: it cannot be reached, does not answer within `seconds`, or broke the connection.
    """
    address = urlsplit(home.address)
    try:
        with trio.fail_after(CONNECT_SECONDS):
            stream = await trio.open_tcp_stream(address.hostname or "", address.port or 80)
    except (OSError, trio.TooSlowError) as error:
        raise HomeClosed(None, str(error)) from error
    socket = HomeSocket(stream)
    headers = {
        KEY_HEADER: home.key,
        CALLER_HEADER: msgspec.json.encode(sender).decode(),
        # A proxy may have put any text there.
        CLIENT_HEADER: client.encode("ascii", "replace").decode(),
    }
    request = Request(
        host=address.netloc,
        target=path,
        extra_headers=[(name.encode(), value.encode()) for name, value in headers.items()],
    )
    try:
        try:
            with trio.fail_after(seconds):
                await socket.open(request)
        except trio.TooSlowError as error:
            raise HomeClosed(None, "it does not answer in time") from error
        yield socket
    finally:
        await socket.close()
