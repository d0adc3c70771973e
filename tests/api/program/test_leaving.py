"""A server leaves: devices are sent away little by little, and requests are answered."""

import msgspec
import pytest
import trio

from motorpool.actors.messages.downlink import CONNECTION, Depart
from motorpool.actors.messages.live_stream import STREAM, IsLive
from motorpool.actors.messages.playback import PLAYBACK, GetPlaybackState, PlaybackRequested, PlaybackState
from motorpool.api.http.departure import Departure
from motorpool.api.program import leaving as module
from motorpool.api.program.leaving import leave
from motorpool.runtime import Actor, DynamicSpec, Restart, SupervisorSpec, open_system


class Connection(Actor):
    """Notes when it is asked to depart."""

    outlives_run = True

    def __init__(self, asked):
        self.asked = asked
        self.staying = []

    def handle(self, message):
        assert isinstance(message, Depart)
        self.asked.append(trio.current_time())
        self.staying.append(message.staying)


class Media(Actor):
    """A stream or playback, as it answers."""

    def __init__(self, answers):
        self.answers = answers

    def handle(self, message):
        assert isinstance(message, IsLive | GetPlaybackState)
        return self.answers[0] if len(self.answers) == 1 else self.answers.pop(0)


class Load:
    has_left = False

    def leave(self):
        self.has_left = True


@pytest.fixture
async def system():
    specs = (
        DynamicSpec(kind=CONNECTION, name="connections", restart=Restart.TEMPORARY),
        DynamicSpec(kind=STREAM, name="streams"),
        DynamicSpec(kind=PLAYBACK, name="playbacks"),
    )
    async with open_system(SupervisorSpec(name="system", children=specs)) as opened:
        yield opened


async def begin(system, count):
    asked = []
    for number in range(count):
        await system.start(CONNECTION, number, lambda: Connection(asked))
    return asked


@pytest.mark.parametrize(("count", "each_second"), [(35, 10), (1500, 30)])
async def test_two_in_a_hundred_connections_are_closed_a_second_but_at_least_ten(
    system, count, each_second, autojump_clock
):
    asked = await begin(system, count)
    began, load, http = trio.current_time(), Load(), Departure()
    accepting = trio.Event()
    await leave(system, accepting, (load,), http)
    assert accepting.is_set()
    assert http.begun.is_set()
    assert load.has_left
    assert len(asked) == count
    for second in range(count // each_second):
        assert sum(time - began < second + 0.5 for time in asked) == each_second * (second + 1)


async def test_requests_are_waited_for_and_those_without_an_end_are_told(system, autojump_clock):
    http = Departure()
    unanswered = 2
    http.in_progress = lambda: unanswered
    began = trio.current_time()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(leave, system, trio.Event(), (), http)
        await trio.sleep(module.ANSWER_SECONDS - 0.1)
        assert not http.closing.is_set()
        await trio.sleep(0.2)
        assert http.closing.is_set()
        await trio.sleep(10)
        unanswered = 0
    assert trio.current_time() - began < module.ANSWER_SECONDS + 11


async def test_it_ends_although_a_request_does_not(system, autojump_clock):
    http = Departure()
    http.in_progress = lambda: 1
    began = trio.current_time()
    await leave(system, trio.Event(), (), http)
    assert trio.current_time() - began == pytest.approx(module.LEAVE_SECONDS)


async def test_it_waits_for_connections_that_depart_and_not_for_those_of_media(system, autojump_clock):
    class Departing(Actor):
        outlives_run = True

        def handle(self, message):
            if message == Depart():
                self.context.after(8.0, "end")
                return True
            return self.context.leave()

    class Media(Connection):
        def handle(self, message):
            super().handle(message)
            return False

    await system.start(CONNECTION, 1, Departing)
    await system.start(CONNECTION, 2, lambda: Media([]))
    began = trio.current_time()
    await leave(system, trio.Event(), (), Departure())
    assert trio.current_time() - began == pytest.approx(8.0, abs=0.2)
    assert [each for each in (1, 2) if system.ref(CONNECTION, each).alive] == [2]


async def test_it_waits_for_no_connection_that_goes_on_for_ever(system, autojump_clock):
    class Stuck(Actor):
        outlives_run = True

        def handle(self, message):
            return True

    await system.start(CONNECTION, 1, Stuck)
    began = trio.current_time()
    await leave(system, trio.Event(), (), Departure())
    assert trio.current_time() - began == pytest.approx(1.0 + module.LAST_SECONDS, abs=0.2)


async def test_live_streams_are_waited_for_until_they_have_moved(system, autojump_clock):
    answers = [True] * 21 + [False]
    await system.start(STREAM, (7, 1), lambda: Media(answers))
    began = trio.current_time()
    await leave(system, trio.Event(), (), Departure())
    assert answers == [False]
    assert trio.current_time() - began == pytest.approx(module.ANSWER_SECONDS + 20 * module.LOOK_SECONDS)


@pytest.mark.parametrize("seconds", [10, 1000])
async def test_devices_whose_recordings_are_played_leave_last(system, autojump_clock, seconds):
    asked = []
    connection = Connection(asked)
    await system.start(CONNECTION, 1, lambda: connection)
    playing = PlaybackState(PlaybackRequested(None, None, 0), "RUNNING", None, 0.0, None)
    ended = msgspec.structs.replace(playing, status="ENDED")
    await system.start(PLAYBACK, (7, 1), lambda: Media([playing] * seconds + [ended]))
    began = trio.current_time()
    await leave(system, trio.Event(), (), Departure())
    assert connection.staying == [frozenset({7}), frozenset()]
    assert asked[1] - began == pytest.approx(min(seconds, module.PLAYBACK_SECONDS))
    assert trio.current_time() - began < module.LEAVE_SECONDS


async def test_devices_with_live_streams_leave_first(system, autojump_clock):
    asked = []

    class OfDevice(Connection):
        def __init__(self, device):
            super().__init__(asked)
            self.device = device

        def handle(self, message):
            if message.only is not None and self.device not in message.only:
                return False
            super().handle(message)
            self.context.after(1.0, "end")
            order.append(self.device)
            return True

    order = []
    for device in range(1, 26):
        await system.start(CONNECTION, device, lambda device=device: OfDevice(device))
    for device in (20, 25):
        await system.start(STREAM, (device, 1), lambda: Media([True] * 3 + [False]))
    began = trio.current_time()
    await leave(system, trio.Event(), (), Departure())
    assert order == [20, 25, *(device for device in range(1, 25) if device != 20)]
    assert asked[1] - began < 0.5
