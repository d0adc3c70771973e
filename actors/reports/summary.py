"""The summary of a device, of the whole span or of each day (docs/reports.md#summary)."""

from collections.abc import AsyncGenerator
from datetime import datetime

from motorpool.actors.reports.figures import compare, knots
from motorpool.actors.reports.items import SummaryItem
from motorpool.actors.reports.periods import Period, find_periods, next_days
from motorpool.actors.reports.sources import ReportQuery, ReportRules, Sources, Viewer
from motorpool.actors.reports.track import find_distances
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
            distances = await find_distances(
                sources, device.id, query.start, query.end, rules.settings.trips, zone
            )
        if found:
            whole = Period(found[0].first, found[-1].last, max(period.max_speed for period in found))
            yield [_item(device, rules, whole, sum(metres for _, metres in distances))]
        return
    start: datetime | None = query.start
    while start is not None:
        async with sources.slots:
            days = await next_days(sources, device.id, start, query.end, zone)
            if days is None:
                return
            found = await find_periods(sources, device.id, days.begin, days.end, zone)
            distances = await find_distances(
                sources, device.id, days.begin, days.end, rules.settings.trips, zone
            )
        items = []
        for period in found:
            # Both are in order; days without positions have no period.
            metres = next(metres for ends, metres in distances if period.first.fix_time < ends)
            items.append(_item(device, rules, period, metres))
        yield items
        start = days.later


def _item(device: Device, rules: ReportRules, period: Period, metres: float) -> SummaryItem:
    figures = compare(period.first, period.last, rules, metres)
    hours = max(0, figures.end_hours - figures.start_hours)
    return SummaryItem(
        device_id=device.id,
        device_name=device.name,
        distance=figures.distance,
        average_speed=knots(figures.distance, hours / 1000),
        max_speed=period.max_speed,
        spent_fuel=figures.spent_fuel,
        start_odometer=figures.start_odometer,
        end_odometer=figures.end_odometer,
        start_time=period.first.fix_time,
        end_time=period.last.fix_time,
        start_hours=figures.start_hours,
        end_hours=figures.end_hours,
        engine_hours=hours,
    )
