"""Many terminals that stream on demand, in one process: precise pacing over plain sockets.

`python -m motorpool.bench.load.cameras` reads a CameraLoad from standard input, then "pace" as a request
for the results since the last one, and any other line as the request to stop; it writes a Mark, Streaming and
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

from motorpool.bench.load.output import raise_file_limit, write_message
from motorpool.bench.load.plan import CameraLoad, CameraResult, Mark, Streaming
from motorpool.bench.vehicles.media_loop import LOOP_MS, LOOP_SECONDS, LoopUnit, read_loop
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


class CameraStream:
    """One media connection, and its place in the loop."""

    def __init__(self, phone: str, order: LiveVideoRequest, units: list[LoopUnit]) -> None:
        self.connection = socket.create_connection((order.host, order.tcp_port), PATIENCE_SECONDS)
        self.connection.setblocking(False)
        self.backlog = bytearray()
        self.frames = 0
        self._channel = order.channel
        self._sender = Jt1078Sender(phone)
        self._units = units
        self._begun = time.perf_counter()
        self._begun_ms = round(time.time() * 1000)
        self._place = 0
        self._turn = 0

    def due(self) -> float:
        """When the next unit goes out (`time.perf_counter`)."""
        return self._begun + self._turn * LOOP_SECONDS + self._units[self._place].milliseconds / 1000

    def next_unit(self) -> bytes:
        """Encode the next unit's packets."""
        loop_unit = self._units[self._place]
        unit = loop_unit.access_unit(self._channel, self._begun_ms + self._turn * LOOP_MS, self.frames)
        self.frames += loop_unit.is_video
        self._place += 1
        if self._place == len(self._units):
            self._place, self._turn = 0, self._turn + 1
        return self._sender.encode(unit)


