"""Hundreds of players of live streams, each with its own connection, in one process.

`python -m motorpool.bench.load.viewers` reads a ViewerLoad from standard input and writes Marks and a
ViewerResult. It implements only the HTTP that players need: the client must not limit the measurement.
"""

import gc
import gzip
import heapq
import http.client
import select
import socket
import sys
import time
from urllib.parse import urlencode

import msgspec

from motorpool.bench.load.http_answers import held_seconds
from motorpool.bench.load.output import percentile_ms, raise_file_limit, write_message
from motorpool.bench.load.plan import Mark, ViewerLoad, ViewerResult
from motorpool.bench.viewer import Viewer

TIMEOUT_SECONDS = 30.0
MAX_WAIT_SECONDS = 0.05
AGAIN_SECONDS = 1.0
"""Between two requests after one that failed."""
_READ_BYTES = 256 * 1024


class ViewerConnection:
    """A viewer and their connection, with at most one outstanding request."""

    def __init__(self, viewer: Viewer, address: tuple[str, int], head: bytes) -> None:
        """`head` follows the path in each request."""
        self.viewer = viewer
        self.asked = 0.0
        self.is_waiting = False
        self._address = address
        self._head = head
        self._received = bytearray()
        self._left: int | None = None
        """Bytes of the body not yet received; None before the head is complete."""
        self._is_good = self._is_packed = self._is_last = False
        self.held_seconds = 0.0
        """For how long the server held the last answer until there was something to read."""
        self.connection = self._connect()

    def _connect(self) -> socket.socket:
        connection = socket.create_connection(self._address, TIMEOUT_SECONDS)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.setblocking(False)
        return connection

    def reconnect(self) -> None:
        """Open a new connection, with another descriptor; an outstanding request is lost."""
        old, self.connection = self.connection, self._connect()
        old.close()
        self.is_waiting = False

    def ask(self, now: float) -> None:
        """Send the viewer's next request; raises OSError if the server has closed the connection."""
        self._received.clear()
        self._left = None
        self.asked = now
        self.is_waiting = True
        self.connection.send(b"GET " + self.viewer.request().encode() + self._head)

    def receive(self, buffer: bytearray) -> bool:
        """Receive; return whether the answer is complete.

        Raises:
            OSError, ValueError: the connection has ended, or the answer is not HTTP.
        """
        try:
            count = self.connection.recv_into(buffer)
        except BlockingIOError:
            return False
        if not count:
            raise ConnectionError("the server closed the connection")
        if self._left is None:
            self._received += memoryview(buffer)[:count]
            if not self._take_head():
                return False
        else:
            self._left -= count
            if not self.viewer.wants_segment:
                self._received += memoryview(buffer)[:count]
        return self._left is not None and self._left <= 0

    def _take_head(self) -> bool:
        end = self._received.find(b"\r\n\r\n")
        if end < 0:
            return False
        head = bytes(self._received[:end]).lower()
        self._is_good = head.split(b" ", 2)[1] == b"200"
        self._is_packed = b"content-encoding: gzip" in head
        self._is_last = b"connection: close" in head
        timing = head.partition(b"\r\nserver-timing: ")[2].split(b"\r\n", 1)[0]
        self.held_seconds = held_seconds(timing.decode())
        length = int(head.partition(b"content-length:")[2].split(b"\r\n", 1)[0])
        del self._received[: end + 4]
        self._left = length - len(self._received)
        return True

    def take_answer(self, now: float) -> bool:
        """Pass the complete answer to the viewer; return whether it was successful."""
        self.is_waiting = False
        viewer = self.viewer
        if not self._is_good:
            if viewer.wants_segment:
                viewer.skip_segment()
            viewer.due = now + AGAIN_SECONDS
        elif viewer.wants_segment:
            viewer.take_segment(now)
        else:
            text = bytes(self._received)
            viewer.take_playlist((gzip.decompress(text) if self._is_packed else text).decode(), self.asked)
        if self._is_last:
            self.reconnect()
        return self._is_good


