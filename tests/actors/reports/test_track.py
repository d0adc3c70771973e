"""Results of finished days: kept, dropped, and never different from a fresh computation."""

import itertools
import random
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from types import SimpleNamespace
from zoneinfo import ZoneInfo

import msgspec
import pytest
import trio
from tests.actors.reports.brute_force import intervals
from tests.api.resources.reports.reporting import week
from tests.runtime.actor_testing import TestClock

from motorpool.actors.reports import track
from motorpool.actors.reports.periods import find_periods
from motorpool.actors.reports.sources import Sources
from motorpool.actors.reports.track import find_days, find_segments
from motorpool.actors.rules.trip_detection import TripSettings
from motorpool.storage.devices import devices, position_rows, positions, report_days
from motorpool.storage.devices.position_rows import copy_data
from motorpool.storage.errors import VersionFound
from motorpool.storage.records import Device, Position
from motorpool.storage.reports import report_rows
from motorpool.storage.upkeep import expired_positions

MAY = datetime(2026, 5, 1, tzinfo=UTC)
NOW = MAY + timedelta(days=10)
HOUR = timedelta(hours=1)
DEFAULTS = TripSettings()
WAITING = """
    select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
"""
BERLIN, KATHMANDU = ZoneInfo("Europe/Berlin"), ZoneInfo("Asia/Kathmandu")
POINT = SimpleNamespace(time=MAY, latitude=1.0, longitude=1.0, speed=0.0, attributes={})


@pytest.fixture
def sources(database):
    return Sources(system=SimpleNamespace(clock=TestClock(NOW)), database=database)


def row_of(device_id, position_id, point):
    return Position(
        id=position_id,
        device_id=device_id,
        protocol="x",
        server_time=point.time,
        device_time=point.time,
        fix_time=point.time,
        latitude=point.latitude,
        longitude=point.longitude,
        speed=point.speed,
        valid=True,
        attributes=point.attributes,
    )


async def store(database, device_id, points):
    ids = list(await positions.allocate_ids(database, len(points)))
    rows = [row_of(device_id, number, point) for number, point in zip(ids, points, strict=True)]
    late = [(row.device_id, row.fix_time) for row in rows if row.fix_time < NOW - report_days.LATE]
    await positions.store(database, [position_rows.pack_row(row) for row in rows], ids, late=late)
    return ids


async def ask(sources, start, end, *, device_id=1, zone=UTC, settings=DEFAULTS, kept=True):
    return await find_segments(sources, device_id, start, end, settings, zone, kept=kept)


def known_intervals(points, start, end):
    """What a report of a device shows that had no positions before."""
    first, *others = intervals(points, start, end)
    is_short = not first.moving and first.end.time - first.start.time < timedelta(seconds=180)
    return others if is_short else [first, *others]


@pytest.fixture
def reads(monkeypatch):
    """The spans of positions that were read."""
    seen = []
    stream = report_rows.stream_track

    def counted(q, device_id, start, end, **more):
        seen.append((start, end))
        return stream(q, device_id, start, end, **more)

    monkeypatch.setattr(track.report_rows, "stream_track", counted)
    return seen


async def test_a_month_asked_again_reads_no_positions_of_finished_days(sources, database, reads):
    points = week(3)
    await store(database, 1, points)
    end = MAY + timedelta(days=7) - timedelta(milliseconds=1)
    first = await ask(sources, MAY, end)
    expected = known_intervals(points, MAY, end)
    assert [(each.is_moving, each.start.fix_time, each.end.fix_time, each.max_speed) for each in first] == [
        (found.moving, found.start.time, found.end.time, found.top_speed) for found in expected
    ]
    assert [each.is_moving * each.centimetres / 100 for each in first] == [
        pytest.approx(found.distance, abs=0.5) for found in expected
    ]
    assert (MAY, end) in reads
    reads.clear()
    assert await ask(sources, MAY, end) == first
    # Only what is needed for the state at the beginning was read.
    assert [span for span in reads if span[1] >= MAY] == []
    # A report that begins within a day, and one in another zone.
    later = MAY + 5 * HOUR
    assert await ask(sources, later, end) == await ask(sources, later, end, kept=False)
    assert await ask(sources, MAY, end, zone=BERLIN) == first
    other = TripSettings(min_distance=500.0)
    assert await ask(sources, MAY, end, settings=other) == await ask(
        sources, MAY, end, settings=other, kept=False
    )
    assert await ask(sources, MAY, end) == first


