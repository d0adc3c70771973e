"""What a day of one device costs while others report: where few positions are stored, and where many are."""

import re
import statistics
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import NamedTuple

from motorpool.bench.figures import Goal, Summary
from motorpool.bench.load.clients import ReportingClients, reporting_clients
from motorpool.bench.load.plan import TerminalLoad
from motorpool.bench.load.program import LoadFailed
from motorpool.bench.options import BenchError, Options, Step
from motorpool.bench.server import Server, run_server
from motorpool.bench.usage import read_usage

NAME = "stored"
TITLE = "history, reports, deletes and retention beside ingest: with --stored positions and with 100,000"
SERVER = "own"
STEPS = 4
FEW = 100_000
PER_DAY = 1000
"""Positions of a device."""
DAYS = 4
"""Of FEW positions. Where there are more, both days and devices are more, in the same proportion."""
MOST_DAYS = 50
"""A new database has no months for older ones."""
TERMINALS = 100
REPORTS_PER_SECOND = 200.0
SAME = (Goal(1.3, of_ratio=True),)
TIMEOUT_SECONDS = 600.0
FEW_NAME = f"of {FEW:,}"
ASKED = {
    "history of a day": ("GET", "/positions", 2),
    "route of a day": ("GET", "/reports/route", 2),
    "trips of a day": ("GET", "/reports/trips", 2),
    "stops of a day": ("GET", "/reports/stops", 2),
    "summary of a day": ("GET", "/reports/summary", 2),
    "deletion of a day": ("DELETE", "/positions", 1),
}
"""Method, path, and how many days ago the day was."""
_DELETED = re.compile(r"deleted (\d+) positions older than \d+ days in ([\d.]+) s")
# Of 250 positions 150 drive north or south at 15 m/s, and the others stand. Rows lie in the order of time, as
# they do where they come in.
_ROWS = """
    select {first_id}::bigint + k, {device_id}::bigint + k % {devices}, t, t, t,
        52 + case when leg % 2 = 0 then driven else 150 - driven end * 0.01164::float8, 13::float8,
        30::float8, case when is_moving then 29.16 else 0 end::float8, 0::float8, 5::float8, false, true,
        'osmand'::text, null::text, null::jsonb, null::bigint[],
        jsonb_build_object('distance', case when is_moving then 1296.0 else 0.0 end,
            'totalDistance', 1000.5 + n, 'ignition', is_moving, 'motion', is_moving, 'batteryLevel', 87)
    from generate_series(0, {devices} * {per_day} - 1) as k, lateral (select k / {devices} as n) as made,
        lateral (select '{start}'::timestamptz + n * {interval} * interval '1 second' as t, n / 250 as leg,
            least(n % 250, 150) as driven, n % 250 between 1 and 150 as is_moving) as moved
"""
_DEVICES = """
    insert into devices (name, unique_id) select 'Van ' || n, 'van' || n
    from generate_series(1, {devices}) as n returning id
"""
_IDS = """
    update id_blocks set next_id = next_id + {total} where name = 'positions' returning next_id - {total}
"""


class Stored(NamedTuple):
    """A server with positions of the last days."""

    server: Server
    device_ids: Sequence[int]
    days: int
    today: datetime

    def day(self, ago: int) -> dict[str, str]:
        """Return the span of a day, without the ends by which a report would keep its result for the next."""
        start = self.today - timedelta(days=ago)
        ends = start + timedelta(seconds=1), start + timedelta(days=1, seconds=-1)
        return {"from": ends[0].isoformat(), "to": ends[1].isoformat()}

    def reporters(self, prefix: str) -> AbstractContextManager[ReportingClients]:
        """Connect terminals with these numbers."""
        load = TerminalLoad(
            host=self.server.host,
            port=self.server.jt808_port,
            phones=self.server.phones(prefix, TERMINALS),
            first_epoch=time.time() - 3600,
        )
        return reporting_clients(load, partial(read_usage, self.server))


