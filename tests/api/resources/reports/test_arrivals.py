"""Reports say the same in whatever order positions have arrived, and the same as events."""

import random
from datetime import timedelta
from itertools import pairwise

from tests.api.resources.reports.reporting import MAY, Recorder, rough_days, span

START = MAY - timedelta(days=6)
"""So that days are over and their results are kept."""
END = START + timedelta(days=5)
OF_THE_ORDER = {
    "deviceId",
    "deviceName",
    "positionId",
    "startPositionId",
    "endPositionId",
    "startOdometer",
    "endOdometer",
    "engineHours",
}
"""Ids, and what may count what had become the latest."""
HOUR = timedelta(hours=1)
REPORTS = (
    ("trips", {}),
    ("stops", {}),
    ("summary", {}),
    ("summary", {"daily": "true"}),
    ("idling", {}),
    ("utilisation", {}),
    ("fuel", {}),
    ("fuel", {"daily": "true"}),
)


async def get(served, path):
    answer = await served.admin.get(path)
    assert answer.status == 200, answer.text
    return answer.json()


def without_order(row):
    """A record, and those in it, without what depends on the order of arrival."""
    return {
        name: [without_order(each) for each in value] if isinstance(value, list) else value
        for name, value in row.items()
        if name not in OF_THE_ORDER
    }


async def reports_of(served, device_id, start=START, end=END):
    """What reports say, without what depends on the order of arrival."""
    found = []
    for path, more in REPORTS:
        rows = await get(served, f"/reports/{path}?{span(start, end, deviceId=device_id, **more)}")
        found.append([without_order(row) for row in rows])
    return found


def delayed(chance, reports):
    """Reports in an order in which they may arrive: some of each hour from a buffer, hours later."""
    arrivals = []
    for report in reports:
        delay = chance.choice([0.0, 0.0, chance.uniform(0, 300), chance.uniform(0, 36 * 3600)])
        arrivals.append((report.fix_time + timedelta(seconds=delay), len(arrivals), report))
    return [report for *_, report in sorted(arrivals)]


def batches(chance, reports):
    begin = 0
    while begin < len(reports):
        size = chance.choice([1, 3, 40, 150])
        yield reports[begin : begin + size]
        begin += size


async def test_reports_do_not_depend_on_the_order_in_which_positions_arrive(served, seed):
    chance = random.Random(seed)
    reports = rough_days(seed, start=START)
    in_order = await served.device(served.admin, "1")
    await Recorder(served, in_order).add(reports)
    wanted = await reports_of(served, in_order)
    assert len(wanted[0]) > 10
    shuffled = chance.sample(reports, len(reports))
    database, kept = served.context.database, 0
    for number, arrivals in enumerate((delayed(chance, reports), reports[::-1], shuffled), 2):
        device_id = await served.device(served.admin, str(number))
        recorder = Recorder(served, device_id)
        for batch in batches(chance, arrivals):
            await recorder.add(batch)
            if chance.random() < 0.3:
                # Days that are over are kept, and dropped by what arrives afterwards.
                start = START + chance.randrange(72) * HOUR
                await reports_of(served, device_id, start, start + chance.randrange(60) * HOUR)
                kept += await database.fetch_value("select count(*) from report_days")
        assert await reports_of(served, device_id) == wanted
    assert kept


async def test_events_of_motion_are_the_ends_of_trips_and_stops(served, seed):
    device_id = await served.device(served.admin, "1")
    await Recorder(served, device_id).add(rough_days(seed, start=START))
    database = served.context.database
    (first, last) = await database.fetch_row(
        "select (array_agg(id order by fix_time, id))[1], (array_agg(id order by fix_time desc, id desc))[1]"
        " from positions where not attributes ? 'implausible' and (valid or latitude <> 0)"
    )
    turns = [
        (row[0], row[1])
        for row in await database.fetch(
            "select type = 'deviceMoving', position_id from events"
            " where type in ('deviceMoving', 'deviceStopped') order by id"
        )
    ]
    assert len(turns) > 20
    ends = [(False, first), *turns, (None, last)]
    # That it stood before its first position is not known.
    is_brief = await database.fetch_value(
        "select (select fix_time from positions where id = $2) - fix_time < interval '3 minutes'"
        " from positions where id = $1 and $1 <> $2",
        first,
        turns[0][1],
    )
    for is_moving, path, begin in ((True, "trips", "startPositionId"), (False, "stops", "positionId")):
        rows = await get(served, f"/reports/{path}?{span(START, END)}")
        # A trip or a stop without any length has its events, but is not listed.
        wanted = [one for (moving, one), (_, other) in pairwise(ends) if moving is is_moving and one != other]
        if not is_moving and is_brief:
            del wanted[0]
        assert [row[begin] for row in rows] == wanted
        # A report that begins later continues what had begun before it.
        later = START + timedelta(days=1, hours=7)
        part = await get(served, f"/reports/{path}?{span(later, END)}")
        since = part[0]["endTime"]
        assert part[1:] == [row for row in rows if row["startTime"] >= since][: len(part) - 1]
