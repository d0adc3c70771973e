"""Days of vehicles whose true motion is known: what reports say of them beside the truth."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import count
from urllib.parse import urlsplit

import trio

from motorpool.bench.figures import Summary
from motorpool.bench.options import BenchError, Options, Step
from motorpool.bench.phases.road_days import PlannedDay, RoadServer, WayIn, measure_days
from motorpool.bench.phases.road_figures import add_figures
from motorpool.bench.roads import KINDS
from motorpool.bench.server import EMAIL, run_server
from motorpool.codecs.devices import CODECS

NAME = "trips"
TITLE = "reports of stops, trips and distances beside the truth of 200 days, here or at another --server"
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
    """Start a server, or yield the one that is named.

    Raises:
        BenchError: the options do not name one, or it does not start.
    """
    if options.protocol not in (None, *WAYS_IN):
        raise BenchError(f"trips are sent by {' or '.join(WAYS_IN)}")
    if options.server is not None:
        yield named_server(options, options.server)
        return
    with run_server() as server:
        ports: dict[WayIn, int] = {"jt808": server.jt808_port, "osmand": server.osmand_port}
        yield RoadServer(
            url=server.url,
            email=EMAIL,
            password=server.password,
            host=server.host,
            ports={name: port for name, port in ports.items() if options.protocol in (None, name)},
        )


def named_server(options: Options, url: str) -> RoadServer:
    """Return the server at `--server`; its devices speak OsmAnd unless another protocol is chosen.

    Raises:
        BenchError: the address is none, or the account is missing.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BenchError(f"--server {url} is no address such as http://127.0.0.1:8082")
    if not options.email or not options.password:
        raise BenchError("--server needs --email and --password")
    way_in: WayIn = "jt808" if options.protocol == "jt808" else "osmand"
    return RoadServer(
        url=url.rstrip("/"),
        email=options.email,
        password=options.password,
        host=parts.hostname,
        ports={way_in: options.device_port or CODECS[way_in].port},
        is_kept=True,
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