@pytest.mark.parametrize("zone", [UTC, BERLIN, KATHMANDU])
async def test_each_day_has_the_distance_that_trips_came_along_on_it(sources, database, seed, zone):
    points = week(seed % 7)
    await store(database, 1, points)
    begin = MAY + 7 * HOUR
    end = MAY + timedelta(days=7) - timedelta(milliseconds=1)
    on_trips = [step for found in intervals(points, begin, end) if found.moving for step in found.steps]
    for kept in (False, True, True):
        found = await find_days(sources, 1, begin, end, DEFAULTS, zone, kept=kept)
        starts = [begin, *(day.ends for day in found)]
        assert [day.metres for day in found] == [
            pytest.approx(sum(metres for time, metres in on_trips if start <= time < ends), abs=0.5)
            for start, ends in itertools.pairwise(starts)
        ]
        assert [day.max_speed for day in found] == [
            max((point.speed for point in points if start <= point.time < ends), default=0.0)
            for start, ends in itertools.pairwise(starts)
        ]
        trips = [each for each in await ask(sources, begin, end, zone=zone, kept=kept) if each.is_moving]
        assert sum(day.metres for day in found) == pytest.approx(
            sum(each.centimetres for each in trips) / 100, abs=0.005
        )


async def test_a_short_stop_before_which_nothing_is_known_is_left_out(sources, database):
    def at(minutes, north, speed=0.0):
        time = MAY + timedelta(minutes=minutes)
        return SimpleNamespace(time=time, latitude=north / 111_319, longitude=1.0, speed=speed, attributes={})

    drive = [at(minute, 500 * minute, 16.0) for minute in range(3, 20)]
    await store(database, 1, [at(1, 0), at(2, 0), *drive, *(at(minute, 10_000) for minute in range(20, 40))])
    await store(database, 2, [at(-9, 0), at(1, 0), at(2, 0), *drive])
    end = MAY + HOUR
    assert [each.is_moving for each in await ask(sources, MAY, end)] == [True, False]
    # The second stood there before: the report shows a part of its stop.
    assert [each.is_moving for each in await ask(sources, MAY, end, device_id=2)] == [False, True]


async def test_what_other_rules_have_found_is_not_used(sources, database):
    await store(database, 1, week(3, days=2))
    end = MAY + timedelta(days=2) - timedelta(milliseconds=1)
    first = await ask(sources, MAY, end)
    # Before the rules had a version the settings alone were in the digest.
    old = sha256(msgspec.json.encode(DEFAULTS)).digest()[:16]
    nothing = b"nothing"
    changed = await database.affected("update report_days set settings = $1, result = $2", old, nothing)
    assert changed == 2
    assert await ask(sources, MAY, end) == first


async def test_a_month_of_summaries_asked_again_reads_the_days_that_are_kept(sources, database, monkeypatch):
    points = week(3)
    await store(database, 1, points)
    end = MAY + timedelta(days=7) - timedelta(milliseconds=1)
    days = await find_periods(sources, 1, MAY, end, UTC)
    assert [(day.first.fix_time, day.last.fix_time) for day in days] == [
        (part[0].time, part[-1].time)
        for date in sorted({point.time.date() for point in points if point.time <= end})
        if (part := [point for point in points if point.time.date() == date])
    ]

    async def not_read(*_args, **_more):
        raise AssertionError

    monkeypatch.setattr(report_rows, "period_ends", not_read)
    assert await find_periods(sources, 1, MAY, end, UTC) == days


async def test_a_report_that_begins_later_reads_no_positions_either(sources, database, monkeypatch):
    await store(database, 1, week(3))
    begin, end = MAY + timedelta(days=3), MAY + timedelta(days=7) - timedelta(milliseconds=1)
    found = await ask(sources, begin, end)

    def not_read(*_args, **_more):
        raise AssertionError

    for name in ("stream_track", "pages_of_track", "last_of_track"):
        monkeypatch.setattr(report_rows, name, not_read)
    assert await ask(sources, begin, end) == found


async def test_days_that_are_dropped_while_a_report_looks_them_up_are_worked_out_anew(
    sources, database, monkeypatch
):
    await store(database, 1, week(3))
    end = MAY + timedelta(days=7) - timedelta(milliseconds=1)
    await ask(sources, MAY, end)
    read = report_days.read

    async def read_before_a_change(*args):
        found = await read(*args)
        await store(database, 1, week(5))
        return found

    monkeypatch.setattr(report_days, "read", read_before_a_change)
    assert await ask(sources, MAY, end) == await ask(sources, MAY, end, kept=False)


