"""Terminals that wait for a command, against the server's codec: when each had it, and what came twice."""

import socket
from collections.abc import Iterator

import pytest

from motorpool.bench.load.plan import CommandedLoad, CommandedResult, Mark
from motorpool.bench.load.program import LoadFailed, LoadProgram, run_program
from motorpool.codecs.devices.jt808.codec import Jt808
from motorpool.codecs.reports import CommandResult, DeviceCommand, Report
from motorpool.runtime.clock import SystemClock

CLOCK = SystemClock()
PHONES = ("13700000001", "13700000002", "13700000003")
POSITION_QUERY = 0x8201


class Platform:
    """The platform of these terminals: a connection and a codec for each."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.settimeout(60)
        self.connections: list[socket.socket] = []
        self.codecs: list[Jt808] = []

    @property
    def load(self) -> CommandedLoad:
        port = self.listener.getsockname()[1]
        return CommandedLoad(host="127.0.0.1", port=port, phones=PHONES, message_id=POSITION_QUERY)

    def let_in(self) -> None:
        for _ in PHONES:
            connection = self.listener.accept()[0]
            connection.settimeout(60)
            self.connections.append(connection)
            self.codecs.append(Jt808())
            for report in self.read(-1):
                if receipt := getattr(report, "receipt", None):
                    connection.sendall(self.codecs[-1].acknowledge([receipt]))

    def read(self, place: int) -> list[Report]:
        return self.codecs[place].receive(self.connections[place].recv(65536))

    def order(self, place: int, kind: str) -> bytes:
        return self.codecs[place].encode(DeviceCommand(kind, {})).data

    def await_result(self, place: int) -> CommandResult:
        (result,) = [report for report in self.read(place) if isinstance(report, CommandResult)]
        return result

    def close(self) -> None:
        for each in (self.listener, *self.connections):
            each.close()


@pytest.fixture
def platform() -> Iterator[Platform]:
    made = Platform()
    yield made
    made.close()


def stopped(program: LoadProgram) -> CommandedResult:
    program.stop()
    return program.wait_for(CommandedResult, 60)


def test_each_terminal_tells_when_its_command_came_and_acknowledges_it(platform: Platform) -> None:
    with run_program("commanded", platform.load) as program:
        platform.let_in()
        assert program.wait_for(Mark, 60).name == "ready"
        before = CLOCK.now().timestamp()
        for place in (0, 2):
            platform.connections[place].sendall(platform.order(place, "positionSingle"))
            assert platform.await_result(place).ok
        after = CLOCK.now().timestamp()
        result = stopped(program)
    assert [arrival > 0 for arrival in result.arrivals] == [True, False, True]
    assert before <= result.arrivals[0] <= result.arrivals[2] <= after
    assert result.repeated == 0


def test_a_command_that_comes_again_is_counted_and_leaves_the_first_arrival(platform: Platform) -> None:
    with run_program("commanded", platform.load) as program:
        platform.let_in()
        platform.connections[1].sendall(platform.order(1, "positionSingle"))
        platform.await_result(1)
        between = CLOCK.now().timestamp()
        twice = platform.order(1, "positionSingle") + platform.order(1, "positionSingle")
        # Cut within the first frame: a command is there once it is whole.
        for piece in (twice[:5], twice[5:]):
            platform.connections[1].sendall(piece)
        answered = 0
        while answered < 2:
            answered += sum(isinstance(report, CommandResult) for report in platform.read(1))
        result = stopped(program)
    assert result.repeated == 2
    assert 0 < result.arrivals[1] <= between


def test_other_commands_are_answered_and_do_not_count(platform: Platform) -> None:
    with run_program("commanded", platform.load) as program:
        platform.let_in()
        platform.connections[0].sendall(platform.order(0, "positionStop"))
        assert platform.await_result(0).ok
        result = stopped(program)
    assert (result.arrivals, result.repeated) == ((0, 0, 0), 0)


def test_a_server_that_hangs_up_later_fails_the_load(platform: Platform) -> None:
    with run_program("commanded", platform.load) as program:
        platform.let_in()
        program.wait_for(Mark, 60)
        platform.connections[1].close()
        with pytest.raises(LoadFailed, match="the server closed terminal 13700000002"):
            program.next(60)
