"""Days of vehicles on a server: registered, sent, and compared with what it reports of them."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import count
from typing import Literal

import httpx
import msgspec
import trio

from motorpool.bench.load.day_senders import ReportsRefused, send_by_jt808, send_by_osmand
from motorpool.bench.options import BenchError
from motorpool.bench.phases.fetched_reports import ask, fetch_reported
from motorpool.bench.roads import Day, make_day
from motorpool.bench.roads.comparison import Comparison, compare

AT_ONCE = 16
"""Days that are sent at the same time."""
API_SECONDS = 120.0

WayIn = Literal["jt808", "osmand"]


class RoadServer(msgspec.Struct, frozen=True, kw_only=True):
    """A server with Traccar's API, and where its devices connect."""

    url: str
    email: str
    password: str
    host: str
    ports: dict[WayIn, int]
    """By the protocols that may be used."""
    is_kept: bool = False
    """Whether it goes on after the measurement, so that the devices have to be deleted."""

    def way_in(self, day: Day) -> WayIn:
        """Return the protocol for the reports of a day: JT/T 808 if it can say what they say."""
        conditions = day.conditions
        if "osmand" not in self.ports:
            return "jt808"
        can_tell = conditions.ignition and not conditions.odometer
        return "jt808" if can_tell and "jt808" in self.ports else "osmand"


class _Created(msgspec.Struct):
    id: int


class PlannedDay(msgspec.Struct, frozen=True):
    """A day to make."""

    kind: str
    seed: int
    start: datetime


async def measure_days(
    server: RoadServer, plans: Sequence[PlannedDay], first_number: int, done: Callable[[], None]
) -> list[Comparison]:
    """Make days, send them some at a time, and compare; `done` is called after each.

    `first_number` numbers the devices, up to 999,999,999,999.

    Raises:
        BenchError: the server refuses something, in one sentence.
    """
    found: list[Comparison] = []
    numbers, turns = count(first_number), iter(plans)

    async def measure_some(client: httpx.AsyncClient) -> None:
        for plan in turns:
            found.append(await _measure(server, client, plan, next(numbers)))
            done()

    headers = {"Accept": "application/json"}
    failure: Exception | None = None
    async with httpx.AsyncClient(
        base_url=f"{server.url}/api", headers=headers, timeout=API_SECONDS
    ) as client:
        try:
            # With a password in each request, many at a time look like somebody who guesses.
            form = {"email": server.email, "password": server.password}
            await ask(client, "POST", "/session", data=form)
            async with trio.open_nursery() as nursery:
                for _ in range(min(AT_ONCE, len(plans))):
                    nursery.start_soon(measure_some, client)
        except* (BenchError, ReportsRefused, httpx.HTTPError, msgspec.MsgspecError) as errors:
            # Raised here it would be wrapped in a group.
            failure = errors.exceptions[0]
    if failure is not None:
        raise BenchError(f"{server.url}: {str(failure) or type(failure).__name__}") from failure
    return found


async def _measure(
    server: RoadServer, client: httpx.AsyncClient, plan: PlannedDay, number: int
) -> Comparison:
    # A long computation, but the server works meanwhile on what the others have sent.
    day = make_day(plan.kind, plan.seed, start=plan.start)
    way_in = server.way_in(day)
    unique_id = f"{number:012}"
    body = {"name": f"Trips: {plan.kind} {plan.seed}", "uniqueId": unique_id, "category": "default"}
    created = await ask(client, "POST", "/devices", json=body)
    device_id = msgspec.json.decode(created, type=_Created).id
    try:
        send = send_by_jt808 if way_in == "jt808" else send_by_osmand
        await send(server.host, server.ports[way_in], unique_id, day.reports)
        return compare(day, await fetch_reported(client, device_id, day.start, day.end))
    finally:
        if server.is_kept:
            with trio.CancelScope(shield=True), suppress(httpx.HTTPError):
                await client.delete(f"/devices/{device_id}")
