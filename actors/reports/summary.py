"""The summary of a device, of the whole span or of each day (docs/reports.md#summary)."""

from collections.abc import AsyncGenerator
from datetime import datetime

from motorpool.actors.reports.figures import compare, knots
from motorpool.actors.reports.items import SummaryItem
from motorpool.actors.reports.periods import Period, find_periods, next_days
from motorpool.actors.reports.sources import ReportQuery, ReportRules, Sources, Viewer
from motorpool.actors.reports.track import find_days
from motorpool.storage.records import Device


async def summary(
    sources: Sources, viewer: Viewer, device: Device, query: ReportQuery
) -> AsyncGenerator[list[SummaryItem], None]:
    """Yield one item, with `query.daily` one for each day; periods without positions have none."""
    rules = await sources.rules_of(device)
    zone = viewer.preferences.zone
    if not query.daily:
        async with sources.slots:
            found = await find_periods(sources, device.id, query.start, query.end, zone)
            days = await find_days(sources, device.id, query.start, query.end, rules.settings.trips, zone)
        if found:
            whole = Period(found[0].first, found[-1].last)
            metres, max_speed = sum(day.metres for day in days), max(day.max_speed for day in days)
            yield [_item(device, rules, whole, metres, max_speed)]
        return
    start: datetime | None = query.start
    while start is not None:
        async with sources.slots:
            part = await next_days(sources, device.id, start, query.end, zone)
            if part is None:
                return
            found = await find_periods(sources, device.id, part.begin, part.end, zone)
            days = await find_days(sources, device.id, part.begin, part.end, rules.settings.trips, zone)
        items = []
        following = iter(days)
        for period in found:
            # Both are in order; days without positions have no period.
            day = next(day for day in following if period.first.fix_time < day.ends)
            items.append(_item(device, rules, period, day.metres, day.max_speed))
        yield items
        start = part.later


def _item(device: Device, rules: ReportRules, period: Period, metres: float, max_speed: float) -> SummaryItem:
    figures = compare(period.first, period.last, rules, metres)
    hours = max(0, figures.end_hours - figures.start_hours)
    return SummaryItem(
        device_id=device.id,
        device_name=device.name,
        distance=figures.distance,
        average_speed=knots(figures.distance, hours / 1000),
        max_speed=max_speed,
        spent_fuel=figures.spent_fuel,
        start_odometer=figures.start_odometer,
        end_odometer=figures.end_odometer,
        start_time=period.first.fix_time,
        end_time=period.last.fix_time,
        start_hours=figures.start_hours,
        end_hours=figures.end_hours,
        engine_hours=hours,
    )
