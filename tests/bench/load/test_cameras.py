"""The camera program against the server's codecs: films on order, in time, without leaving a picture out."""

import socket
import time
from pathlib import Path

from motorpool.bench.load.plan import CameraLoad, CameraResult, Mark, Streaming
from motorpool.bench.load.program import run_program
from motorpool.bench.vehicles.media_loop import read_number_message
from motorpool.codecs.devices.jt808.codec import Jt808
from motorpool.codecs.media.jt1078.parser import Jt1078Parser
from motorpool.codecs.media.units import AccessUnit
from motorpool.codecs.reports import CommandResult, DeviceCommand, MediaAddress, PositionReport, Report

PHONE = "13500000001"


class Platform:
    """One terminal's platform, without any haste of its own."""

    def __init__(self) -> None:
        self.terminals = socket.create_server(("127.0.0.1", 0))
        self.media = socket.create_server(("127.0.0.1", 0))
        self.codec = Jt808()
        for listener in (self.terminals, self.media):
            listener.settimeout(60)

    def accept(self) -> socket.socket:
        """Let the terminal in."""
        connection = self.terminals.accept()[0]
        connection.settimeout(60)
        for report in self.read(connection):
            connection.sendall(self.codec.acknowledge([report.receipt]))
        return connection

    def read(self, connection: socket.socket) -> list[Report]:
        return self.codec.receive(connection.recv(65536))

    def order(self, connection: socket.socket, kind: str) -> None:
        port = self.media.getsockname()[1]
        media = MediaAddress("127.0.0.1", port, port)
        connection.sendall(self.codec.encode(DeviceCommand(kind, {"channel": 1}, media=media)).data)

    def close(self) -> None:
        self.terminals.close()
        self.media.close()


def test_a_camera_films_on_order_in_time_and_whole(film: Path) -> None:
    platform = Platform()
    asked = CameraLoad(
        host="127.0.0.1",
        ports=(platform.terminals.getsockname()[1],),
        phones=(PHONE,),
        loop_file=str(film),
    )
    with run_program("cameras", asked) as program:
        connection = platform.accept()
        assert program.wait_for(Mark, 60).name == "ready"
        # Pictures of which this process hears late have been sent in time.
        begun = time.perf_counter()
        platform.order(connection, "videoStart")
        media = platform.media.accept()[0]
        media.settimeout(60)
        assert program.wait_for(Streaming, 60).cameras == 1
        assert any(isinstance(report, CommandResult) and report.ok for report in platform.read(connection))
        codec, units = Jt1078Parser(), []
        while sum(unit.is_video for unit in units) < 40:
            units += [unit for unit in codec.receive(media.recv(65536)) if isinstance(unit, AccessUnit)]
        elapsed = time.perf_counter() - begun
        program.send_line("pace")
        result = program.wait_for(CameraResult, 60)
        platform.order(connection, "videoStop")
        assert program.wait_for(Streaming, 60).cameras == 0
        # Both words at once: the second must not be lost behind the first.
        program.send_line("pace\nstop")
        later = [program.wait_for(CameraResult, 60) for _ in range(2)]
        media.close()
        connection.close()
    platform.close()
    pictures = [unit for unit in units if unit.is_video]
    numbers = [read_number_message(unit.payload) for unit in pictures]
    assert numbers == list(range(len(numbers)))
    assert {unit.frame_interval for unit in pictures} == {40}
    assert pictures[-1].timestamp - pictures[0].timestamp == 40 * (len(pictures) - 1)
    assert elapsed > 1.2
    assert any(not unit.is_video for unit in units)
    assert result.frames >= 40
    assert result.stalled == 0
    assert 0 < result.cpu_share < 1
    assert later[1].frames == 0


def test_a_camera_that_loses_its_server_goes_to_the_next(film: Path) -> None:
    platforms = Platform(), Platform()
    asked = CameraLoad(
        host="127.0.0.1",
        ports=tuple(each.terminals.getsockname()[1] for each in platforms),
        phones=(PHONE,),
        loop_file=str(film),
    )
    with run_program("cameras", asked) as program:
        first = platforms[0].accept()
        assert program.wait_for(Mark, 60).name == "ready"
        platforms[0].order(first, "videoStart")
        media = platforms[0].media.accept()[0]
        assert program.wait_for(Streaming, 60).cameras == 1
        first.close()
        assert program.wait_for(Streaming, 60).cameras == 0
        # It reports to the next one, and streams there as well.
        second = platforms[1].accept()
        while not any(isinstance(report, PositionReport) for report in platforms[1].read(second)):
            pass
        platforms[1].order(second, "videoStart")
        again = platforms[1].media.accept()[0]
        assert program.wait_for(Streaming, 60).cameras == 1
        program.stop()
        sessions = program.wait_for(CameraResult, 60).sessions
        for connection in (media, again, second):
            connection.close()
    for each in platforms:
        each.close()
    assert [(each.terminal, each.server) for each in sessions] == [(0, 0), (0, 1)]
    assert 0 < sessions[0].began <= sessions[0].ended <= sessions[1].began
