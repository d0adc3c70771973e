"""What fuel a device used, took in and lost (docs/reports.md#fuel)."""

from bisect import bisect_right
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from typing import Final

from motorpool.actors.reports.fuel_levels import Change, FuelWatch, Level, least_change
from motorpool.actors.reports.items import FuelChange, FuelItem
from motorpool.actors.reports.periods import Days, next_days
from motorpool.actors.reports.sources import ReportQuery, ReportRules, Sources, Viewer
from motorpool.actors.reports.track import find_track
from motorpool.storage.records import Device
from motorpool.storage.reports.engine_rows import Reading, stream_readings

LEAST_METRES: Final = 1000.0
"""The consumption on a shorter distance says nothing."""


@dataclass
class _Period:
    """What the readings of a day tell, or those of the whole span."""

    ends: datetime
    """Not included."""
    distance: float
    """Metres."""
    first: datetime | None = None
    last: datetime | None = None
    first_level: float | None = None
    last_level: float | None = None
    """Litres in the tank."""
    first_counter: float | None = None
    last_counter: float | None = None
    """Litres used since ever."""
    fills: list[Change] = field(default_factory=list)
    losses: list[Change] = field(default_factory=list)

    def add(self, reading: Reading) -> None:
        if self.first is None:
            self.first = reading.fix_time
        self.last = reading.fix_time
        if reading.fuel_used is not None:
            if self.first_counter is None:
                self.first_counter = reading.fuel_used
            self.last_counter = reading.fuel_used

    def add_level(self, level: Level) -> None:
        if self.first_level is None:
            self.first_level = level.litres
        self.last_level = level.litres

    def begin_after(self, before: "_Period") -> None:
        """Begin with what was known at the end of the period before."""
        if before.last_level is not None:
            self.first_level = before.last_level
            self.last_level = before.last_level if self.last_level is None else self.last_level
        if before.last_counter is not None:
            self.first_counter = before.last_counter
            self.last_counter = before.last_counter if self.last_counter is None else self.last_counter

    def item(self, device: Device) -> FuelItem | None:
        """Return what the report says; None without positions, or if nothing is known."""
        is_known = self.last_level is not None or self.last_counter is not None
        if self.first is None or self.last is None or not is_known:
            return None
        filled, lost = _sum(self.fills), _sum(self.losses)
        used = 0.0
        begin, end = self.first_counter, self.last_counter
        if begin is not None and end is not None and begin <= end:
            used = end - begin
        elif self.first_level is not None and self.last_level is not None:
            used = max(0.0, self.first_level - self.last_level + filled - lost)
        return FuelItem(
            device_id=device.id,
            device_name=device.name,
            start_time=self.first,
            end_time=self.last,
            start_fuel=_rounded(self.first_level),
            end_fuel=_rounded(self.last_level),
            used=round(used, 2),
            filled=round(filled, 2),
            lost=round(lost, 2),
            distance=self.distance,
            consumption=round(used / self.distance * 100_000, 2) if self.distance >= LEAST_METRES else None,
            fills=[_change(each) for each in self.fills],
            losses=[_change(each) for each in self.losses],
        )


async def fuel(
    sources: Sources, viewer: Viewer, device: Device, query: ReportQuery
) -> AsyncGenerator[list[FuelItem], None]:
    """Yield one item, with `query.daily` one for each day; periods in which nothing is known have none."""
    rules = await sources.rules_of(device)
    zone = viewer.preferences.zone
    start: datetime | None = query.start
    while start is not None:
        async with sources.slots:
            part: Days | None = Days(start, query.end, None)
            if query.daily:
                part = await next_days(sources, device.id, start, query.end, zone)
            if part is None:
                return
            segments, days = await find_track(
                sources, device.id, part.begin, part.end, rules.settings.trips, zone
            )
            if query.daily:
                periods = [_Period(day.ends, day.metres) for day in days]
            else:
                periods = [_Period(days[-1].ends, round(sum(day.metres for day in days), 2))]
            stops = [(each.start.fix_time, each.end.fix_time) for each in segments if not each.is_moving]
            await _read(sources, device, part, rules, periods, stops)
        for before, period in pairwise(periods):
            period.begin_after(before)
        items = [period.item(device) for period in periods]
        yield [item for item in items if item is not None]
        start = part.later


async def _read(
    sources: Sources,
    device: Device,
    part: Days,
    rules: ReportRules,
    periods: Sequence[_Period],
    stops: Sequence[tuple[datetime, datetime]],
) -> None:
    """Read what the positions tell into the periods that they lie in."""
    settings = rules.settings
    capacity = settings.fuel_capacity
    watch = FuelWatch(
        capacity,
        least_change(settings.report_fuel_min_fill, capacity),
        least_change(settings.report_fuel_min_loss, capacity),
        stops,
        settings.engine_charging_voltage,
    )
    ends = [period.ends for period in periods[:-1]]

    def period_of(reading: Reading) -> _Period:
        return periods[bisect_right(ends, reading.fix_time)]

    rows = stream_readings(sources.database, device.id, part.begin, part.end)
    async with aclosing(rows) as batches:
        async for batch in batches:
            for reading in batch:
                period_of(reading).add(reading)
                for level in watch.add(reading):
                    period_of(level.reading).add_level(level)
    for level in watch.end():
        period_of(level.reading).add_level(level)
    for fill in watch.fills:
        period_of(fill.reading).fills.append(fill)
    for loss in watch.losses:
        period_of(loss.reading).losses.append(loss)


def _change(change: Change) -> FuelChange:
    reading = change.reading
    return FuelChange(
        time=reading.fix_time,
        position_id=reading.position_id,
        latitude=reading.latitude,
        longitude=reading.longitude,
        litres=round(change.litres, 2),
        before=round(change.before, 2),
        after=round(change.after, 2),
    )


def _sum(changes: Iterable[Change]) -> float:
    return sum(change.litres for change in changes)


def _rounded(litres: float | None) -> float | None:
    return None if litres is None else round(litres, 2)
