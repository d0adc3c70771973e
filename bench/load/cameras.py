"""Many terminals that stream on demand, in one process: precise pacing over plain sockets.

`python -m motorpool.bench.load.cameras` reads a CameraLoad from standard input, then "pace" as a request
for the results since the last one, and any other line as the request to stop; it writes a Mark, Streaming and
CameraResults to standard output. With several servers the terminals report as well, and one that gets no
answer, or whose connection ends, ends its streams and goes to the next server.
"""

import gc
import heapq
import os
import select
import socket
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from motorpool.bench.load.camera_stream import CameraStream
from motorpool.bench.load.messages import LocationMessages
from motorpool.bench.load.output import raise_file_limit, write_message
from motorpool.bench.load.plan import CameraLoad, CameraResult, Mark, Streaming, TerminalSession
from motorpool.bench.vehicles.jt808.platform_messages import (
    GeneralResponse,
    LiveVideoControl,
    LiveVideoRequest,
    PlatformMessage,
)
from motorpool.bench.vehicles.jt808.terminal import Terminal
from motorpool.bench.vehicles.media_loop import read_loop
from motorpool.codecs.devices.jt808.terminal_messages import AUTHENTICATE, LOCATION

TIMEOUT_SECONDS = 30.0
MAX_WAIT_SECONDS = 0.05
MAX_BACKLOG_BYTES = 8 * 1024 * 1024
SWEEP_SECONDS = 0.1
REPORT_SECONDS = 3.0
"""Between two reports of a terminal that has several servers."""
ANSWER_SECONDS = 5.0
"""A terminal with several servers gives up a connection after this time without an answer."""
PAUSE_SECONDS = 0.5
"""Before it connects to the next one."""


class CameraTerminal:
    """One terminal."""

    def __init__(self, index: int, phone: str, server: int) -> None:
        self.index = index
        self.phone = phone
        self.server = server
        """The server that it is connected to, or connects to next."""
        self.connection: socket.socket | None = None
        self.terminal = Terminal(phone)
        self.due = 0.0
        """When it connects, or reports next (`time.perf_counter`)."""
        self.asked: float | None = None
        """When it sent what is not answered yet."""
        self.session: TerminalSession | None = None
        """Since it is logged in."""
        self.reports = 0

    def log_in_by(self, connection: socket.socket) -> None:
        """Use a new connection, on which the login is sent next."""
        self.connection = connection
        self.terminal = Terminal(self.phone)
        self.terminal.code = "bench"
        self.session = None


