"""Churn beside a reporting fleet: terminals, OsmAnd requests, WebSockets, sessions and edits.

`python -m motorpool.bench.load.churn` reads a ChurnLoad from standard input, and writes a Mark when it begins
and a ChurnResult at the end.
"""

import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import httpx
import msgspec
import trio
from wsproto import ConnectionType, WSConnection
from wsproto.connection import ConnectionState
from wsproto.events import CloseConnection, Event, Message, Ping, RejectConnection, Request
from wsproto.utilities import ProtocolError

from motorpool.bench.load.output import raise_file_limit, write_message
from motorpool.bench.load.plan import ChurnLoad, ChurnResult, Mark
from motorpool.bench.vehicles.jt808.platform_messages import GeneralResponse
from motorpool.bench.vehicles.jt808.terminal import Terminal, encode_location
from motorpool.codecs.errors import CodecError

SOCKET_SECONDS = 20.0
"""Each WebSocket is closed and opened again after this time."""
PAUSE_SECONDS = {"terminals": 0.2, "osmand": 0.2, "edits": 0.5, "sessions": 5.0, "sockets": 0.0}
ANSWER_SECONDS = 30.0
MAX_REASONS = 5
"""Failures whose texts are kept."""
_RECEIVE_BYTES = 65_536


class Churn:
    """The connections and edits of one load, and their counts."""

    def __init__(self, load: ChurnLoad) -> None:
        self._load = load
        self._counts: Counter[str] = Counter()
        self._failures = 0
        self._reasons: list[str] = []
        self._end = 0.0

    async def run(self) -> ChurnResult:
        """Do everything once, and again until the time is over; what has begun is finished."""
        self._end = trio.current_time() + self._load.seconds
        url = f"http://{self._load.host}:{self._load.http_port}/api"
        headers = {"Authorization": f"Bearer {self._load.token}"}
        async with (
            httpx.AsyncClient(base_url=url, headers=headers, timeout=ANSWER_SECONDS) as client,
            trio.open_nursery() as nursery,
        ):
            for _ in range(self._load.sockets):
                nursery.start_soon(self._repeat, "sockets", self._read_socket)
            nursery.start_soon(self._repeat, "terminals", self._connect_terminal)
            nursery.start_soon(self._repeat, "osmand", self._report_over_http)
            nursery.start_soon(self._repeat, "edits", lambda: self._edit(client))
            nursery.start_soon(self._repeat, "sessions", lambda: self._open_session(url))
        return ChurnResult(counts=dict(self._counts), failures=self._failures, reasons=tuple(self._reasons))

    async def _repeat(self, kind: str, once: Callable[[], Awaitable[None]]) -> None:
        is_over = False
        while not is_over:
            try:
                await once()
                self._counts[kind] += 1
            except (
                OSError,
                httpx.HTTPError,
                trio.BrokenResourceError,
                trio.TooSlowError,
                CodecError,
                ProtocolError,
            ) as error:
                self._failures += 1
                if len(self._reasons) < MAX_REASONS:
                    self._reasons.append(f"{kind}: {error!r}")
                await trio.sleep(1.0)
            await trio.sleep(PAUSE_SECONDS[kind])
            is_over = trio.current_time() >= self._end

    async def _connect_terminal(self) -> None:
        """Connect, log in, report once, and disconnect once that was acknowledged."""
        phones = self._load.phones
        terminal = Terminal(phones[self._counts["terminals"] % len(phones)])
        terminal.code = "bench"
        body = encode_location(52.5, 13.4, datetime.now(UTC))
        stream = await trio.open_tcp_stream(self._load.host, self._load.jt808_port)
        async with stream:
            for frame in (terminal.authenticate(), terminal.location(body)):
                await stream.send_all(frame)
                with trio.fail_after(ANSWER_SECONDS):
                    while not any(
                        isinstance(message, GeneralResponse)
                        for message in terminal.receive(await _receive(stream))
                    ):
                        pass

    async def _report_over_http(self) -> None:
        """Send one OsmAnd request on a connection of its own."""
        number = self._counts["osmand"] % len(self._load.phones)
        url = f"http://{self._load.host}:{self._load.osmand_port}/"
        async with httpx.AsyncClient(timeout=ANSWER_SECONDS) as client:
            answer = await client.get(url, params={"id": f"churn-{number}", "lat": 52.5, "lon": 13.4})
            answer.raise_for_status()

    async def _edit(self, client: httpx.AsyncClient) -> None:
        """Create, edit and delete a device in a group."""
        number = self._counts["edits"]
        group = await _json(client, "POST", "/groups", {"name": f"Group {number}"})
        body = {"name": f"Edited {number}", "uniqueId": f"edited-{number}", "groupId": group["id"]}
        device = await _json(client, "POST", "/devices", body)
        device["attributes"] = {"speedLimit": 40}
        await _json(client, "PUT", f"/devices/{device['id']}", device)
        for path in (f"/devices/{device['id']}", f"/groups/{group['id']}"):
            (await client.delete(path)).raise_for_status()

    async def _open_session(self, url: str) -> None:
        """Log in as a browser, read the devices, log out."""
        async with httpx.AsyncClient(base_url=url, timeout=ANSWER_SECONDS) as client:
            form = {"email": self._load.email, "password": self._load.password}
            (await client.post("/session", data=form)).raise_for_status()
            (await client.get("/devices", params={"limit": 100})).raise_for_status()
            (await client.delete("/session")).raise_for_status()

    async def _read_socket(self) -> None:
        """Read a WebSocket for a while, and close it."""
        load = self._load
        stream = await trio.open_tcp_stream(load.host, load.http_port)
        async with stream:
            connection = WSConnection(ConnectionType.CLIENT)
            headers = [(b"Authorization", f"Bearer {load.token}".encode())]
            request = Request(f"{load.host}:{load.http_port}", "/api/socket", extra_headers=headers)
            await stream.send_all(connection.send(request))
            with trio.fail_after(ANSWER_SECONDS):
                while connection.state is ConnectionState.CONNECTING:
                    await self._read_events(stream, connection)
            with trio.move_on_after(min(SOCKET_SECONDS, max(0.1, self._end - trio.current_time()))):
                while True:
                    await self._read_events(stream, connection)
            await stream.send_all(connection.send(CloseConnection(1000)))

    async def _read_events(self, stream: trio.SocketStream, connection: WSConnection) -> None:
        connection.receive_data(await _receive(stream))
        for event in connection.events():
            await self._handle(event, stream, connection)

    async def _handle(self, event: Event, stream: trio.SocketStream, connection: WSConnection) -> None:
        match event:
            case Message(message_finished=True):
                self._counts["messages"] += 1
            case Ping():
                await stream.send_all(connection.send(event.response()))
            case CloseConnection() | RejectConnection():
                raise trio.BrokenResourceError(f"the server ended a WebSocket: {event!r}")


async def _json(client: httpx.AsyncClient, method: str, path: str, body: object) -> dict[str, object]:
    answer = await client.request(method, path, json=body)
    if answer.status_code >= 400:
        raise httpx.HTTPError(f"{method} {path}: {answer.status_code} {answer.text[:200]}")
    found: dict[str, object] = answer.json()
    return found


async def _receive(stream: trio.SocketStream) -> bytes:
    content = await stream.receive_some(_RECEIVE_BYTES)
    if not content:
        raise trio.BrokenResourceError("the server closed the connection")
    return bytes(content)


async def main(load: ChurnLoad) -> None:
    """Run the load and write its result."""
    write_message(Mark("begin"))
    write_message(await Churn(load).run())


if __name__ == "__main__":
    raise_file_limit()
    trio.run(main, msgspec.json.decode(sys.stdin.readline(), type=ChurnLoad))