async def test_a_day_that_is_kept_anew_while_a_report_looks_it_up_is_not_mixed_with_what_it_was(
    sources, database, monkeypatch
):
    begins = MAY + timedelta(days=5)
    await store(database, 1, week(3))
    end = begins + 36 * HOUR
    await ask(sources, MAY, end)
    read = report_days.read

    async def read_before_a_change(*args):
        found = await read(*args)
        monkeypatch.setattr(report_days, "read", read)
        await store(database, 1, [each for each in week(5) if begins <= each.time < begins + 24 * HOUR])
        await ask(sources, MAY, end)
        return found

    monkeypatch.setattr(report_days, "read", read_before_a_change)
    assert await ask(sources, MAY, end) == await ask(sources, MAY, end, kept=False)


async def test_days_are_dropped_after_a_retention_that_was_cut_off_behind_their_positions(
    sources, database, monkeypatch
):
    number = (await devices.TABLE.insert(database, Device(name="one", unique_id="1"))).id
    await store(database, number, week(3))
    end = MAY + timedelta(days=7) - timedelta(milliseconds=1)
    await ask(sources, MAY, end, device_id=number)
    cutoff = MAY + timedelta(days=3)

    async def cut_off(*_args):
        raise KeyError

    with monkeypatch.context() as patch:
        patch.setattr(report_days, "drop_before", cut_off)
        with pytest.raises(KeyError):
            await expired_positions.delete_before(database, cutoff)
    assert await expired_positions.delete_before(database, cutoff) == 0
    assert await database.fetch_value("select min(begins) from report_days") == cutoff
    fresh = await ask(sources, MAY, end, device_id=number, kept=False)
    assert await ask(sources, MAY, end, device_id=number) == fresh


async def test_a_day_that_is_not_over_is_not_kept(sources, database):
    await store(database, 1, week(1, start=NOW - timedelta(days=2), days=2))
    await ask(sources, NOW - timedelta(days=3), NOW)
    begun = {row[0] for row in await database.fetch("select begins from report_days")}
    assert begun == {NOW - timedelta(days=3), NOW - timedelta(days=2)}


async def test_what_is_kept_never_differs_from_a_fresh_computation(sources, database, seed):
    chance = random.Random(seed)
    waiting = week(seed)
    chance.shuffle(waiting)
    zone = chance.choice([UTC, BERLIN, KATHMANDU])
    hits = 0
    while waiting:
        await store(database, 1, [waiting.pop() for _ in range(min(len(waiting), chance.randrange(1, 120)))])
        if chance.random() < 0.3:
            start = MAY + chance.randrange(160) * HOUR
            async with database.transaction() as transaction:
                await positions.delete_between(transaction, 1, start, start + chance.randrange(9) * HOUR)
        if chance.random() < 0.2:
            found = await database.fetch_value("select id from positions order by random() limit 1")
            async with database.transaction() as transaction:
                await positions.delete(transaction, found or 0)
        for _ in range(2):
            start = MAY + chance.choice([-24, 0, 24, 7]) * HOUR
            end = (
                start
                + chance.choice([24, 72, 200]) * HOUR
                - chance.choice([0, 1]) * timedelta(milliseconds=1)
            )
            hits += await database.fetch_value("select count(*) from report_days")
            assert await ask(sources, start, end, zone=zone) == await ask(
                sources, start, end, zone=zone, kept=False
            )
            days = await find_periods(sources, 1, start, end, zone)
            assert days == await find_periods(sources, 1, start, end, zone, kept=False)
            found = await find_days(sources, 1, start, end, DEFAULTS, zone)
            assert found == await find_days(sources, 1, start, end, DEFAULTS, zone, kept=False)
    assert hits


async def test_a_result_is_not_stored_over_a_change_that_came_meanwhile(sources, database):
    await store(database, 1, week(2, days=1))
    known = await report_days.version(database, 1)
    day = (MAY, MAY + 24 * HOUR, b"s", b"{}", None)
    await store(database, 1, week(5, days=1))
    await report_days.store(database, 1, known, b"x", [day])
    assert await database.fetch_value("select count(*) from report_days") == 0
    # One that is being committed is waited for.
    known = await report_days.version(database, 1)
    async with trio.open_nursery() as nursery, database.transaction() as transaction:
        await report_days.drop(transaction, [(1, MAY)])
        nursery.start_soon(report_days.store, database, 1, known, b"x", [day])
        while not await database.fetch_value(WAITING):  # noqa: ASYNC110 - the database tells nobody
            await trio.sleep(0.01)
    assert await database.fetch_value("select count(*) from report_days") == 0
    await report_days.store(database, 1, known + 1, b"x", [day])
    assert await database.fetch_value("select count(*) from report_days") == 1