class Cameras:
    """All terminals of a load."""

    def __init__(self, load: CameraLoad) -> None:
        self._load = load
        self._units = read_loop(Path(load.loop_file))
        self._poll = select.epoll()
        self._cameras = [
            CameraTerminal(index, phone, index % len(load.ports)) for index, phone in enumerate(load.phones)
        ]
        self._terminals: dict[int, CameraTerminal] = {}
        """Those that have a connection."""
        self._messages = LocationMessages(datetime.now(UTC))
        self._heads = [self._messages.head(phone, modern=False) for phone in load.phones]
        self._swept = 0.0
        self._sessions: list[TerminalSession] = []
        self._streams: dict[int, CameraStream] = {}
        self._stream_of: dict[tuple[str, int], int] = {}
        self._queue: list[tuple[float, int]] = []
        self._ended_frames = 0
        self._reported_frames = 0
        self._late_seconds = 0.0
        self._stalled = 0
        self._reported_at = self._reported_cpu = 0.0

    @property
    def _is_roaming(self) -> bool:
        return len(self._load.ports) > 1

    def connect(self) -> None:
        """Connect and log in all terminals.

        Raises:
            OSError: the server refuses, or does not answer in time.
        """
        for camera in self._cameras:
            address = self._load.host, self._load.ports[camera.server]
            connection = socket.create_connection(address, TIMEOUT_SECONDS)
            camera.log_in_by(connection)
            connection.sendall(camera.terminal.authenticate())
            while not any(isinstance(m, GeneralResponse) for m in camera.terminal.receive(_read(connection))):
                pass
            connection.setblocking(False)
            self._terminals[connection.fileno()] = camera
            self._poll.register(connection.fileno(), select.EPOLLIN)
            self._begin_session(camera)

    def stream(self) -> CameraResult:
        """Serve the terminals until the parent requests the stop; return the last result."""
        self._poll.register(sys.stdin.fileno(), select.EPOLLIN)
        self._reported_at, self._reported_cpu = time.perf_counter(), time.process_time()
        while True:
            wait = self._queue[0][0] - time.perf_counter() if self._queue else MAX_WAIT_SECONDS
            for descriptor, event in self._poll.poll(min(MAX_WAIT_SECONDS, max(0.0, wait))):
                if descriptor == sys.stdin.fileno():
                    # Not through Python's buffer, in which a second line would stay unread.
                    for word in os.read(descriptor, 4096).split() or [b"stop"]:
                        if word != b"pace":
                            return self._result()
                        write_message(self._result())
                    continue
                if descriptor in self._terminals:
                    self._serve_terminal(self._terminals[descriptor], event)
                elif descriptor in self._streams:
                    self._serve(descriptor, event)
            now = time.perf_counter()
            if self._is_roaming and now - self._swept >= SWEEP_SECONDS:
                self._swept = now
                for camera in self._cameras:
                    self._sweep(camera, now)
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
            sessions=tuple(self._sessions),
        )
        self._reported_at, self._reported_cpu, self._reported_frames = now, cpu, frames
        self._late_seconds, self._stalled = 0.0, 0
        return result

    def _serve_terminal(self, camera: CameraTerminal, event: int) -> None:
        """Send the login, or read what has arrived. Raises OSError for the only server of the load."""
        connection = camera.connection
        assert connection is not None
        try:
            if event & select.EPOLLOUT:
                connection.send(camera.terminal.authenticate())
                self._poll.modify(connection.fileno(), select.EPOLLIN)
                return
            for message in camera.terminal.receive(_read(connection)):
                if not isinstance(message, GeneralResponse):
                    connection.sendall(camera.terminal.general_response(message))
                elif message.answered_id in (AUTHENTICATE, LOCATION):
                    self._answered(camera, accepted=message.result == 0)
                self._handle_command(message, camera.phone)
        except OSError:
            if not self._is_roaming:
                raise
            self._lose(camera)

    def _sweep(self, camera: CameraTerminal, now: float) -> None:
        """Connect a terminal, let it report, or give up a connection without an answer."""
        if camera.connection is None:
            if camera.due <= now:
                connection = socket.socket()
                connection.setblocking(False)
                connection.connect_ex((self._load.host, self._load.ports[camera.server]))
                camera.log_in_by(connection)
                camera.asked = now
                self._terminals[connection.fileno()] = camera
                self._poll.register(connection.fileno(), select.EPOLLOUT)
        elif camera.asked is not None:
            if now - camera.asked > ANSWER_SECONDS:
                self._lose(camera)
        elif camera.due <= now:
            camera.asked, camera.due = now, now + REPORT_SECONDS
            try:
                camera.connection.send(self._messages.frame(self._heads[camera.index], camera.reports))
            except OSError:
                self._lose(camera)
            camera.reports += 1

    def _answered(self, camera: CameraTerminal, *, accepted: bool) -> None:
        camera.asked = None
        if not accepted:
            raise ConnectionError("the server refuses a terminal")
        if camera.session is None:
            self._begin_session(camera)
        elif not camera.session.acknowledged:
            camera.session.acknowledged = time.time()

    def _begin_session(self, camera: CameraTerminal) -> None:
        camera.due = time.perf_counter()
        if self._is_roaming:
            camera.session = TerminalSession(camera.index, camera.server, time.time())
            self._sessions.append(camera.session)

    def _lose(self, camera: CameraTerminal) -> None:
        """End the connection of a terminal and its streams; it goes to the next server soon."""
        assert camera.connection is not None
        if camera.session is not None:
            camera.session.ended = time.time()
        descriptor = camera.connection.fileno()
        del self._terminals[descriptor]
        self._poll.unregister(descriptor)
        camera.connection.close()
        camera.connection, camera.session, camera.asked = None, None, None
        camera.server = (camera.server + 1) % len(self._load.ports)
        camera.due = time.perf_counter() + PAUSE_SECONDS
        for (phone, _), stream in list(self._stream_of.items()):
            if phone == camera.phone:
                self._end(stream)

    def _handle_command(self, message: PlatformMessage, phone: str) -> None:
        match message:
            case LiveVideoRequest():
                if (phone, message.channel) in self._stream_of:
                    self._end(self._stream_of[phone, message.channel])
                try:
                    stream = CameraStream(phone, message, self._units)
                except OSError:
                    # The server asks again for what is watched still.
                    return
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
        if len(stream.backlog) > MAX_BACKLOG_BYTES:
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
