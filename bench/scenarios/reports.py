"""The trips of many devices in a month: computed from positions, and asked again; a year of kept days."""

import time
from datetime import UTC, datetime, timedelta

import httpx

from motorpool.bench.figures import Goal, Summary
from motorpool.bench.load.plan import OrderedReadLoad, OrderedReadResult
from motorpool.bench.load.program import LoadFailed, run_program
from motorpool.bench.options import BenchError, Options, Step
from motorpool.bench.server import Server, run_server

NAME = "reports"
TITLE = (
    "trips of 100 devices in 30 days of 1,000 positions, the first time and again; their year from kept days"
)
SERVER = "own"
STEPS = 6
DEVICES = 100
DAYS = 30
PER_DAY = 1000
TRIPS_PER_DAY = 10
YEAR_DAYS = 365
YEAR_PER_DAY = 960
YEAR_TRIPS_PER_DAY = 4
YEAR_SECONDS = Goal(3)
MOVING = 0.6
"""Share of the positions of a trip and the stop after it that move."""
TIMEOUT_SECONDS = 400.0
_ROW = b'"deviceId":'
# Each tenth of a day the device drives north or south at 15 m/s, then stands.
_FILL = """
    with chosen as (
        update id_blocks set next_id = next_id + {total} where name = 'positions'
        returning next_id - {total} as first
    )
    insert into positions (id, device_id, server_time, device_time, fix_time, latitude, longitude, altitude,
        speed, course, accuracy, outdated, valid, protocol, attributes)
    select first + row_number() over (order by n, device_id) - 1, device_id, t, t, t,
        52 + case when leg % 2 = 0 then driven else {driving} - driven end * step / 111319.49, 13, 30,
        case when is_moving then 29.16 else 0 end, 0, 5, false, true, 'osmand',
        jsonb_build_object('distance', case when is_moving then round(step::numeric, 2) else 0.0 end,
            'totalDistance', 1000.5 + n, 'ignition', is_moving, 'motion', is_moving, 'batteryLevel', 87)
    from chosen, unnest(array[{device_ids}]) as device_id, generate_series(0, {per_device} - 1) as n,
        lateral (select '{start}'::timestamptz + n * {interval} * interval '1 second' as t, n / {leg} as leg,
            least(n % {leg}, {driving}) as driven, n % {leg} between 1 and {driving} as is_moving,
            15.0 * {interval} as step) as made;
"""
_COPY = """
    insert into report_days (device_id, settings, begins, ends, state, result, carry)
    select other, settings, begins, ends, state, result, carry
    from report_days, unnest(array{others}::bigint[]) as other where device_id = {first}
"""


def run(options: Options, summary: Summary, step: Step) -> None:
    """Fill a database, read it in order, and ask for the trips twice; then for a year that is kept."""
    del options
    end = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    start = end - timedelta(days=DAYS)
    total = DEVICES * DAYS * PER_DAY
    with run_server() as server:
        step(f"{total:,} positions")
        device_ids = fill(server, start, vehicles=DEVICES, days=DAYS, per_day=PER_DAY)
        span = start, end - timedelta(seconds=1)
        step("an ordered read of the same columns")
        read = ordered_read(server, device_ids, *span)
        if read.rows != total:
            raise BenchError(f"the database holds {read.rows} positions, not {total}")
        step("trips")
        first_seconds, trips = _ask(server, device_ids, *span)
        step("trips again")
        again_seconds, again = _ask(server, device_ids, *span)
        _measure_year(server, summary, step, end)
    summary.add(NAME, "ordered read", read.seconds, "s")
    ratio = (Goal(3, of_ratio=True),)
    summary.add(
        NAME,
        "trips, first time",
        first_seconds,
        "s",
        reference="ordered read",
        beside=read.seconds,
        goals=ratio,
    )
    summary.add(NAME, "trips, asked again", again_seconds, "s", goals=(Goal(1),))
    summary.add(NAME, "trips", trips, "trips", goals=(Goal(DEVICES * DAYS, at_least=True),))
    summary.add(NAME, "trips that differ when asked again", abs(again - trips), "trips", goals=(Goal(0),))


