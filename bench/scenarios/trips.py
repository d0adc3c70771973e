"""Days of vehicles whose true motion is known: what reports say of them beside the truth."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import count

import trio

from motorpool.bench.figures import Summary
from motorpool.bench.measured_server import open_server
from motorpool.bench.options import BenchError, Options, Step
from motorpool.bench.phases.road_days import PlannedDay, RoadServer, WayIn, measure_days
from motorpool.bench.phases.road_figures import add_figures
from motorpool.bench.roads import KINDS
from motorpool.bench.server import run_server

NAME = "trips"
TITLE = "reports of stops, trips and distances beside the truth of 200 days, here or at another --server"
SERVER = "any"
STEPS = 20
DAYS_AGO = 2
"""The day that is sent: over, and within any retention."""
SEEDS_OF_A_RUN = 10_000
"""Seeds of a kind that belong to one `--seed`: one for each day."""
WAYS_IN: tuple[WayIn, ...] = ("jt808", "osmand")


def run(options: Options, summary: Summary, step: Step) -> None:
    """Send days and compare their reports with the truth."""
    plans = plan(options)
    # Nobody else has these devices, whatever server it is and however often it is measured.
    first_number = 10**11 + int(time.time()) % 10**8 * 1000
    with _server(options) as server:
        done = steps(len(plans), step)
        found = trio.run(measure_days, server, plans, first_number, done)
    add_figures(summary, NAME, found)


def plan(options: Options) -> Sequence[PlannedDay]:
    """Return the days to make: the kinds by turns.

    Raises:
        BenchError: there is no such kind, or no day.
    """
    if options.days < 1:
        raise BenchError("trips needs a day")
    kinds = options.kinds or tuple(KINDS)
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown:
        raise BenchError(f"no kind {', '.join(unknown)}; there are {', '.join(KINDS)}")
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    start = today - timedelta(days=DAYS_AGO)
    return [
        PlannedDay(kinds[number % len(kinds)], options.seed * SEEDS_OF_A_RUN + number // len(kinds), start)
        for number in range(options.days)
    ]


@contextmanager
def _server(options: Options) -> Iterator[RoadServer]:
    """Start a server, or yield the one that is named, whose devices speak OsmAnd unless told otherwise.

    Raises:
        BenchError: the options do not name one, or it does not start.
    """
    if options.protocol not in (None, *WAYS_IN):
        raise BenchError(f"trips are sent by {' or '.join(WAYS_IN)}")
    with open_server(options, run_server) as server:
        ways = [name for name in WAYS_IN if name in (options.protocol or name)]
        if options.protocol is None and not server.is_own:
            ways = ["osmand"]
        yield RoadServer(
            url=server.url,
            email=server.email,
            password=server.password,
            host=server.host,
            ports={name: server.port(name) for name in ways},
            is_kept=not server.is_own,
        )


def steps(days: int, step: Step) -> Callable[[], None]:
    """Return what is called after each day: it calls `step` STEPS times at most."""
    finished = count(1)
    step(f"day 1 of {days}")

    def done() -> None:
        number = next(finished)
        if number < days and number * STEPS // days > (number - 1) * STEPS // days:
            step(f"day {number + 1} of {days}")

    return done
