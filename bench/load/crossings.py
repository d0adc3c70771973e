"""Paced JT/T 808 terminals that drive through geofences, and a WebSocket that is told of it.

`python -m motorpool.bench.load.crossings` reads a CrossingLoad from standard input and writes Marks and a
CrossingResult to standard output. Both ends are in one process, so one clock tells how long an event took.
"""

import gc
import sys
import time
from array import array
from collections.abc import Iterable
from datetime import datetime

import msgspec

from motorpool.bench.latencies import Latencies
from motorpool.bench.load.messages import LocationMessages
from motorpool.bench.load.output import raise_file_limit, write_message
from motorpool.bench.load.plan import CrossingLoad, CrossingResult, Mark, Span
from motorpool.bench.load.terminals import Terminals, measure, run_span
from motorpool.bench.load.watching_socket import WatchingSocket

EVERY = 10
"""Messages of a terminal from one gate to the next; each is entered and left once."""
FIRST = 5
"""Number of the message at the centre of the first gate."""
RADIUS = 25.0
"""Metres of a gate; two messages are 10 m apart."""
REACH = 2
"""Messages on either side of the centre that lie within."""
TIMEOUT_SECONDS = 20.0
"""For the last events."""


def gates(messages: int) -> list[tuple[float, float]]:
    """Return latitude and longitude of the gates on the route of a number of messages."""
    return [LocationMessages.place(number) for number in range(FIRST, messages + EVERY, EVERY)]


def is_inside(number: int) -> bool:
    """Return whether a message lies in a gate."""
    return abs(number % EVERY - FIRST) <= REACH


class _Event(msgspec.Struct, rename="camel"):
    type: str
    event_time: datetime
    device_id: int


class _Update(msgspec.Struct):
    events: list[_Event] = []


def crossings(received: Iterable[tuple[float, str]]) -> dict[tuple[int, float], float]:
    """Return when the event of each device and instant came; geofences alone."""
    found: dict[tuple[int, float], float] = {}
    for now, text in received:
        for event in msgspec.json.decode(text, type=_Update).events:
            if event.type.startswith("geofence"):
                found.setdefault((event.device_id, event.event_time.timestamp()), now)
    return found


class TimedTerminals(Terminals):
    """Terminals that know when they sent each message."""

    def __init__(self, load: CrossingLoad) -> None:
        super().__init__(load.terminals)
        self.times = [array("d") for _ in load.terminals.phones]

    def send(self, index: int, instant: float) -> None:
        """Send the next message of a terminal and note the time."""
        self.times[index].append(time.perf_counter())
        super().send(index, instant)


def run_load(load: CrossingLoad) -> CrossingResult:
    """Connect, warm up, measure, and wait for the last events."""
    terminals = TimedTerminals(load)
    watching = WatchingSocket(load.terminals.host, load.http_port, ("Cookie", load.cookie), '"events"')
    watching.start()
    terminals.connect()
    if not watching.await_acceptance(30.0):
        raise ConnectionError(f"no WebSocket: {watching.error or 'not accepted'}")
    write_message(Mark("ready"))
    plan = load.terminals
    run_span(Span(seconds=plan.warm_seconds, rate=plan.rate), terminals)
    write_message(Mark("begin"))
    measured = measure(Span(seconds=plan.seconds, rate=plan.rate), terminals)
    expected = {
        (load.device_ids[index], plan.first_epoch + number): sent_at
        for index, times in enumerate(terminals.times)
        for number, sent_at in enumerate(times[: terminals.answered[index]])
        if is_inside(number) != (number > 0 and is_inside(number - 1))
    }
    deadline = time.perf_counter() + TIMEOUT_SECONDS
    while len(crossings(tuple(watching.received)).keys() & expected.keys()) < len(expected):
        if time.perf_counter() > deadline or watching.error:
            break
        time.sleep(0.2)
    came = crossings(tuple(watching.received))
    latencies = [
        came[key] - sent_at for key, sent_at in expected.items() if key in came and sent_at >= measured.start
    ]
    return CrossingResult(
        terminals=measured,
        events=len(latencies),
        missing=len(expected.keys() - came.keys()),
        unexpected=len(came.keys() - expected.keys()),
        latencies=Latencies.of(latencies),
    )


def main() -> None:
    """Read the load, run it, write the result."""
    load = msgspec.json.decode(sys.stdin.readline(), type=CrossingLoad)
    raise_file_limit()
    # A collection would count as the server's latency.
    gc.disable()
    write_message(run_load(load))


if __name__ == "__main__":
    main()
