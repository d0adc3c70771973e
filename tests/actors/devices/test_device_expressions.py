"""Computed attributes that are much work are computed beside the loop, those of most devices on it."""

import threading
from datetime import UTC, datetime, timedelta

from motorpool.actors.devices import device_positions
from motorpool.actors.messages.uplink import PositionReported
from motorpool.actors.rules.expressions import WORK_HERE
from motorpool.actors.rules.fold import fold
from motorpool.codecs.reports import PositionReport
from motorpool.storage import plain_tables
from motorpool.storage.accounts import links
from motorpool.storage.records import ComputedAttribute

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
NOTE = "x" * 200


async def compute(database, device, expression, count=1, **fields):
    """Link computed attributes `a0`, `a1`, … to a device."""
    for number in range(count):
        row = ComputedAttribute(attribute=f"a{number}", expression=expression, type="string", **fields)
        row = await plain_tables.COMPUTED_ATTRIBUTES.insert(database, row)
        await links.add(database, links.DEVICE_ATTRIBUTE, device.id, row.id)


def report(number=0):
    moment = NOW + timedelta(seconds=number)
    attributes = {"note": NOTE, "number": number}
    return PositionReport(attributes, device_time=moment, valid=True, latitude=1.0, longitude=2.0)


class Threads:
    """Notes in which thread positions are made, and with how much work."""

    def __init__(self, monkeypatch):
        self.here = threading.get_ident()
        self.seen = []

        def noted(report, state, context):
            self.seen.append((threading.get_ident() == self.here, context.work_here))
            return fold(report, state, context)

        monkeypatch.setattr(device_positions, "fold", noted)


async def test_what_people_compute_is_computed_on_the_loop(
    database, make_device, device_harness, time, until, monkeypatch
):
    row = await make_device()
    await compute(database, row, "note.length() > 100 ? 'long' : 'short'", 20)
    async with device_harness() as running:
        connection, _ = await running.connect(row)
        threads = Threads(monkeypatch)
        await running.device(row).tell(PositionReported(report(), "jt808", connection))
        await until(lambda: running.positions)
        assert threads.seen == [(True, WORK_HERE)]
        assert running.positions[0].attributes["a19"] == "long"


async def test_what_is_much_work_is_computed_in_a_thread_in_the_order_of_reports(
    database, make_device, device_harness, time, until, monkeypatch
):
    row, other = await make_device(), await make_device("2")
    await compute(database, row, "number + note.toUpperCase()", 10)
    await compute(database, row, "note.repeat(3)", 3, priority=-1)
    async with device_harness() as running:
        connection, _ = await running.connect(row)
        theirs, _ = await running.connect(other)
        threads = Threads(monkeypatch)
        for number in range(3):
            await running.device(row).tell(PositionReported(report(number), "jt808", connection))
        await running.device(other).tell(PositionReported(report(), "jt808", theirs))
        await until(lambda: len(running.positions) == 4)
        assert sorted(threads.seen, key=str) == [(False, None)] * 3 + [(True, WORK_HERE)] * 4
        mine = [each for each in running.positions if each.device_id == row.id]
        assert [each.attributes["number"] for each in mine] == [0, 1, 2]
        assert [each.attributes["a9"] for each in mine] == [f"{number}{NOTE.upper()}" for number in range(3)]


async def test_what_is_too_much_fails_there_as_well_and_is_told_once(
    database, make_device, device_harness, time, until, caplog
):
    row = await make_device()
    await compute(database, row, f"[{','.join(['note.repeat(40)'] * 20)}].size()")
    async with device_harness() as running:
        connection, _ = await running.connect(row)
        for number in range(2):
            await running.device(row).tell(PositionReported(report(number), "jt808", connection))
        await until(lambda: len(running.positions) == 2)
        assert all("a0" not in each.attributes for each in running.positions)
    told = [each.getMessage() for each in caplog.records if "has failed" in each.getMessage()]
    assert len(told) == 1
    assert told[0].endswith("the expression takes too much work")
