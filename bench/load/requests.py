"""HTTP requests in an open loop, each sent when it is due, however long others take; or in a closed loop.

`python -m motorpool.bench.load.requests` reads a RequestLoad from standard input and writes Marks and a
RequestResult. It implements only the HTTP it needs, so that the client does not limit the measurement.
"""

import gc
import sys
import time
from array import array
from collections import deque

import msgspec
import trio

from motorpool.bench.latencies import Latencies
from motorpool.bench.load.http_answers import read_answer
from motorpool.bench.load.output import raise_file_limit, write_message
from motorpool.bench.load.plan import Mark, RequestLoad, RequestResult
from motorpool.bench.load.request_loop import ANSWER_SECONDS, MAX_REASONS, RequestLoop


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
            for _ in range(load.connections):
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
        return RequestResult(
            seconds=load.seconds,
            answers=len(self.waits),
            failures=expected - len(self.waits),
            body_bytes=self.body_bytes,
            latencies=Latencies.of(self.waits),
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
        while (answer := read_answer(received)) is None:
            received += await self._receive(stream)
        if due < self.counted_from:
            return not answer.is_last
        if answer.status != 200:
            self._fail(message, answer.status_line)
        else:
            self.body_bytes = answer.body_bytes
            self.waits.append(trio.current_time() - due)
        self._count()
        return not answer.is_last

    async def _receive(self, stream: trio.SocketStream) -> bytes:
        content = await stream.receive_some(256 * 1024)
        if not content:
            raise trio.BrokenResourceError("the server closed the connection")
        return bytes(content)


def run_loop(load: RequestLoad) -> RequestResult:
    """Ask in a closed loop.

    Raises:
        OSError: the server refuses a connection.
    """
    # A collection would count as the server's latency.
    gc.disable()
    loop = RequestLoop(
        load.host, load.port, [message.encode() for message in load.messages], load.connections
    )
    loop.run(load.warm_seconds)
    loop.waits, loop.failures = array("d"), 0
    write_message(Mark("begin"))
    begun, cpu = time.perf_counter(), time.process_time()
    loop.run(load.seconds)
    seconds, cpu = time.perf_counter() - begun, time.process_time() - cpu
    write_message(Mark("end"))
    answers, latencies = len(loop.waits), Latencies.of(loop.waits)
    loop.settle()
    loop.close()
    return RequestResult(
        seconds=seconds,
        answers=answers,
        failures=loop.failures,
        body_bytes=loop.body_bytes,
        latencies=latencies,
        cpu_share=cpu / seconds,
        reasons=tuple(loop.reasons),
    )


def main() -> None:
    """Read the load, run it, write the result."""
    load = msgspec.json.decode(sys.stdin.readline(), type=RequestLoad)
    raise_file_limit()
    write_message(trio.run(Requests(load).run) if load.rate else run_loop(load))


if __name__ == "__main__":
    main()
