"""What drivers did in a span of time (docs/drivers.md#report)."""

from bisect import bisect_right
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

import msgspec

from motorpool.actors.reports.driver_score import Counts, ScoreWeights, score
from motorpool.actors.reports.items import DriverHours, DriverItem, HoursBreach, TripItem, UsedTime
from motorpool.actors.reports.sources import ReportQuery, Sources, Viewer, devices_of
from motorpool.actors.reports.trip_drivers import TripDriver
from motorpool.actors.reports.trips import trips
from motorpool.actors.rules.driver_hours import LOOK_BACK, Hours, Limits, Span, Time, hours_at, joined
from motorpool.actors.rules.position_event import read_finite
from motorpool.actors.rules.rule_settings import RuleSettings, read_rule_settings
from motorpool.storage.plain_tables import DRIVERS
from motorpool.storage.records import Device, Event
from motorpool.storage.reports import report_rows
from motorpool.storage.reports.report_rows import Speeding

MILLISECOND: Final = timedelta(milliseconds=1)
EARLIEST: Final = datetime(1970, 3, 1, tzinfo=UTC)
"""No instant of a report of hours is earlier."""
HARSH: Final = {
    "hardAcceleration": "accelerations",
    "hardBraking": "brakings",
    "hardCornering": "cornerings",
}
PHONE: Final = frozenset({"phoneUse", "phoneScreen"})
NO_FATIGUE: Final = frozenset({"drivingTimeExceeded"})
"""Details of `fatigueDriving` that a clock tells, and no camera."""


class _Noted(NamedTuple):
    """What was noted of each driver in a device."""

    device_id: int
    weights: ScoreWeights
    settings: RuleSettings
    counts: dict[TripDriver, Counts]
    until: dict[TripDriver, datetime]
    """The end of the last trip of each."""


async def drivers(
    sources: Sources, viewer: Viewer, query: ReportQuery
) -> AsyncGenerator[tuple[None, list[DriverItem]], None]:
    """Yield the drivers of the trips of devices by name, and last what nobody is known to have driven."""
    noted: list[_Noted] = []
    async with aclosing(devices_of(sources, viewer, query, batch=1)) as batches:
        async for (device,) in batches:
            found = await _of_device(sources, viewer, device, query)
            if found.counts:
                noted.append(found)
    visible = set(await viewer.still_visible([each.device_id for each in noted]))
    parts: dict[TripDriver, list[tuple[Counts, ScoreWeights]]] = {}
    for each in noted:
        if each.device_id in visible:
            for driver, counts in each.counts.items():
                parts.setdefault(driver, []).append((counts, each.weights))
    hours = await _hours(sources, viewer, query, [each for each in noted if each.device_id in visible])
    items = [
        _item(driver, parts[driver], hours.get(driver.driver_id or 0)) for driver in sorted(parts, key=_order)
    ]
    if items:
        yield None, items


async def _hours(
    sources: Sources, viewer: Viewer, query: ReportQuery, noted: Sequence[_Noted]
) -> dict[int, DriverHours]:
    """Return the hours of the drivers who have limits: their own, else those of what they drove last."""
    last: dict[int, tuple[datetime, RuleSettings]] = {}
    for each in noted:
        for driver, until in each.until.items():
            known = last.get(driver.driver_id or 0)
            if driver.driver_id and (known is None or known[0] < until):
                last[driver.driver_id] = until, each.settings
    limits: dict[int, Limits] = {}
    for row in await DRIVERS.fetch_many(sources.database, sorted(last)):
        found = read_rule_settings((row.attributes,), last[row.id][1]).driver_hours
        if found.any:
            limits[row.id] = found
    if not limits:
        return {}
    at = max(EARLIEST, min(query.end, sources.system.clock.now()))
    earlier = msgspec.structs.replace(query, start=at - LOOK_BACK, end=at)
    driven: dict[int, list[Span]] = {number: [] for number in limits}
    async with aclosing(devices_of(sources, viewer, earlier, batch=1)) as batches:
        async for (device,) in batches:
            async with aclosing(trips(sources, viewer, device, earlier, places=False)) as found_trips:
                async for batch in found_trips:
                    for trip in batch:
                        if trip.driver_id in driven:
                            driven[trip.driver_id].append(Span(trip.start_time, trip.end_time))
    return {
        number: _shown(hours_at(joined(driven[number]), of, at), at, query.start)
        for number, of in limits.items()
    }


def _shown(hours: Hours, at: datetime, since: datetime) -> DriverHours:
    return DriverHours(
        at=at,
        driving=_used(hours.driving),
        daily=_used(hours.daily),
        weekly=_used(hours.weekly),
        fortnightly=_used(hours.fortnightly),
        daily_rest_by=hours.daily_rest_by,
        weekly_rest_by=hours.weekly_rest_by,
        breaches=[HoursBreach(*breach) for breach in hours.breaches if breach.at >= since],
    )


