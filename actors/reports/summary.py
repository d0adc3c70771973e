"""The summary of a device, of the whole span or of each day (docs/reports.md#summary)."""

from collections.abc import AsyncGenerator
from datetime import datetime
from itertools import islice, takewhile

from motorpool.actors.reports.days import midnights
from motorpool.actors.reports.figures import compare, end_point, knots
from motorpool.actors.reports.items import SummaryItem
from motorpool.actors.reports.sources import ReportQuery, ReportRules, Sources, Viewer
from motorpool.storage import report_rows
from motorpool.storage.records import Device
from motorpool.storage.report_rows import PeriodEnds

__all__ = ["summary"]

DAYS = 400
"""Days that one statement evaluates."""


async def summary(
    sources: Sources, viewer: Viewer, device: Device, query: ReportQuery
) -> AsyncGenerator[list[SummaryItem], None]:
    """Yield one item, with `query.daily` one for each day; periods without positions have none."""
    rules = await sources.rules_of(device)
    if not query.daily:
        async with sources.slots:
            periods = await report_rows.period_ends(sources.database, device.id, query.start, query.end)
        yield [_item(device, rules, each) for each in periods]
        return
    start: datetime | None = query.start
    while start is not None:
        async with sources.slots:
            # From the first day with a position on: a span may be thousands of years long.
            start = await report_rows.first_fix_time(sources.database, device.id, start, query.end)
            if start is None:
                return
            ends = takewhile(lambda each: each <= query.end, midnights(start, viewer.preferences.zone))
            cuts = list(islice(ends, DAYS))
            is_last = len(cuts) < DAYS
            periods = await report_rows.period_ends(
                sources.database, device.id, start, query.end if is_last else cuts[-1], cuts=cuts
            )
        if not is_last and periods and periods[-1].first.fix_time >= cuts[-1]:
            # The last cut is the first instant of the next day, which is not complete.
            periods.pop()
        yield [_item(device, rules, each) for each in periods]
        start = None if is_last else cuts[-1]


def _item(device: Device, rules: ReportRules, period: PeriodEnds) -> SummaryItem:
    figures = compare(end_point(period.first), end_point(period.last), rules)
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