class Cameras:
    """All terminals of a load."""

    def __init__(self, load: CameraLoad) -> None:
        self._load = load
        self._units = read_loop(Path(load.loop_file))
        self._poll = select.epoll()
        self._terminals: dict[int, tuple[socket.socket, Terminal, str]] = {}
        self._streams: dict[int, CameraStream] = {}
        self._stream_of: dict[tuple[str, int], int] = {}
        self._queue: list[tuple[float, int]] = []
        self._ended_frames = 0
        self._reported_frames = 0
        self._late_seconds = 0.0
        self._stalled = 0
        self._reported_at = self._reported_cpu = 0.0

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

    def stream(self) -> CameraResult:
        """Serve the terminals until the parent requests the stop; return the last result."""
        self._poll.register(sys.stdin.fileno(), select.EPOLLIN)
        self._reported_at, self._reported_cpu = time.perf_counter(), time.process_time()
        while True:
            wait = self._queue[0][0] - time.perf_counter() if self._queue else LONGEST_WAIT_SECONDS
            for descriptor, event in self._poll.poll(min(LONGEST_WAIT_SECONDS, max(0.0, wait))):
                if descriptor == sys.stdin.fileno():
                    # Not through Python's buffer, in which a second line would stay unread.
                    for word in os.read(descriptor, 4096).split() or [b"stop"]:
                        if word != b"pace":
                            return self._result()
                        write_message(self._result())
                    continue
                if descriptor in self._terminals:
                    self._handle_messages(*self._terminals[descriptor])
                elif descriptor in self._streams:
                    self._serve(descriptor, event)
            now = time.perf_counter()
            while self._queue and self._queue[0][0] <= now:
                due, descriptor = heapq.heappop(self._queue)
                stream = self._streams.get(descriptor)
                if stream is not None:
                    self._late_seconds = max(self._late_seconds, now - due)
                    if self._send(descriptor, stream, stream.next_unit()):
                        heapq.heappush(self._queue, (stream.due(), descriptor))

    def _result(self) -> CameraResult:
        """Return the result since the last one."""
        now, cpu = time.perf_counter(), time.process_time()
        frames = self._ended_frames + sum(stream.frames for stream in self._streams.values())
        result = CameraResult(
            frames=frames - self._reported_frames,
            late_ms=self._late_seconds * 1000,
            stalled=self._stalled,
            cpu_share=(cpu - self._reported_cpu) / (now - self._reported_at),
        )
        self._reported_at, self._reported_cpu, self._reported_frames = now, cpu, frames
        self._late_seconds, self._stalled = 0.0, 0
        return result

    def _handle_messages(self, connection: socket.socket, terminal: Terminal, phone: str) -> None:
        for message in terminal.receive(_read(connection)):
            if not isinstance(message, GeneralResponse):
                connection.sendall(terminal.general_response(message))
            self._handle_command(message, phone)

    def _handle_command(self, message: PlatformMessage, phone: str) -> None:
        match message:
            case LiveVideoRequest():
                if (phone, message.channel) in self._stream_of:
                    self._end(self._stream_of[phone, message.channel])
                stream = CameraStream(phone, message, self._units)
                descriptor = stream.connection.fileno()
                self._streams[descriptor] = stream
                self._stream_of[phone, message.channel] = descriptor
                self._poll.register(descriptor, select.EPOLLIN)
                heapq.heappush(self._queue, (stream.due(), descriptor))
                write_message(Streaming(len(self._streams)))
            case LiveVideoControl(control=0, channel=channel):
                if (phone, channel) in self._stream_of:
                    self._end(self._stream_of[phone, channel])
            case _:
                pass

    def _serve(self, descriptor: int, event: int) -> None:
        stream = self._streams[descriptor]
        try:
            if event & select.EPOLLIN and not stream.connection.recv(4096):
                self._end(descriptor)
            elif event & select.EPOLLOUT:
                del stream.backlog[: stream.connection.send(stream.backlog)]
                if not stream.backlog:
                    self._poll.modify(descriptor, select.EPOLLIN)
        except BlockingIOError:
            pass
        except OSError:
            self._end(descriptor)

    def _send(self, descriptor: int, stream: CameraStream, content: bytes) -> bool:
        """Send, or buffer what the socket does not accept; return whether the stream continues."""
        try:
            if stream.backlog:
                stream.backlog += content
            else:
                taken = stream.connection.send(content)
                if taken < len(content):
                    self._stalled += 1
                    stream.backlog += content[taken:]
                    self._poll.modify(descriptor, select.EPOLLIN | select.EPOLLOUT)
        except BlockingIOError:
            self._stalled += 1
            stream.backlog += content
            self._poll.modify(descriptor, select.EPOLLIN | select.EPOLLOUT)
        except OSError:
            self._end(descriptor)
            return False
        if len(stream.backlog) > MOST_BACKLOG_BYTES:
            self._end(descriptor)
            return False
        return True

    def _end(self, descriptor: int) -> None:
        stream = self._streams.pop(descriptor)
        self._ended_frames += stream.frames
        self._stream_of = {key: value for key, value in self._stream_of.items() if value != descriptor}
        self._poll.unregister(descriptor)
        stream.connection.close()
        # The number may come back with the next connection: its units must not be sent at this one's times.
        self._queue = [entry for entry in self._queue if entry[1] != descriptor]
        heapq.heapify(self._queue)
        write_message(Streaming(len(self._streams)))


def _read(connection: socket.socket) -> bytes:
    content = connection.recv(65536)
    if not content:
        raise ConnectionError("the server closed a terminal")
    return content


def main() -> None:
    """Read the load, log in, stream until the request to stop."""
    load = msgspec.json.decode(sys.stdin.readline(), type=CameraLoad)
    raise_file_limit()
    cameras = Cameras(load)
    cameras.connect()
    write_message(Mark("ready"))
    # There are no reference cycles here, and a collection would disturb the pacing.
    gc.collect()
    gc.disable()
    write_message(cameras.stream())


if __name__ == "__main__":
    main()
