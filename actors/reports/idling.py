"""When devices stood with the engine running (docs/reports.md#idling)."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import timedelta
from typing import Final

from motorpool.actors.reports.items import IdlingItem
from motorpool.actors.reports.names import with_addresses
from motorpool.actors.reports.sources import ReportQuery, Sources, Viewer
from motorpool.actors.rules.distance import great_circle
from motorpool.actors.rules.trip_detection import FAST_KNOTS
from motorpool.storage.records import Device
from motorpool.storage.reports.engine_rows import Reading, stream_readings

MAX_GAP: Final = timedelta(minutes=15)
"""Between readings that are farther apart the engine is not known to have run."""
MAX_METRES: Final = 50.0
"""A device that is no farther from where it halted still stands there."""
BATCH: Final = 200
"""Items that are yielded at once."""


class IdlingFinder:
    """Finds the spans in which a device stands with its engine running, from its readings in order."""

    def __init__(self, least: timedelta) -> None:
        self._least = least
        self._first: Reading | None = None
        self._last: Reading | None = None

    def add(self, reading: Reading) -> tuple[Reading, Reading] | None:
        """Add a reading; return the first and the last one of the span that it has ended, if it is long enough."""
        first, last = self._first, self._last
        stands = reading.speed < FAST_KNOTS and reading.is_running
        if first is not None and last is not None:
            is_near = _metres(first, reading) <= MAX_METRES and reading.time - last.time <= MAX_GAP
            if is_near and stands:
                self._last = reading
                return None
            if is_near and reading.speed < FAST_KNOTS:
                # It was switched off since: the reading that says so ends the span.
                last = reading
        self._first = self._last = reading if stands else None
        return self._found(first, last)

    def end(self) -> tuple[Reading, Reading] | None:
        """Return the last span, at the end of the readings."""
        return self._found(self._first, self._last)

    def _found(self, first: Reading | None, last: Reading | None) -> tuple[Reading, Reading] | None:
        if first is None or last is None or last.time - first.time < self._least:
            return None
        return first, last


async def idling(
    sources: Sources, viewer: Viewer, device: Device, query: ReportQuery
) -> AsyncGenerator[list[IdlingItem], None]:
    """Yield when a device stood with the engine running, in order."""
    del viewer
    rules = await sources.rules_of(device)
    finder = IdlingFinder(timedelta(seconds=rules.idling_seconds))
    found: list[tuple[Reading, Reading] | None] = []
    async with (
        sources.slots,
        aclosing(stream_readings(sources.database, device.id, query.start, query.end)) as batches,
    ):
        async for batch in batches:
            found += [span for span in map(finder.add, batch) if span is not None]
    found.append(finder.end())
    spans = [span for span in found if span is not None]
    for begin in range(0, len(spans), BATCH):
        part = spans[begin : begin + BATCH]
        places = await with_addresses(sources, [first for first, _ in part])
        yield [
            IdlingItem(
                device_id=device.id,
                device_name=device.name,
                spent_fuel=_spent_fuel(first, last, rules.fuel_capacity),
                start_time=first.time,
                end_time=last.time,
                position_id=first.position_id,
                latitude=first.latitude,
                longitude=first.longitude,
                address=address,
                duration=(last.time - first.time) // timedelta(milliseconds=1),
            )
            for (first, last), address in zip(part, places, strict=True)
        ]


def _spent_fuel(first: Reading, last: Reading, capacity: float) -> float:
    """Litres, by what counts them if something does; 0 if the tank was filled meanwhile, or nothing is known."""
    spent = 0.0
    if first.fuel_used is not None and last.fuel_used is not None:
        spent = last.fuel_used - first.fuel_used
    elif first.fuel is not None and last.fuel is not None:
        spent = first.fuel - last.fuel
    elif first.fuel_level is not None and last.fuel_level is not None:
        spent = (first.fuel_level - last.fuel_level) / 100 * capacity
    return round(max(0.0, spent), 2)


def _metres(one: Reading, other: Reading) -> float:
    return great_circle(one.latitude, one.longitude, other.latitude, other.longitude)