class ViewerPool:
    """All viewers of a load."""

    def __init__(self, load: ViewerLoad, cookie: str) -> None:
        self._load = load
        lines = (
            f" HTTP/1.1\r\nHost: {load.host}:{load.port}",
            f"Cookie: {cookie}",
            "Accept-Encoding: gzip\r\n\r\n",
        )
        head = "\r\n".join(lines).encode()
        begun = time.perf_counter()
        self._begun = begun
        self._connections: dict[int, ViewerConnection] = {}
        self._poll = select.epoll()
        self._queue: list[tuple[float, int]] = []
        for place in range(load.viewers):
            device, channel = load.streams[place % len(load.streams)]
            begin = begun + place / load.viewers * load.warm_seconds / 2
            viewer = Viewer(f"/api/stream/{device}/{channel}", begin)
            self._add(ViewerConnection(viewer, (load.host, load.port), head))
        self._counted_from = begun + load.warm_seconds
        self._waits: dict[bool, list[float]] = {True: [], False: []}
        """Seconds for segments (True) and for playlists (False), without those that these were held."""
        self._held = 0
        self._failures = 0

    def watch(self) -> ViewerResult:
        """Play during the warm-up and the measured span."""
        end = self._counted_from + self._load.seconds
        buffer = bytearray(_READ_BYTES)
        counts_before, cpu = (0, 0), 0.0
        is_counting = False
        while (now := time.perf_counter()) < end:
            if not is_counting and now >= self._counted_from:
                is_counting, cpu, counts_before = True, time.process_time(), self._counts()
                write_message(Mark("begin"))
            wait = self._queue[0][0] - now if self._queue else MAX_WAIT_SECONDS
            for descriptor, _ in self._poll.poll(min(MAX_WAIT_SECONDS, max(0.0, wait))):
                self._receive(descriptor, buffer)
            now = time.perf_counter()
            while self._queue and self._queue[0][0] <= now:
                _, descriptor = heapq.heappop(self._queue)
                self._ask(descriptor, now)
        write_message(Mark("end"))
        missed, stalls = self._counts()
        segments, playlists = sorted(self._waits[True]), sorted(self._waits[False])
        return ViewerResult(
            segments=len(segments),
            playlists=len(playlists),
            held=self._held,
            failures=self._failures,
            missed=missed - counts_before[0],
            stalls=stalls - counts_before[1],
            segment_p50_ms=percentile_ms(segments, 0.5),
            segment_p99_ms=percentile_ms(segments, 0.99),
            segment_worst_ms=percentile_ms(segments, 1.0),
            playlist_p99_ms=percentile_ms(playlists, 0.99),
            cpu_share=(time.process_time() - cpu) / self._load.seconds,
        )

    def _counts(self) -> tuple[int, int]:
        viewers = [connection.viewer for connection in self._connections.values()]
        return sum(viewer.missed for viewer in viewers), sum(viewer.stalls for viewer in viewers)

    def _add(self, connection: ViewerConnection) -> None:
        descriptor = connection.connection.fileno()
        self._connections[descriptor] = connection
        self._poll.register(descriptor, select.EPOLLIN)
        heapq.heappush(self._queue, (connection.viewer.due, descriptor))

    def _ask(self, descriptor: int, now: float) -> None:
        connection = self._connections.get(descriptor)
        # The entry may belong to a connection that has been replaced meanwhile.
        if connection is None or connection.is_waiting or connection.viewer.due > now:
            return
        try:
            connection.ask(now)
        except OSError:
            self._replace(descriptor)

    def _receive(self, descriptor: int, buffer: bytearray) -> None:
        connection = self._connections[descriptor]
        try:
            if not connection.receive(buffer):
                return
        except (OSError, ValueError):
            self._replace(descriptor)
            return
        now = time.perf_counter()
        is_segment, asked = connection.viewer.wants_segment, connection.asked
        is_good = connection.take_answer(now)
        if asked >= self._counted_from:
            if is_good:
                held = connection.held_seconds
                self._held += held > 0
                self._waits[is_segment].append(max(0.0, now - asked - held))
            else:
                self._failures += 1
        if connection.connection.fileno() != descriptor:
            del self._connections[descriptor]
            self._add(connection)
        elif is_good and connection.viewer.wants_segment:
            self._ask(descriptor, now)
        else:
            heapq.heappush(self._queue, (connection.viewer.due, descriptor))

    def _replace(self, descriptor: int) -> None:
        """Reconnect a viewer; an outstanding request has failed."""
        connection = self._connections.pop(descriptor)
        self._poll.unregister(descriptor)
        self._failures += connection.is_waiting
        connection.viewer.due = time.perf_counter() + AGAIN_SECONDS
        connection.reconnect()
        self._add(connection)


def log_in(load: ViewerLoad) -> str:
    """Open a session as a browser does, and return its cookie.

    Raises:
        OSError: the login failed.
    """
    connection = http.client.HTTPConnection(load.host, load.port, timeout=TIMEOUT_SECONDS)
    form = urlencode({"email": load.email, "password": load.password})
    content_type = {"Content-Type": "application/x-www-form-urlencoded"}
    connection.request("POST", "/api/session", form, content_type)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    if answer.status != 200:
        raise PermissionError(f"the login was answered with {answer.status}")
    return (answer.headers["Set-Cookie"] or "").partition(";")[0]


def main() -> None:
    """Read the load, log in, play, write the result."""
    load = msgspec.json.decode(sys.stdin.readline(), type=ViewerLoad)
    raise_file_limit()
    viewers = ViewerPool(load, log_in(load))
    # There are no reference cycles here, and a collection would delay all answers.
    gc.collect()
    gc.disable()
    write_message(viewers.watch())


if __name__ == "__main__":
    main()
