"""The trips of many devices in a month: computed from positions, and asked again."""

import time
from datetime import UTC, datetime, timedelta

import httpx

from motorpool.bench.figures import Goal, Summary
from motorpool.bench.load.plan import OrderedReadLoad, OrderedReadResult
from motorpool.bench.load.program import LoadFailed, run_program
from motorpool.bench.options import BenchError, Options, Step
from motorpool.bench.server import Server, run_server

NAME = "reports"
TITLE = "trips of 100 devices in 30 days of 1,000 positions: the first time and again, beside an ordered read"
STEPS = 4
DEVICES = 100
DAYS = 30
PER_DAY = 1000
TRIPS_PER_DAY = 10
MOVING = 0.6
"""Share of the positions of a trip and the stop after it that move."""
TIMEOUT_SECONDS = 400.0
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


def run(options: Options, summary: Summary, step: Step) -> None:
    """Fill a database, read it in order, and ask for the trips twice."""
    del options
    end = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    start = end - timedelta(days=DAYS)
    total = DEVICES * DAYS * PER_DAY
    with run_server() as server:
        step(f"{total:,} positions")
        device_ids = fill(server, start)
        span = start, end - timedelta(seconds=1)
        step("an ordered read of the same columns")
        read = ordered_read(server, device_ids, *span)
        if read.rows != total:
            raise BenchError(f"the database holds {read.rows} positions, not {total}")
        step("trips")
        first_seconds, trips = _ask(server, device_ids, *span)
        step("trips again")
        again_seconds, again = _ask(server, device_ids, *span)
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


def fill(server: Server, start: datetime) -> list[int]:
    """Create devices and their positions; return the devices' ids.

    Raises:
        BenchError: the server or the database refuses something.
    """
    device_ids = []
    with server.client() as client:
        for number in range(DEVICES):
            answer = client.post("/devices", json={"name": f"Van {number}", "uniqueId": f"van{number}"})
            if not answer.is_success:
                raise BenchError(f"POST /devices answered {answer.status_code}: {answer.text[:200]}")
            device_ids.append(int(answer.json()["id"]))
    leg = PER_DAY // TRIPS_PER_DAY
    statement = _FILL.format(
        total=DEVICES * DAYS * PER_DAY,
        device_ids=", ".join(f"{number}::bigint" for number in device_ids),
        per_device=DAYS * PER_DAY,
        interval=86_400 / PER_DAY,
        leg=leg,
        driving=round(leg * MOVING),
        start=start.isoformat(),
    )
    server.run_sql(statement)
    server.run_sql("analyze positions")
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


def _ask(server: Server, device_ids: list[int], start: datetime, end: datetime) -> tuple[float, int]:
    """Return the seconds that the report took, and its trips."""
    query: dict[str, str | list[int]] = {
        "deviceId": device_ids,
        "from": start.isoformat(),
        "to": end.isoformat(),
    }
    with server.client() as client:
        begin = time.perf_counter()
        answer = client.get("/reports/trips", params=httpx.QueryParams(query), timeout=TIMEOUT_SECONDS)
        seconds = time.perf_counter() - begin
    if not answer.is_success:
        raise BenchError(f"GET /reports/trips answered {answer.status_code}: {answer.text[:200]}")
    return seconds, len(answer.json())
