"""Trackers that send the reports of a day in their order, as fast as the server acknowledges them."""

from collections.abc import Iterator, Sequence
from itertools import groupby

import h11
import trio

from motorpool.bench.load.day_messages import jt808_location, osmand_query
from motorpool.bench.roads.report import Report
from motorpool.bench.vehicles.jt808.platform_messages import (
    GeneralResponse,
    PlatformMessage,
    RegistrationResponse,
)
from motorpool.bench.vehicles.jt808.terminal import Terminal
from motorpool.codecs.devices.jt808.terminal_messages import AUTHENTICATE, BATCH, LOCATION
from motorpool.codecs.errors import CodecError

ANSWER_SECONDS = 60.0
"""For each answer."""
WINDOW = 32
"""JT/T 808 messages that are sent ahead of their acknowledgements."""
BATCH_SIZE = 15
"""Locations in a message of what was kept for want of a network."""
CLOSED = "the server closed the connection"


class ReportsRefused(Exception):
    """The server does not take the reports; the text says why."""


async def send_by_jt808(host: str, port: int, phone: str, reports: Sequence[Report]) -> None:
    """Register, authenticate and report; return when the last report is acknowledged.

    Raises:
        ReportsRefused: the server refuses, closes the connection, or does not answer in time.
    """
    try:
        with trio.fail_after(ANSWER_SECONDS):
            stream = await trio.open_tcp_stream(host, port)
        async with stream:
            line = _Jt808Line(stream, phone)
            await line.log_in()
            for message in _messages(line.terminal, reports):
                await line.send(message)
            await line.settle(0)
    except trio.BrokenResourceError as error:
        raise ReportsRefused(f"JT/T 808 at {host}:{port}: {CLOSED}") from error
    except (OSError, trio.TooSlowError, CodecError) as error:
        raise ReportsRefused(f"JT/T 808 at {host}:{port}: {str(error) or type(error).__name__}") from error


def _messages(terminal: Terminal, reports: Sequence[Report]) -> Iterator[bytes]:
    """Yield live locations one by one, and what was kept in batches."""
    for archived, group in groupby(reports, key=lambda report: report.archived):
        bodies = [jt808_location(report) for report in group]
        if archived:
            for first in range(0, len(bodies), BATCH_SIZE):
                yield terminal.batch(bodies[first : first + BATCH_SIZE])
        else:
            for body in bodies:
                yield terminal.location(body)


class _Jt808Line:
    """A terminal's connection."""

    def __init__(self, stream: trio.SocketStream, phone: str) -> None:
        self.terminal = Terminal(phone)
        self._stream = stream
        self._outstanding = 0

    async def log_in(self) -> None:
        """Register, and authenticate with the code that the server gives."""
        await self._stream.send_all(self.terminal.register())
        while True:
            for message in await self._receive():
                match message:
                    case RegistrationResponse(result=0, code=code):
                        self.terminal.code = code
                        await self._stream.send_all(self.terminal.authenticate())
                    case RegistrationResponse(result=result):
                        raise ReportsRefused(f"the registration is refused with {result}")
                    case GeneralResponse(result=0, answered_id=answered) if answered == AUTHENTICATE:
                        return
                    case GeneralResponse(result=result, answered_id=answered) if answered == AUTHENTICATE:
                        raise ReportsRefused(f"the authentication is refused with {result}")
                    case _:
                        pass

    async def send(self, message: bytes) -> None:
        """Send a message with positions, once there is room in the window."""
        await self.settle(WINDOW - 1)
        self._outstanding += 1
        with trio.fail_after(ANSWER_SECONDS):
            await self._stream.send_all(message)

    async def settle(self, most: int) -> None:
        """Wait until at most this many messages are not acknowledged."""
        while self._outstanding > most:
            for message in await self._receive():
                if isinstance(message, GeneralResponse) and message.answered_id in (LOCATION, BATCH):
                    if message.result:
                        raise ReportsRefused(f"a location is refused with {message.result}")
                    self._outstanding -= 1

    async def _receive(self) -> list[PlatformMessage]:
        with trio.fail_after(ANSWER_SECONDS):
            data = await self._stream.receive_some(65_536)
        if not data:
            raise trio.BrokenResourceError
        return self.terminal.receive(data)


async def send_by_osmand(host: str, port: int, unique_id: str, reports: Sequence[Report]) -> None:
    """Report by one request after the other, on another connection whenever the server has closed one.

    Raises:
        ReportsRefused: the server refuses a report, cannot be reached, or does not answer in time.
    """
    sent = 0
    try:
        while sent < len(reports):
            before = sent
            with trio.fail_after(ANSWER_SECONDS):
                stream = await trio.open_tcp_stream(host, port)
            async with stream:
                sent += await _request_all(stream, host, unique_id, reports[sent:])
            if sent == before:
                raise ReportsRefused(f"OsmAnd at {host}:{port}: {CLOSED} without an answer")
    except (OSError, trio.TooSlowError) as error:
        raise ReportsRefused(f"OsmAnd at {host}:{port}: {str(error) or type(error).__name__}") from error


async def _request_all(
    stream: trio.SocketStream, host: str, unique_id: str, reports: Sequence[Report]
) -> int:
    """Report until the server closes the connection; return how many reports are acknowledged."""
    connection = h11.Connection(h11.CLIENT)
    headers = [("Host", host), ("Content-Length", "0")]
    for sent, report in enumerate(reports):
        target = f"/?{osmand_query(unique_id, report)}"
        content = connection.send(h11.Request(method="POST", target=target, headers=headers))
        content = (content or b"") + (connection.send(h11.EndOfMessage()) or b"")
        try:
            with trio.fail_after(ANSWER_SECONDS):
                await stream.send_all(content)
                await _await_answer(stream, connection)
        except (h11.RemoteProtocolError, trio.BrokenResourceError):
            return sent
        if connection.our_state is not h11.DONE or connection.their_state is not h11.DONE:
            return sent + 1
        connection.start_next_cycle()
    return len(reports)


async def _await_answer(stream: trio.SocketStream, connection: h11.Connection) -> None:
    while not isinstance(event := connection.next_event(), h11.EndOfMessage):
        if event is h11.NEED_DATA:
            connection.receive_data(await stream.receive_some(65_536))
        elif isinstance(event, h11.Response) and event.status_code >= 300:
            raise ReportsRefused(f"a report is answered with {event.status_code}")