def _used(time: Time | None) -> UsedTime | None:
    if time is None:
        return None
    return UsedTime(*(round(each / MILLISECOND) for each in (time.used, time.allowed, time.left)))


async def _of_device(sources: Sources, viewer: Viewer, device: Device, query: ReportQuery) -> _Noted:
    wanted = set(query.driver_ids)
    driven: list[TripItem] = []
    async with aclosing(trips(sources, viewer, device, query, places=False)) as batches:
        async for batch in batches:
            driven += [trip for trip in batch if not wanted or trip.driver_id in wanted]
    rules = await sources.rules_of(device)
    noted = _Noted(device.id, rules.score, rules.settings, {}, {})
    if not driven:
        return noted
    for trip in driven:
        counts = noted.counts.setdefault(_driver_of(trip), Counts())
        counts.add(Counts(trips=1, distance=trip.distance, duration=trip.duration))
        noted.until[_driver_of(trip)] = trip.end_time
    episodes: list[tuple[Speeding, TripDriver]] = []
    types = ("alarm", "deviceOverspeed")
    async with aclosing(
        report_rows.stream_events(sources.database, (device.id,), query.start, query.end, types=types)
    ) as parts:
        async for events in parts:
            for event in events:
                of, name = _trip_of(driven, event.event_time), _kind(event)
                if of is None or name is None:
                    continue
                driver = _driver_of(of)
                setattr(noted.counts[driver], name, getattr(noted.counts[driver], name) + 1)
                limit = read_finite(event.attributes.get("speedLimit"))
                if name == "overspeeds" and limit is not None:
                    episodes.append((Speeding(event.event_time, of.start_time, of.end_time, limit), driver))
    moments = _apart([each for each, _ in episodes])
    spans = await report_rows.speeding_spans(sources.database, device.id, moments)
    counted: datetime | None = None
    for (start, end), (_, driver) in sorted(zip(spans, episodes, strict=True), key=lambda pair: pair[0]):
        # Of two events at one time, such as of a geofence in another, the time counts once.
        begin = start if counted is None else max(start, counted)
        if end > begin:
            noted.counts[driver].speeding += (end - begin) / MILLISECOND
            counted = end
    return noted


def _apart(moments: Sequence[Speeding]) -> list[Speeding]:
    """Let each moment, which are in order, count only from the one before it to the next.

    Another limit holds there; and many within one long drive are read once, not each with the whole drive.
    """
    if not moments:
        return []
    times, begin, end = [each.time for each in moments], moments[0].start, moments[-1].end
    return [
        each._replace(start=max(each.start, before), end=min(each.end, after))
        for each, before, after in zip(moments, [begin, *times[:-1]], [*times[1:], end], strict=True)
    ]


def _kind(event: Event) -> str | None:
    """Return which of the counts an event belongs to."""
    if event.type == "deviceOverspeed":
        return "overspeeds"
    alarm, exact = event.attributes.get("alarm"), event.attributes.get("alarmDetail")
    details = {each.partition(":")[0] for each in exact.split(",")} if isinstance(exact, str) else set()
    if details & PHONE:
        return "phone_alarms"
    if alarm == "fatigueDriving":
        return None if details and details <= NO_FATIGUE else "fatigue_alarms"
    return HARSH.get(alarm) if isinstance(alarm, str) else None


def _trip_of(driven: Sequence[TripItem], instant: datetime) -> TripItem | None:
    """Return the trip during which an instant lies; both ends belong to it, of two the later one."""
    index = bisect_right(driven, instant, key=lambda trip: trip.start_time) - 1
    return driven[index] if index >= 0 and instant <= driven[index].end_time else None


def _driver_of(trip: TripItem) -> TripDriver:
    return TripDriver(trip.driver_id, trip.driver_unique_id, trip.driver_name)


def _order(driver: TripDriver) -> tuple[bool, str, str, int]:
    is_nobody = driver.unique_id is None
    return is_nobody, (driver.name or "").casefold(), driver.unique_id or "", driver.driver_id or 0


def _item(
    driver: TripDriver, parts: Sequence[tuple[Counts, ScoreWeights]], hours: DriverHours | None
) -> DriverItem:
    found = score(parts)
    return DriverItem(
        driver_id=driver.driver_id,
        driver_unique_id=driver.unique_id,
        driver_name=driver.name,
        trips=found.total.trips,
        distance=round(found.total.distance, 2),
        duration=round(found.total.duration),
        speeding=found.speeding,
        score=found.score,
        score_formula=found.formula,
        hours=hours,
        **found.counts,
    )
