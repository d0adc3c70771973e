"""Many terminals that film on demand, in one process: precise pacing over plain sockets.

`python -m motorpool.bench.load.cameras` reads a CameraLoad from standard input, then "pace" as the question
how it went since the last time, and any other line as the order to stop; it writes a Mark, Streaming and
CameraResults to standard output.
"""

import gc
import heapq
import os
import select
import socket
import sys
import time
from pathlib import Path

import msgspec

from motorpool.bench.load.plan import CameraLoad, CameraResult, Mark, Streaming
from motorpool.bench.load.telling import raise_file_limit, tell
from motorpool.bench.vehicles.footage import LOOP_MS, LOOP_SECONDS, Shot, read_loop
from motorpool.codecs.devices.jt808.platform_messages import (
    GeneralResponse,
    LiveVideoControl,
    LiveVideoRequest,
    PlatformMessage,
)
from motorpool.codecs.devices.jt808.terminal import Terminal
from motorpool.codecs.media.jt1078.sender import Jt1078Sender

PATIENCE_SECONDS = 30.0
LONGEST_WAIT_SECONDS = 0.05
MOST_BACKLOG_BYTES = 8 * 1024 * 1024


class Filming:
    """One media connection, and its place in the loop."""

    def __init__(self, phone: str, order: LiveVideoRequest, shots: list[Shot]) -> None:
        self.connection = socket.create_connection((order.host, order.tcp_port), PATIENCE_SECONDS)
        self.connection.setblocking(False)
        self.backlog = bytearray()
        self.frames = 0
        self._channel = order.channel
        self._sender = Jt1078Sender(phone)
        self._shots = shots
        self._begun = time.perf_counter()
        self._begun_ms = round(time.time() * 1000)
        self._place = 0
        self._turn = 0

    def due(self) -> float:
        """When the next unit goes out (`time.perf_counter`)."""
        return self._begun + self._turn * LOOP_SECONDS + self._shots[self._place].milliseconds / 1000

    def next_unit(self) -> bytes:
        """Encode the next unit's packets."""
        shot = self._shots[self._place]
        unit = shot.unit(self._channel, self._begun_ms + self._turn * LOOP_MS, self.frames)
        self.frames += shot.is_picture
        self._place += 1
        if self._place == len(self._shots):
            self._place, self._turn = 0, self._turn + 1
        return self._sender.encode(unit)


