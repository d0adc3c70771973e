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


class Requests:
    """Requests that wait for a connection, and the results of the others."""

    def __init__(self, load: RequestLoad) -> None:
        self._load = load
        self._messages = [message.encode() for message in load.messages]
        self._due: deque[tuple[float, bytes]] = deque()
        self._idle = trio.Semaphore(0)
        self.waits: list[float] = []
        self.failures = 0
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
        )

    async def _serve_connection(self) -> None:
        """Send due requests over one connection, which is reopened when it breaks."""
        while True:
            stream = await trio.open_tcp_stream(self._load.host, self._load.port)
            async with stream:
                try:
                    while True:
                        await self._idle.acquire()
                        await self._exchange(stream, *self._due.popleft())
                except (trio.BrokenResourceError, ValueError):
                    self.failures += 1
                    self._count()

    def _count(self) -> None:
        if self._expected is not None and len(self.waits) + self.failures >= self._expected:
            self._complete.set()

    async def _exchange(self, stream: trio.SocketStream, due: float, message: bytes) -> None:
        await stream.send_all(message)
        received = bytearray()
        while (head_end := received.find(b"\r\n\r\n")) < 0:
            received += await self._receive(stream)
        head = bytes(received[:head_end]).lower()
        length = int(head.partition(b"content-length:")[2].split(b"\r\n", 1)[0])
        while len(received) < head_end + 4 + length:
            received += await self._receive(stream)
        if due < self.counted_from:
            return
        if head.split(b" ", 2)[1] != b"200":
            self.failures += 1
        else:
            self.body_bytes = length
            self.waits.append(trio.current_time() - due)
        self._count()

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