class Change:
    """A late position that is stored, step by step."""

    def __init__(self, database, position_id, *, is_undone=False):
        self._stack = AsyncExitStack()
        self._database = database
        self._row = position_rows.pack_row(row_of(1, position_id, POINT))
        self._is_undone = is_undone
        self.steps = (self._look, self._copy, self._end)

    async def _look(self):
        self._transaction = await self._stack.enter_async_context(self._database.transaction())
        await report_days.drop(self._transaction, [(1, MAY)])

    async def _copy(self):
        await self._transaction.copy_binary("positions", position_rows.COLUMNS, copy_data([self._row]))

    async def _end(self):
        error = KeyError() if self._is_undone else None
        await self._stack.__aexit__(type(error) if error else None, error, None)


class QuickChange(Change):
    """One that looks when the position is stored."""

    def __init__(self, database, position_id, *, is_undone=False):
        super().__init__(database, position_id, is_undone=is_undone)
        self.steps = (self._copy, self._look, self._end)

    async def _copy(self):
        self._transaction = await self._stack.enter_async_context(self._database.transaction())
        await super()._copy()

    async def _look(self):
        try:
            await self._transaction.execute(report_days.expect_none([1]))
        except VersionFound as error:
            await self._stack.__aexit__(type(error), error, None)
            await super()._look()
            await super()._copy()


class Counting:
    """A report whose result for the day is the number of its positions, step by step."""

    def __init__(self, database, nursery):
        self._database = database
        self._nursery = nursery
        self.steps = (self._begin, self._read, self._store)

    async def _begin(self):
        self._version = await report_days.version(self._database, 1)

    async def _read(self):
        self._count = await count(self._database)

    async def _store(self):
        if self._version is None:
            return
        day = (MAY, MAY + 24 * HOUR, b"s", str(self._count).encode(), None)
        stored = trio.Event()

        async def store_day():
            await report_days.store(self._database, 1, self._version, b"x", [day])
            stored.set()

        self._nursery.start_soon(store_day)
        # It is done, or it waits for the change.
        while not (stored.is_set() or await self._database.fetch_value(WAITING)):  # noqa: ASYNC110
            await trio.sleep(0.001)


async def count(database):
    return await database.fetch_value("select count(*) from positions where device_id = 1")


INTERLEAVINGS = sorted(set(itertools.permutations("cccrrr")))


@pytest.mark.parametrize("is_undone", [False, True], ids=["committed", "undone"])
@pytest.mark.parametrize("is_known", [False, True], ids=["first report", "later report"])
@pytest.mark.parametrize("kind", [Change, QuickChange])
async def test_no_order_of_a_change_and_a_report_keeps_what_is_not_so(
    database, monkeypatch, is_undone, is_known, kind
):
    monkeypatch.setattr(report_days, "PAUSE_SECONDS", 0.0)
    kept = 0
    for number, order in enumerate(INTERLEAVINGS, 1):
        for table in ("positions", "report_versions", "report_days"):
            await database.execute(f"delete from {table}")
        if is_known:
            await report_days.version(database, 1)
        async with trio.open_nursery() as nursery:
            change = iter(kind(database, number, is_undone=is_undone).steps)
            report = iter(Counting(database, nursery).steps)
            for step in order:
                await next(change if step == "c" else report)()
        results = [int(row[0]) for row in await database.fetch("select result from report_days")]
        assert set(results) <= {await count(database)}, order
        kept += len(results)
    # One that begins after the change, and one that ends before it or waits for one that is undone.
    assert kept


async def test_of_one_day_a_few_results_are_kept(sources, database):
    await store(database, 1, week(2, days=2))
    for distance in range(100, 112):
        await ask(sources, MAY, MAY + timedelta(days=1), settings=TripSettings(min_distance=float(distance)))
    assert await database.fetch_value("select count(*) from report_days") == report_days.VARIANTS
    newest = TripSettings(min_distance=111.0)
    again = await ask(sources, MAY, MAY + timedelta(days=1), settings=newest)
    assert again == await ask(sources, MAY, MAY + timedelta(days=1), settings=newest, kept=False)


async def test_retention_and_the_end_of_a_device_drop_what_is_kept(sources, database):
    number = (await devices.TABLE.insert(database, Device(name="one", unique_id="1"))).id
    await store(database, number, week(2))
    await ask(sources, MAY, MAY + timedelta(days=7), device_id=number)
    await expired_positions.delete_before(database, MAY + timedelta(days=3, hours=12))
    begun = {row[0] for row in await database.fetch("select begins from report_days")}
    assert begun == {MAY + timedelta(days=day) for day in (4, 5, 6)}
    end = MAY + timedelta(days=7)
    fresh = await ask(sources, MAY, end, device_id=number, kept=False)
    assert await ask(sources, MAY, end, device_id=number) == fresh
    await devices.TABLE.delete(database, number)
    while await positions.purge_deleted(database):
        pass
    assert await database.fetch_value("select count(*) from report_days") == 0
    assert await database.fetch_value("select count(*) from report_versions") == 0
