"""Mutated messages to every port of a server, in an endless variety that a seed determines.

`python -m motorpool.bench.load.fuzz` reads a FuzzLoad from standard input, and writes a Mark when it begins
and a FuzzResult at the end. It judges nothing but the answers of HTTP: the parent reads the server's log and
metrics.
"""

import random
import re
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import msgspec
import trio
import trio.lowlevel

from motorpool.bench.load.fuzz_samples import (
    HttpRequest,
    http_requests,
    media_streams,
    osmand_requests,
    terminal_messages,
    tracker_messages,
)
from motorpool.bench.load.mutations import mutated, mutated_text
from motorpool.bench.load.output import raise_file_limit, write_message
from motorpool.bench.load.plan import FuzzLoad, FuzzResult, Mark
from motorpool.codecs.devices import CODECS
from motorpool.codecs.devices.jt808.frames import Identity, encode_frame

CONNECTIONS = {"jt808": 4, "trackers": 4, "osmand": 4, "media": 4, "http": 4}
"""Connections to each kind of port at a time."""
MESSAGES_OF_A_CONNECTION = 20
ANSWER_SECONDS = 20.0
MAX_ERRORS = 10
"""Requests answered with 500 that are kept."""
ANONYMOUS_SHARE = 0.3
"""Of connections to the JT/T 808 port: without a login."""
REQUESTED_SHARE = 0.3
"""Of media connections: the video is requested before."""
TERMINAL_PAUSE_SECONDS = 0.004
"""Between two messages of a terminal or tracker, which would take all the server's time."""
RESEALED_SHARE = 0.7
"""Of trackers' messages: with a right check value after the mutation, where the protocol has one."""
RAW_SHARE = 0.2
"""Of JT/T 808 messages: mutated with their frame, not within it."""
_STATUS = re.compile(rb"HTTP/1\.1 (\d{3})")
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


