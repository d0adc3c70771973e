"""HTTP requests in an open loop: each is sent when it is due, however long others take.

`python -m motorpool.bench.load.requests` reads a RequestLoad from standard input and writes Marks and a
RequestResult. It implements only the HTTP it needs, so that the client does not limit the measurement.
"""

import sys
import time
from collections import deque

import msgspec
import trio

from motorpool.bench.load.output import percentile_ms, raise_file_limit, write_message
from motorpool.bench.load.plan import Mark, RequestLoad, RequestResult

CONNECTIONS = 64
"""Kept open. A request that is due while all of them wait for an answer is sent late and counts as late."""
ANSWER_SECONDS = 30.0
MAX_REASONS = 5
"""Failures whose reasons are reported."""


class Requests:
    """Requests that wait for a connection, and the results of the others."""

    def __init__(self, load: RequestLoad) -> None:
        self._load = load
        self._messages = [message.encode() for message in load.messages]
        self._due: deque[tuple[float, bytes]] = deque()
        self._idle = trio.Semaphore(0)
        self.waits: list[float] = []
        self.failures = 0
        self.reasons: list[str] = []
        self.body_bytes = 0
        self.counted_from = 0.0
        self._expected: int | None = None
        self._complete = trio.Event()

    async def run(self) -> RequestResult:
        """Send for the warm-up and the measured span, and wait for the last answers."""
        load = self._load
        cpu_begun = 0.0
        async with trio.open_nursery() as nursery:
            for _ in range(CONNECTIONS):
                nursery.start_soon(self._serve_connection)
            begun = trio.current_time()
            self.counted_from = begun + load.warm_seconds
            end = self.counted_from + load.seconds
            number = 0
            marked = False
            while (due := begun + number / load.rate) < end:
                await trio.sleep_until(due)
                if not marked and due >= self.counted_from:
                    marked = True
                    cpu_begun = time.process_time()
                    write_message(Mark("begin"))
                self._due.append((due, self._messages[number % len(self._messages)]))
                self._idle.release()
                number += 1
            await trio.sleep_until(end)
            write_message(Mark("end"))
            cpu_share = (time.process_time() - cpu_begun) / load.seconds
            expected = sum(begun + each / load.rate >= self.counted_from for each in range(number))
            self._expected = expected
            self._count()
            with trio.move_on_after(ANSWER_SECONDS):
                await self._complete.wait()
            nursery.cancel_scope.cancel()
        ordered = sorted(self.waits)
        return RequestResult(
            seconds=load.seconds,
            answers=len(ordered),
            failures=expected - len(ordered),
            body_bytes=self.body_bytes,
            p50_ms=percentile_ms(ordered, 0.5),
            p99_ms=percentile_ms(ordered, 0.99),
            worst_ms=percentile_ms(ordered, 1.0),
            cpu_share=cpu_share,
            reasons=tuple(self.reasons),
        )

    async def _serve_connection(self) -> None:
        """Send due requests over one connection, which is opened again when the server closes it."""
        while True:
            stream = await trio.open_tcp_stream(self._load.host, self._load.port)
            async with stream:
                try:
                    is_open = True
                    while is_open:
                        await self._idle.acquire()
                        due, message = self._due.popleft()
                        is_open = await self._exchange(stream, due, message)
                except (trio.BrokenResourceError, ValueError) as error:
                    self._fail(message, str(error))
                    self._count()

    def _fail(self, message: bytes, reason: str) -> None:
        self.failures += 1
        if len(self.reasons) < MAX_REASONS:
            self.reasons.append(f"{message.split(b' HTTP', 1)[0].decode()}: {reason}")

    def _count(self) -> None:
        if self._expected is not None and len(self.waits) + self.failures >= self._expected:
            self._complete.set()

    async def _exchange(self, stream: trio.SocketStream, due: float, message: bytes) -> bool:
        """Send a request and count its answer; return whether the server leaves the connection open."""
        await stream.send_all(message)
        received = bytearray()
        while (head_end := received.find(b"\r\n\r\n")) < 0:
            received += await self._receive(stream)
        head = bytes(received[:head_end]).lower()
        if b"\r\ntransfer-encoding: chunked" in head:
            length = await self._read_chunks(stream, received, head_end + 4)
        else:
            length = int(head.partition(b"content-length:")[2].split(b"\r\n", 1)[0])
            while len(received) < head_end + 4 + length:
                received += await self._receive(stream)
        is_open = b"\r\nconnection: close" not in head
        if due < self.counted_from:
            return is_open
        if head.split(b" ", 2)[1] != b"200":
            self._fail(message, head.split(b"\r\n", 1)[0].decode())
        else:
            self.body_bytes = length
            self.waits.append(trio.current_time() - due)
        self._count()
        return is_open

    async def _read_chunks(self, stream: trio.SocketStream, received: bytearray, start: int) -> int:
        """Read a body that comes in chunks, of which the first begins at `start`; return its length."""
        length = 0
        while True:
            while (line_end := received.find(b"\r\n", start)) < 0:
                received += await self._receive(stream)
            size = int(received[start:line_end], 16)
            start = line_end + 2 + size + 2
            while len(received) < start:
                received += await self._receive(stream)
            if size == 0:
                return length
            length += size

    async def _receive(self, stream: trio.SocketStream) -> bytes:
        content = await stream.receive_some(256 * 1024)
        if not content:
            raise trio.BrokenResourceError("the server closed the connection")
        return bytes(content)


async def main(load: RequestLoad) -> None:
    """Run the load and write its result."""
    write_message(await Requests(load).run())


if __name__ == "__main__":
    raise_file_limit()
    trio.run(main, msgspec.json.decode(sys.stdin.readline(), type=RequestLoad))