def _measure_year(server: Server, summary: Summary, step: Step, end: datetime) -> None:
    """Have a year of one device worked out and kept, copy that to others, and ask for all of them."""
    start = end - timedelta(days=YEAR_DAYS)
    span = start, end - timedelta(seconds=1)
    step("a year of days that are kept")
    shape = {"days": YEAR_DAYS, "per_day": YEAR_PER_DAY, "trips_per_day": YEAR_TRIPS_PER_DAY}
    [first] = fill(server, start, vehicles=1, name="One", **shape)
    for report in ("trips", "summary"):
        _ask(server, [first], *span, report=report)
    others = _create(server, DEVICES - 1, "Other")
    server.run_sql(_COPY.format(others=others, first=first))
    server.run_sql("vacuum analyze report_days")
    step("reports of the year")
    for report, least in (
        ("summary", DEVICES),
        ("trips", DEVICES * YEAR_DAYS),
        ("stops", DEVICES * YEAR_DAYS),
    ):
        cpu = server.cpu_seconds()
        begin = time.perf_counter()
        rows, seconds_to_first = _stream(server, report, [first, *others], *span)
        seconds = time.perf_counter() - begin
        cpu = server.cpu_seconds() - cpu
        if rows < least:
            raise BenchError(f"{report} of the year has {rows} rows")
        of = f"{report} of a year of {DEVICES} devices"
        summary.add(NAME, f"{of}, rows", rows, "rows")
        summary.add(NAME, f"{of}, first rows", seconds_to_first, "s", goals=(YEAR_SECONDS,))
        summary.add(NAME, f"{of}, all rows", seconds, "s")
        summary.add(NAME, f"{of}, CPU of the server", cpu, "s", goals=(YEAR_SECONDS,))


def fill(
    server: Server,
    start: datetime,
    *,
    vehicles: int,
    days: int,
    per_day: int,
    trips_per_day: int = TRIPS_PER_DAY,
    name: str = "Van",
) -> list[int]:
    """Create devices and their positions, with so many trips of each a day; return the devices' ids.

    Raises:
        BenchError: the server or the database refuses something.
    """
    device_ids = _create(server, vehicles, name)
    leg = per_day // trips_per_day
    statement = _FILL.format(
        total=vehicles * days * per_day,
        device_ids=", ".join(f"{number}::bigint" for number in device_ids),
        per_device=days * per_day,
        interval=86_400 / per_day,
        leg=leg,
        driving=round(leg * MOVING),
        start=start.isoformat(),
    )
    server.run_sql(statement)
    server.run_sql("analyze positions")
    return device_ids


def _create(server: Server, count: int, name: str) -> list[int]:
    device_ids = []
    with server.client() as client:
        for number in range(count):
            body = {"name": f"{name} {number}", "uniqueId": f"{name.lower()}{number}"}
            answer = client.post("/devices", json=body)
            if not answer.is_success:
                raise BenchError(f"POST /devices answered {answer.status_code}: {answer.text[:200]}")
            device_ids.append(int(answer.json()["id"]))
    return device_ids


def ordered_read(server: Server, device_ids: list[int], start: datetime, end: datetime) -> OrderedReadResult:
    """Measure the reference.

    Raises:
        BenchError: it failed.
    """
    load = OrderedReadLoad(
        database=server.database_address(), device_ids=tuple(device_ids), start=start, end=end
    )
    try:
        with run_program("ordered_read", load) as program:
            return program.wait_for(OrderedReadResult, TIMEOUT_SECONDS)
    except LoadFailed as error:
        raise BenchError(str(error)) from error


def _ask(
    server: Server, device_ids: list[int], start: datetime, end: datetime, report: str = "trips"
) -> tuple[float, int]:
    """Return the seconds that a report took, and its rows."""
    with server.client() as client:
        begin = time.perf_counter()
        query = _query(device_ids, start, end)
        answer = client.get(f"/reports/{report}", params=query, timeout=TIMEOUT_SECONDS)
        seconds = time.perf_counter() - begin
    if not answer.is_success:
        raise BenchError(f"GET /reports/{report} answered {answer.status_code}: {answer.text[:200]}")
    return seconds, len(answer.json())


def _stream(
    server: Server, report: str, device_ids: list[int], start: datetime, end: datetime
) -> tuple[int, float]:
    """Return the rows of a report, and the seconds until the first came."""
    query = _query(device_ids, start, end)
    begin = time.perf_counter()
    first: float | None = None
    text = b""
    rows = 0
    with (
        server.client() as client,
        client.stream("GET", f"/reports/{report}", params=query, timeout=TIMEOUT_SECONDS) as answer,
    ):
        if not answer.is_success:
            raise BenchError(f"GET /reports/{report} answered {answer.status_code}")
        for piece in answer.iter_bytes():
            # A name may lie in two pieces.
            text = text[-len(_ROW) + 1 :] + piece
            rows += text.count(_ROW)
            if first is None and rows:
                first = time.perf_counter() - begin
    return rows, first or 0.0


def _query(device_ids: list[int], start: datetime, end: datetime) -> httpx.QueryParams:
    query: dict[str, str | list[int]] = {
        "deviceId": device_ids,
        "from": start.isoformat(),
        "to": end.isoformat(),
    }
    return httpx.QueryParams(query)