class Fuzz:
    """The connections of one load, and the answers of HTTP."""

    def __init__(self, load: FuzzLoad) -> None:
        self._load = load
        self._source = random.Random(load.seed)
        self._sent: Counter[str] = Counter()
        self._statuses: Counter[int] = Counter()
        self._errors: list[str] = []
        self._silent = 0
        self._end = 0.0

    async def run(self) -> FuzzResult:
        """Send until the time is over."""
        self._end = trio.current_time() + self._load.seconds
        senders = {
            "jt808": self._fuzz_terminals,
            "trackers": self._fuzz_trackers,
            "osmand": self._fuzz_osmand,
            "media": self._fuzz_media,
            "http": self._fuzz_http,
        }
        async with trio.open_nursery() as nursery:
            for name, sender in senders.items():
                for _ in range(CONNECTIONS[name]):
                    nursery.start_soon(self._repeat, sender)
        return FuzzResult(
            sent=dict(self._sent),
            statuses=dict(self._statuses),
            server_errors=tuple(self._errors),
            server_error_count=sum(n for status, n in self._statuses.items() if status >= 500),
            silent=self._silent,
        )

    async def _repeat(self, once: Callable[[], Awaitable[None]]) -> None:
        while trio.current_time() < self._end:
            try:
                await once()
            except* (OSError, trio.BrokenResourceError):
                # The server may close the connection of such a peer at any time.
                await trio.sleep(0.01)

    async def _fuzz_terminals(self) -> None:
        source = self._source
        is_2019 = source.random() < 0.5
        identity = Identity.from_digits(self._load.phone, is_2019=is_2019)
        messages = terminal_messages(self._load.phone, is_2019=is_2019)
        stream = await trio.open_tcp_stream(self._load.host, self._load.jt808_port)
        async with stream, trio.open_nursery() as nursery:
            nursery.start_soon(_discard, stream)
            if source.random() > ANONYMOUS_SHARE:
                await stream.send_all(encode_frame(identity, *messages[0]))
            for serial in range(MESSAGES_OF_A_CONNECTION):
                message_id, _, body = source.choice(messages)
                if source.random() < RAW_SHARE:
                    frame = mutated(source, encode_frame(identity, message_id, serial, body))
                else:
                    frame = encode_frame(identity, message_id, serial, mutated(source, body)[:1023])
                await stream.send_all(frame)
                self._sent["jt808"] += 1
                await trio.sleep(TERMINAL_PAUSE_SECONDS)
            await stream.send_eof()
            await trio.sleep(0.01)
            nursery.cancel_scope.cancel()

    async def _fuzz_trackers(self) -> None:
        source = self._source
        tracker = source.choice(self._load.trackers)
        login, *messages = tracker_messages(tracker.protocol, tracker.unique_id, tracker.model)
        codec = CODECS[tracker.protocol]()
        stream = await trio.open_tcp_stream(self._load.host, tracker.port)
        async with stream, trio.open_nursery() as nursery:
            nursery.start_soon(_discard, stream)
            await stream.send_all(login)
            for _ in range(MESSAGES_OF_A_CONNECTION):
                message = mutated(source, source.choice(messages))
                if source.random() < RESEALED_SHARE:
                    message = codec.reseal(message)
                await stream.send_all(message)
                self._sent["trackers"] += 1
                await trio.sleep(TERMINAL_PAUSE_SECONDS)
            await stream.send_eof()
            await trio.sleep(0.01)
            nursery.cancel_scope.cancel()

    async def _fuzz_osmand(self) -> None:
        request = self._source.choice(osmand_requests())
        if self._source.random() < 0.5:
            content = mutated(self._source, request.encode(self._load.host))
        else:
            content = request.mutated(self._source, mutated_text).encode(self._load.host)
        self._sent["osmand"] += 1
        # Mutated lengths may promise more than there is.
        await self._exchange(self._load.osmand_port, content, 2.0, is_whole=False)

    async def _fuzz_media(self) -> None:
        source = self._source
        if source.random() < REQUESTED_SHARE:
            await self._request_video()
        content = source.choice(media_streams(self._load.phone))
        stream = await trio.open_tcp_stream(self._load.host, source.choice(self._load.media_ports))
        async with stream, trio.open_nursery() as nursery:
            nursery.start_soon(_discard, stream)
            for _ in range(MESSAGES_OF_A_CONNECTION):
                await stream.send_all(mutated(source, content))
                self._sent["media"] += 1
                await trio.lowlevel.checkpoint()
            await stream.send_eof()
            await trio.sleep(0.01)
            nursery.cancel_scope.cancel()

    async def _request_video(self) -> None:
        """Make the server expect media from the terminal, so that they reach the stream."""
        body = {"deviceId": self._load.device_id, "type": "videoStart", "attributes": {"channel": 1}}
        request = HttpRequest("POST", "/api/commands/send", msgspec.json.encode(body).decode())
        await self._exchange(self._load.http_port, self._with_token(request), ANSWER_SECONDS)

    def _with_token(self, request: HttpRequest) -> bytes:
        return request.encode(self._load.host, {"Authorization": f"Bearer {self._load.token}"})

    async def _fuzz_http(self) -> None:
        source = self._source
        request = source.choice(http_requests(self._load.device_id, datetime.now(UTC)))
        request = request.mutated(source, mutated_text)
        self._sent["http"] += 1
        status = await self._exchange(self._load.http_port, self._with_token(request), ANSWER_SECONDS)
        if status is None:
            self._silent += 1
            return
        self._statuses[status] += 1
        if status >= 500 and len(self._errors) < MAX_ERRORS:
            self._errors.append(f"{status}: {_shown(request)}")

    async def _exchange(
        self, port: int, content: bytes, seconds: float, *, is_whole: bool = True
    ) -> int | None:
        """Send a request on a connection of its own, and close its way unless it `is_whole`.

        Return the status of the answer; None for none.
        """
        stream = await trio.open_tcp_stream(self._load.host, port)
        async with stream:
            received = b""
            with trio.move_on_after(seconds):
                await stream.send_all(content)
                if not is_whole:
                    await stream.send_eof()
                while len(received) < 65_536:
                    piece = await stream.receive_some(65_536)
                    received += piece
                    if not piece or _is_whole(received):
                        break
        found = _STATUS.match(received)
        return int(found[1]) if found else None


def _is_whole(received: bytes) -> bool:
    head, separator, body = received.partition(b"\r\n\r\n")
    length = _LENGTH.search(head)
    return bool(separator) and length is not None and len(body) >= int(length[1])


def _shown(request: HttpRequest) -> str:
    return f"{request.method} {request.target} {request.body!r}"[:600]


async def _discard(stream: trio.SocketStream) -> None:
    """Read what the server answers, until it closes."""
    try:
        while await stream.receive_some(65_536):
            pass
    except trio.BrokenResourceError:
        pass


async def main(load: FuzzLoad) -> None:
    """Run the load and write its result."""
    write_message(Mark("begin"))
    write_message(await Fuzz(load).run())


if __name__ == "__main__":
    raise_file_limit()
    trio.run(main, msgspec.json.decode(sys.stdin.readline(), type=FuzzLoad))
