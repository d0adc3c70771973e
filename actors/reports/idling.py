"""When devices stood with the engine running (docs/reports.md#idling)."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import timedelta
from typing import Final

from motorpool.actors.reports.engine import MILLISECOND, Engine, Idling, IdlingFinder
from motorpool.actors.reports.figures import spent_fuel
from motorpool.actors.reports.items import IdlingItem
from motorpool.actors.reports.names import in_words, with_addresses
from motorpool.actors.reports.sources import ReportQuery, Sources, Viewer
from motorpool.storage.records import Device
from motorpool.storage.reports.engine_rows import stream_readings

BATCH: Final = 200
"""Items that are yielded at once."""


async def idling(
    sources: Sources, viewer: Viewer, device: Device, query: ReportQuery
) -> AsyncGenerator[list[IdlingItem], None]:
    """Yield when a device stood with the engine running, in order."""
    rules = await sources.rules_of(device)
    engine = Engine(rules.settings.engine_charging_voltage)
    finder = IdlingFinder(timedelta(seconds=rules.settings.report_idling_min_duration))
    found: list[Idling] = []
    async with (
        sources.slots,
        aclosing(stream_readings(sources.database, device.id, query.start, query.end)) as batches,
    ):
        async for batch in batches:
            found += [span for each in batch if (span := finder.add(each, runs=engine.add(each))) is not None]
    if (last := finder.end()) is not None:
        found.append(last)
    for begin in range(0, len(found), BATCH):
        part = found[begin : begin + BATCH]
        points = [span.first for span in part]
        addresses = await with_addresses(sources, points)
        places = await in_words(sources, viewer, points, addresses)
        yield [
            IdlingItem(
                device_id=device.id,
                device_name=device.name,
                start_time=span.first.fix_time,
                end_time=span.last.fix_time,
                duration=span.duration // MILLISECOND,
                position_id=span.first.position_id,
                latitude=span.first.latitude,
                longitude=span.first.longitude,
                address=address,
                place=place,
                spent_fuel=max(0.0, spent_fuel(span.first, span.last, rules.settings.fuel_capacity)),
            )
            for span, address, place in zip(part, addresses, places, strict=True)
        ]
