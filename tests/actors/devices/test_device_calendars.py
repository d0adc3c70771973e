"""Positions of devices and geofences with calendars: windows are computed beside the loop, and looked up."""

import base64
from datetime import UTC, datetime, timedelta

from motorpool.actors.devices import device_positions
from motorpool.actors.devices.rule_cache import PREPARE_SECONDS
from motorpool.actors.messages.uplink import PositionReported
from motorpool.actors.rules.fold import fold
from motorpool.codecs.calendars.calendar import read_calendar
from motorpool.codecs.calendars.cost import BLOCK_DAYS, MAX_COST
from motorpool.codecs.reports import PositionReport
from motorpool.storage import plain_tables
from motorpool.storage.accounts import links
from motorpool.storage.records import Calendar, Geofence

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
DAY = timedelta(days=1)
MINUTE = timedelta(minutes=1)
CIRCLE = "CIRCLE (1 2, 100)"
DEAREST = ["DTSTART:20200101T000000Z\nDURATION:P3600D\nRRULE:FREQ=DAILY"] * 20
OFFICE = ["DTSTART:20200105T080000Z\nDURATION:PT9H\nRRULE:FREQ=DAILY"]


def encoded(events):
    lines = ["BEGIN:VCALENDAR"]
    for number, event in enumerate(events):
        lines += ["BEGIN:VEVENT", f"UID:{number}", event, "END:VEVENT"]
    return base64.b64encode("\n".join([*lines, "END:VCALENDAR"]).encode()).decode()


async def calendar(database, events):
    row = Calendar(name="c", data=encoded(events))
    return (await plain_tables.CALENDARS.insert(database, row)).id


def fix(moment, latitude=1.0):
    return PositionReport({}, device_time=moment, valid=True, latitude=latitude, longitude=2.0)


async def test_positions_are_kept_or_dropped_by_windows_that_are_computed_once(
    database, make_device, device_harness, time, until, calendar_steps
):
    row = await make_device(calendar_id=await calendar(database, OFFICE))
    async with device_harness() as running:
        connection, _ = await running.connect(row)
        device = running.device(row)
        moments = [NOW, NOW.replace(hour=6), NOW.replace(hour=16, minute=59), NOW.replace(hour=17)]
        for moment in moments[:1]:
            await device.tell(PositionReported(fix(moment), "jt808", connection))
        await until(lambda: running.positions)
        assert calendar_steps.spent > 0
        calendar_steps.spent = 0
        for moment in moments[1:] * 50:
            await device.tell(PositionReported(fix(moment), "jt808", connection))
        await time.settle()
        assert calendar_steps.spent == 0
        assert {each.fix_time for each in running.positions} == {moments[0], moments[2]}
        # What comes from the device's memory is of another block; what is farther than five years is dropped.
        for days in (-400, -5000, 5000):
            await device.tell(PositionReported(fix(NOW + days * DAY), "jt808", connection))
        await until(lambda: running.positions[-1].fix_time == NOW - 400 * DAY)


async def test_the_dearest_calendar_that_is_accepted_costs_a_position_nothing(
    database, make_device, device_harness, time, until, calendar_steps
):
    assert MAX_COST * 0.9 < read_calendar(base64.b64decode(encoded(DEAREST))).cost <= MAX_COST
    row = await make_device(calendar_id=await calendar(database, DEAREST))
    for _ in range(3):
        fence = Geofence(name="g", area=CIRCLE, calendar_id=await calendar(database, DEAREST))
        fence = await plain_tables.GEOFENCES.insert(database, fence)
        await links.add(database, links.DEVICE_GEOFENCE, row.id, fence.id)
    other = await make_device("2")
    async with device_harness() as running:
        connection, _ = await running.connect(row)
        theirs, _ = await running.connect(other)
        await running.device(row).tell(PositionReported(fix(NOW, 1.02), "jt808", connection))
        # A device without them goes on while they are computed.
        await running.device(other).tell(PositionReported(fix(NOW), "jt808", theirs))
        await until(lambda: running.positions)
        assert running.positions[0].device_id == other.id
        await until(lambda: len(running.positions) == 2)
        # The first to enter the geofences has their windows computed.
        await running.device(row).tell(PositionReported(fix(NOW + MINUTE), "jt808", connection))
        await until(lambda: len(running.positions) == 3)
        spent, calendar_steps.spent = calendar_steps.spent, 0
        assert 0 < spent < 8 * MAX_COST
        for minute in range(2, 100):
            report = fix(NOW + minute * MINUTE, 1.0 + minute % 2 * 0.02)
            await running.device(row).tell(PositionReported(report, "jt808", connection))
        await until(lambda: len(running.positions) == 101)
        assert calendar_steps.spent == 0
        assert len([event for each in running.appended for event in each.events]) > 250


async def test_a_position_is_processed_twice_however_many_calendars_it_needs(
    database, make_device, device_harness, until, monkeypatch
):
    row = await make_device()
    for _ in range(5):
        fence = Geofence(name="g", area=CIRCLE, calendar_id=await calendar(database, OFFICE))
        fence = await plain_tables.GEOFENCES.insert(database, fence)
        await links.add(database, links.DEVICE_GEOFENCE, row.id, fence.id)
    folds = []

    def counted(report, *others):
        folds.append(report)
        return fold(report, *others)

    monkeypatch.setattr(device_positions, "fold", counted)
    async with device_harness() as running:
        connection, _ = await running.connect(row)
        for moment, latitude in ((NOW, 1.02), (NOW + MINUTE, 1.0)):
            await running.device(row).tell(PositionReported(fix(moment, latitude), "jt808", connection))
        await until(lambda: len(running.positions) == 2)
        events = [event.type for each in running.appended for event in each.events]
        assert events.count("geofenceEnter") == 5
    assert len(folds) == 3


async def test_the_windows_of_the_next_days_are_computed_before_positions_need_them(
    database, make_device, device_harness, time, until, calendar_steps
):
    row = await make_device(calendar_id=await calendar(database, OFFICE))
    async with device_harness() as running:
        connection, _ = await running.connect(row)
        await running.device(row).tell(PositionReported(fix(NOW), "jt808", connection))
        await until(lambda: running.positions)
        calendar_steps.spent = 0
        await time.passes(BLOCK_DAYS * 86_400, step=PREPARE_SECONDS * 6)
        assert calendar_steps.spent > 0
        calendar_steps.spent = 0
        later = running.system.clock.now().replace(hour=12)
        connection, _ = await running.connect(row)
        await running.device(row).tell(PositionReported(fix(later), "jt808", connection))
        await until(lambda: len(running.positions) == 2)
        assert calendar_steps.spent == 0