def run(options: Options, summary: Summary, step: Step) -> None:
    """Fill two servers, ask both by turns while terminals report, and start them with a shorter retention."""
    with ExitStack() as stack:
        sides = []
        for count in (FEW, options.stored):
            step(f"{count:,} positions")
            sides.append(fill(stack.enter_context(run_server()), count))
        try:
            step("requests by turns, while terminals report")
            _measure_requests(options, summary, sides)
            step("retention of a day less")
            _measure_retention(summary, sides)
        except LoadFailed as error:
            raise BenchError(str(error)) from error


def fill(server: Server, count: int) -> Stored:
    """Store about `count` positions of the days before today.

    Raises:
        BenchError: the database refuses something.
    """
    days = min(MOST_DAYS, max(1, round(DAYS * (count / FEW) ** 0.5)))
    devices = max(1, round(count / (days * PER_DAY)))
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    ids = sorted(int(row[0]) for row in server.fetch_sql(_DEVICES.format(devices=devices)))
    [[first_id]] = server.fetch_sql(_IDS.format(total=devices * days * PER_DAY))
    for number in range(days):
        rows = _ROWS.format(
            first_id=int(first_id) + number * devices * PER_DAY,
            device_id=ids[0],
            devices=devices,
            per_day=PER_DAY,
            interval=86_400 / PER_DAY,
            start=(today - timedelta(days=days - number)).isoformat(),
        )
        server.copy_rows("positions", rows)
    server.run_sql("vacuum analyze positions")
    # It knows devices that others have written when it starts.
    server.restart()
    return Stored(server, ids, days, today)


def _measure_requests(options: Options, summary: Summary, sides: Sequence[Stored]) -> None:
    """Ask for a day of another device in each turn, so that no server knows an answer."""
    seconds = options.span(30.0)
    with ExitStack() as stack:
        clients = [stack.enter_context(side.reporters("135")) for side in sides]
        https = [stack.enter_context(side.server.client()) for side in sides]
        for client in clients:
            client.begin(seconds, REPORTS_PER_SECOND)
        until = time.monotonic() + seconds
        taken: list[dict[str, list[float]]] = [{name: [] for name in ASKED} for _ in sides]
        for turn in range(len(sides[0].device_ids)):
            if turn and time.monotonic() > until:
                break
            for name, (method, path, ago) in ASKED.items():
                for side, http, each in zip(sides, https, taken, strict=True):
                    query = {"deviceId": str(side.device_ids[turn]), **side.day(ago)}
                    begun = time.perf_counter()
                    answer = http.request(method, path, params=query, timeout=TIMEOUT_SECONDS)
                    each[name].append((time.perf_counter() - begun) * 1000)
                    if not answer.is_success:
                        raise BenchError(
                            f"{method} {path} answered {answer.status_code}: {answer.text[:200]}"
                        )
        acknowledged = [client.finish() for client in clients]
    few, many = ({name: statistics.median(each) for name, each in side.items()} for side in taken)
    for name in ASKED:
        summary.add(NAME, name, many[name], "ms", reference=FEW_NAME, beside=few[name], goals=SAME)
    p99s = [each.p99_ms for each in acknowledged]
    summary.add(NAME, "acknowledgement p99 meanwhile", p99s[1], "ms", reference=FEW_NAME, beside=p99s[0])


def _measure_retention(summary: Summary, sides: Sequence[Stored]) -> None:
    """Have each server delete a day and what was by now of the next one, as it does when it starts."""
    each = []
    for side in sides:
        with side.server.client() as http:
            body = {
                "positions": {"retention_days": side.days - 1},
                "currentPassword": side.server.password,
            }
            http.put("/server/settings", json=body).raise_for_status()
        side.server.restart()
        with side.reporters("136") as clients:
            until = time.monotonic() + TIMEOUT_SECONDS
            while (found := _DELETED.search(side.server.log)) is None:
                if time.monotonic() > until:
                    raise BenchError("no position is deleted for its age")
                clients.measure(1.0, REPORTS_PER_SECOND)
        each.append(float(found[2]) / int(found[1]) * 1e6)
    name = "retention, for each position that it deletes"
    summary.add(NAME, name, each[1], "µs", reference=FEW_NAME, beside=each[0], goals=SAME)
