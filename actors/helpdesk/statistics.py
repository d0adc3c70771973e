"""Statistics of tickets: periods, and figures from what the database counted (docs/tickets.md#statistics)."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta, tzinfo
from decimal import ROUND_HALF_UP, Decimal
from typing import Literal

from motorpool.actors.helpdesk import statistics_records as records
from motorpool.actors.helpdesk.times import whole_second
from motorpool.storage.helpdesk.ticket_backlog import Backlog
from motorpool.storage.helpdesk.ticket_devices import DeviceCount
from motorpool.storage.helpdesk.ticket_statistics import GROUPS, Breaches, Count, Times

MAX_PERIODS = 400
Period = Literal["none", "day", "week", "month"]
AGE_BUCKETS = ("0-1d", "1-3d", "3-7d", "7-14d", "14-30d", "30d+")


def cut_periods(start: datetime, end: datetime, period: Period, zone: tzinfo) -> list[datetime]:
    """Return where the periods of a span begin: at `start`, and at each midnight of the zone that begins
    a day, week (a Monday) or month within it.

    A midnight that the clocks skip is the instant of the change; one that occurs twice is the first. Without
    periods, or for an empty span, the whole is one.

    Raises:
        ValueError: There are more than `MAX_PERIODS`, or one lies outside of the years 1 to 9999.
    """
    found = [start]
    if period == "none":
        return found
    try:
        for day in _first_days(start.astimezone(zone).date(), period):
            midnight = datetime(day.year, day.month, day.day, tzinfo=zone).astimezone(start.tzinfo)
            if midnight >= end:
                break
            # A zone that crosses the date line skips a whole day.
            if midnight > found[-1]:
                found.append(midnight)
            if len(found) > MAX_PERIODS:
                raise ValueError(f"the span has more than {MAX_PERIODS} periods")
    except OverflowError:
        raise ValueError("the span leaves the calendar") from None
    return found


def _first_days(day: date, period: Period) -> Iterator[date]:
    """Yield the first day of each period after the one that holds `day`, until the calendar ends."""
    try:
        while True:
            if period == "day":
                day += timedelta(days=1)
            elif period == "week":
                day += timedelta(days=7 - day.weekday())
            else:
                day = (day.replace(day=1) + timedelta(days=32)).replace(day=1)
            yield day
    except OverflowError:
        return


class _Figures:
    """What was counted of one group and key."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.times: dict[str, Times] = {}

    def __getitem__(self, what: str) -> int:
        return self.counts.get(what, 0)

    def target(self, name: str) -> records.TargetFigures:
        met, breached, excused = (self[f"{name} {verdict}"] for verdict in ("met", "breached", "excused"))
        times = self.times.get(name)
        return records.TargetFigures(
            decided=met + breached + excused,
            met=met,
            breached=breached + excused,
            attainment=_percent(met, met + breached),
            average_minutes=_tenths(times.minutes, times.done) if times else None,
            median_minutes=times.median if times else None,
            p90_minutes=times.p90 if times else None,
        )


def _percent(part: int, whole: int) -> float | None:
    return _tenths(100 * part, whole) if whole else None


def _tenths(dividend: int | Decimal, divisor: int) -> float:
    """Return the quotient with one decimal, half up."""
    return float((Decimal(dividend) / divisor).quantize(Decimal("0.1"), ROUND_HALF_UP))


class Counted:
    """What the database counted."""

    happened: Sequence[Count]
    times: Sequence[Times]
    breaches: Breaches
    backlog: Backlog
    devices: Sequence[DeviceCount]
    """All together, then the first ones."""
    at_ends: Sequence[int] = ()
    """The backlog at the end of each period; empty if periods were not asked for."""


def names_wanted(counted: Counted) -> dict[str, set[int]]:
    """Return the ids of records whose names are shown, by status, priority, team, category and assignee."""
    wanted = {
        group: {key for key in counted.backlog.groups[group] if isinstance(key, int)}
        for group in ("status", "priority", "team", "category", "assignee")
    }
    groups: list[Count | Times] = [*counted.happened, *counted.times]
    for each in groups:
        if each.group in wanted and isinstance(each.key, int):
            wanted[each.group].add(each.key)
    return wanted


