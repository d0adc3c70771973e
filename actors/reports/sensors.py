"""The values of sensors over time, and how long they were out of range (docs/reports.md#sensors)."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import timedelta
from typing import Final

from motorpool.actors.reports.items import SensorItem
from motorpool.actors.reports.sensor_intervals import SensorSeries, cut, interval_of
from motorpool.actors.reports.sources import ReportQuery, Sources, Viewer
from motorpool.codecs.devices.attributes import unit_of
from motorpool.storage.records import Device
from motorpool.storage.reports.sensor_rows import stream_readings

BATCH: Final = 100
"""Intervals whose items are yielded at once."""
_MILLISECOND: Final = timedelta(milliseconds=1)


async def sensors(
    sources: Sources, viewer: Viewer, device: Device, query: ReportQuery
) -> AsyncGenerator[list[SensorItem], None]:
    """Yield an item for each sensor and interval with values or time out of range, in the order of time."""
    limits = (await sources.rules_of(device)).sensor_limits
    keys = tuple(dict.fromkeys(query.attributes)) or tuple(limits)
    if not keys:
        return
    interval = interval_of(query.end - query.start, timedelta(seconds=query.interval))
    begins = cut(query.start, query.end, interval, viewer.preferences.zone)
    series = [SensorSeries(begins, limits.get(key)) for key in keys]
    async with (
        sources.slots,
        aclosing(stream_readings(sources.database, device.id, keys, query.start, query.end)) as batches,
    ):
        async for batch in batches:
            for instant, values in batch:
                for each, value in zip(series, values, strict=True):
                    if value is not None:
                        each.add(instant, value)
    until = min(query.end, sources.system.clock.now())
    for each in series:
        each.end(until)
    ends = [*begins[1:], query.end]
    places = sorted(set().union(*(each.intervals for each in series)))
    for begin in range(0, len(places), BATCH):
        yield [
            SensorItem(
                device_id=device.id,
                device_name=device.name,
                attribute=key,
                unit=unit_of(key),
                start_time=begins[place],
                end_time=ends[place],
                count=found.count,
                minimum=found.minimum,
                mean=found.mean,
                maximum=found.maximum,
                last=found.last,
                outside=found.outside // _MILLISECOND if key in limits else None,
            )
            for place in places[begin : begin + BATCH]
            for key, each in zip(keys, series, strict=True)
            if (found := each.intervals.get(place)) is not None
        ]