class Cameras:
    """All terminals of a load."""

    def __init__(self, load: CameraLoad) -> None:
        self._load = load
        self._shots = read_loop(Path(load.film))
        self._poll = select.epoll()
        self._terminals: dict[int, tuple[socket.socket, Terminal, str]] = {}
        self._films: dict[int, Filming] = {}
        self._film_of: dict[tuple[str, int], int] = {}
        self._queue: list[tuple[float, int]] = []
        self._ended_frames = 0
        self._told_frames = 0
        self._late_seconds = 0.0
        self._stalled = 0
        self._asked_at = self._asked_cpu = 0.0

    def connect(self) -> None:
        """Connect and log in all terminals.

        Raises:
            OSError: the server refuses, or does not answer in time.
        """
        for phone in self._load.phones:
            connection = socket.create_connection((self._load.host, self._load.port), PATIENCE_SECONDS)
            terminal = Terminal(phone)
            terminal.code = "bench"
            connection.sendall(terminal.authenticate())
            while not any(isinstance(m, GeneralResponse) for m in terminal.receive(_read(connection))):
                pass
            connection.setblocking(False)
            self._terminals[connection.fileno()] = connection, terminal, phone
            self._poll.register(connection.fileno(), select.EPOLLIN)

    def film(self) -> CameraResult:
        """Film what is ordered, until the parent says stop; how it went since he last asked."""
        self._poll.register(sys.stdin.fileno(), select.EPOLLIN)
        self._asked_at, self._asked_cpu = time.perf_counter(), time.process_time()
        while True:
            wait = self._queue[0][0] - time.perf_counter() if self._queue else LONGEST_WAIT_SECONDS
            for descriptor, event in self._poll.poll(min(LONGEST_WAIT_SECONDS, max(0.0, wait))):
                if descriptor == sys.stdin.fileno():
                    # Not through Python's buffer: a second line would wait in there unseen.
                    for word in os.read(descriptor, 4096).split() or [b"stop"]:
                        if word != b"pace":
                            return self._result()
                        tell(self._result())
                    continue
                if descriptor in self._terminals:
                    self._obey(*self._terminals[descriptor])
                elif descriptor in self._films:
                    self._serve(descriptor, event)
            now = time.perf_counter()
            while self._queue and self._queue[0][0] <= now:
                due, descriptor = heapq.heappop(self._queue)
                film = self._films.get(descriptor)
                if film is not None:
                    self._late_seconds = max(self._late_seconds, now - due)
                    if self._send(descriptor, film, film.next_unit()):
                        heapq.heappush(self._queue, (film.due(), descriptor))

    def _result(self) -> CameraResult:
        """What happened since the last of these."""
        now, cpu = time.perf_counter(), time.process_time()
        frames = self._ended_frames + sum(film.frames for film in self._films.values())
        result = CameraResult(
            frames=frames - self._told_frames,
            late_ms=self._late_seconds * 1000,
            stalled=self._stalled,
            cpu_share=(cpu - self._asked_cpu) / (now - self._asked_at),
        )
        self._asked_at, self._asked_cpu, self._told_frames = now, cpu, frames
        self._late_seconds, self._stalled = 0.0, 0
        return result

    def _obey(self, connection: socket.socket, terminal: Terminal, phone: str) -> None:
        for message in terminal.receive(_read(connection)):
            if not isinstance(message, GeneralResponse):
                connection.sendall(terminal.general_response(message))
            self._carry_out(message, phone)

    def _carry_out(self, message: PlatformMessage, phone: str) -> None:
        match message:
            case LiveVideoRequest():
                if (phone, message.channel) in self._film_of:
                    self._end(self._film_of[phone, message.channel])
                film = Filming(phone, message, self._shots)
                descriptor = film.connection.fileno()
                self._films[descriptor] = film
                self._film_of[phone, message.channel] = descriptor
                self._poll.register(descriptor, select.EPOLLIN)
                heapq.heappush(self._queue, (film.due(), descriptor))
                tell(Streaming(len(self._films)))
            case LiveVideoControl(control=0, channel=channel):
                if (phone, channel) in self._film_of:
                    self._end(self._film_of[phone, channel])
            case _:
                pass

    def _serve(self, descriptor: int, event: int) -> None:
        film = self._films[descriptor]
        try:
            if event & select.EPOLLIN and not film.connection.recv(4096):
                self._end(descriptor)
            elif event & select.EPOLLOUT:
                del film.backlog[: film.connection.send(film.backlog)]
                if not film.backlog:
                    self._poll.modify(descriptor, select.EPOLLIN)
        except BlockingIOError:
            pass
        except OSError:
            self._end(descriptor)

    def _send(self, descriptor: int, film: Filming, content: bytes) -> bool:
        """Send, or keep what the socket does not take; whether the film goes on."""
        try:
            if film.backlog:
                film.backlog += content
            else:
                taken = film.connection.send(content)
                if taken < len(content):
                    self._stalled += 1
                    film.backlog += content[taken:]
                    self._poll.modify(descriptor, select.EPOLLIN | select.EPOLLOUT)
        except BlockingIOError:
            self._stalled += 1
            film.backlog += content
            self._poll.modify(descriptor, select.EPOLLIN | select.EPOLLOUT)
        except OSError:
            self._end(descriptor)
            return False
        if len(film.backlog) > MOST_BACKLOG_BYTES:
            self._end(descriptor)
            return False
        return True

    def _end(self, descriptor: int) -> None:
        film = self._films.pop(descriptor)
        self._ended_frames += film.frames
        self._film_of = {key: value for key, value in self._film_of.items() if value != descriptor}
        self._poll.unregister(descriptor)
        film.connection.close()
        # The number may come back with the next connection: its units must not be sent at this one's times.
        self._queue = [entry for entry in self._queue if entry[1] != descriptor]
        heapq.heapify(self._queue)
        tell(Streaming(len(self._films)))


def _read(connection: socket.socket) -> bytes:
    content = connection.recv(65536)
    if not content:
        raise ConnectionError("the server closed a terminal")
    return content


def main() -> None:
    """Read the load, log in, film until told to stop."""
    load = msgspec.json.decode(sys.stdin.readline(), type=CameraLoad)
    raise_file_limit()
    cameras = Cameras(load)
    cameras.connect()
    tell(Mark("ready"))
    # Nothing here makes cycles; a collection would be a hole in the pacing.
    gc.collect()
    gc.disable()
    tell(cameras.film())


if __name__ == "__main__":
    main()