def assemble(
    counted: Counted,
    names: Mapping[tuple[str, int], str],
    *,
    company_id: int,
    starts: Sequence[datetime],
    end: datetime,
    now: datetime,
) -> records.TicketStatistics:
    """Return the statistics from what was counted; `names` are by group and id."""
    figures: dict[str, dict[int | str, _Figures]] = {group: {} for group in ("", *GROUPS)}
    for count in counted.happened:
        figures[count.group].setdefault(count.key, _Figures()).counts[count.what] = count.number
    for time in counted.times:
        figures[time.group].setdefault(time.key, _Figures()).times[time.target] = time
    breaches, devices = counted.breaches, counted.devices
    whole = figures[""].get(0, _Figures())
    return records.TicketStatistics(
        company_id=company_id,
        start=whole_second(starts[0]),
        end=whole_second(end),
        as_of=whole_second(now),
        volume=records.Volume(
            created=whole["created"],
            resolved=whole["resolved"],
            closed=whole["closed"],
            cancelled=whole["cancelled"],
            reopened=whole["reopened"],
            reopen_rate=_percent(whole["reopened"], whole["resolved"]),
            repeat=devices[0].repeated,
        ),
        first_response=whole.target("firstResponse"),
        resolution=whole.target("resolution"),
        breaches=records.BreachFigures(
            breaches.first_response, breaches.resolution, breaches.tickets, breaches.excused
        ),
        escalations=breaches.escalations,
        backlog=_backlog(counted.backlog, names),
        by_priority=_groups("priority", figures["priority"], names),
        by_team=_groups("team", figures["team"], names),
        by_zone=[records.ZoneFigures(str(zone), *_of(found)) for zone, found in _by_created(figures["zone"])],
        by_device=[_device(device) for device in devices[1:]],
        periods=[
            records.PeriodFigures(
                whole_second(begin),
                whole_second(finish),
                *_of(figures["period"].get(number, _Figures())),
                backlog_at_end=at_end,
            )
            for number, (begin, finish, at_end) in enumerate(
                zip(starts, [*starts[1:], end], counted.at_ends, strict=False), 1
            )
        ],
    )


def _device(device: DeviceCount) -> records.DeviceFigures:
    between = None
    if device.created > 1:
        hours = Decimal(device.between // timedelta(milliseconds=1)) / 3_600_000
        between = _tenths(hours, device.created - 1)
    return records.DeviceFigures(device.device_id, device.created, device.repeated, between)


def _of(figures: _Figures) -> tuple[int, int, records.TargetFigures, records.TargetFigures]:
    return (
        figures["created"],
        figures["resolved"],
        figures.target("firstResponse"),
        figures.target("resolution"),
    )


def _groups(
    group: str, figures: Mapping[int | str, _Figures], names: Mapping[tuple[str, int], str]
) -> list[records.GroupFigures]:
    return [
        records.GroupFigures(int(key), names.get((group, int(key)), ""), *_of(found))
        for key, found in _by_created(figures)
    ]


def _by_created(figures: Mapping[int | str, _Figures]) -> list[tuple[int | str, _Figures]]:
    """Return the groups for which anything is shown, most created tickets first."""
    shown = [
        (key, found) for key, found in figures.items() if found.times or found.counts.keys() - _NOT_SHOWN
    ]
    return sorted(shown, key=lambda item: (-item[1]["created"], item[0]))


_NOT_SHOWN = {"closed", "cancelled", "reopened"}
"""What is counted of the whole only."""


def _backlog(backlog: Backlog, names: Mapping[tuple[str, int], str]) -> records.BacklogFigures:
    kinds, ages = backlog.groups["kind"], backlog.groups["age"]

    def named(group: str) -> list[records.NamedCount]:
        return [
            records.NamedCount(int(key), names.get((group, int(key)), ""), count)
            for key, count in _most_first(backlog.groups[group])
        ]

    return records.BacklogFigures(
        total=backlog.total,
        unassigned=backlog.unassigned,
        orphaned=backlog.orphaned,
        paused=backlog.paused,
        outside_zone=backlog.outside_zone,
        overdue=backlog.overdue,
        due_soon=backlog.due_soon,
        by_kind=records.KindCounts(kinds.get("new", 0), kinds.get("open", 0), kinds.get("pending", 0)),
        by_status=named("status"),
        by_priority=named("priority"),
        by_team=named("team"),
        by_category=named("category"),
        by_assignee=named("assignee"),
        by_zone=[records.ZoneCount(str(zone), count) for zone, count in _most_first(backlog.groups["zone"])],
        ageing=[records.AgeCount(bucket, ages.get(index, 0)) for index, bucket in enumerate(AGE_BUCKETS)],
    )


def _most_first(counts: Mapping[int | str, int]) -> list[tuple[int | str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))
