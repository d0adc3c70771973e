"""How long a device drove, idled and stood on each day (docs/reports.md#utilisation)."""

from bisect import bisect_right
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import inf

from motorpool.actors.reports.days import pieces
from motorpool.actors.reports.engine import MILLISECOND, Engine, Idling, IdlingFinder
from motorpool.actors.reports.items import UtilisationItem
from motorpool.actors.reports.periods import Days, next_days
from motorpool.actors.reports.sources import ReportQuery, ReportRules, Sources, Viewer
from motorpool.actors.reports.track import find_track
from motorpool.storage.records import Device
from motorpool.storage.reports.engine_rows import Reading, first_id_after, stream_readings

Span = tuple[datetime, datetime]
"""Begin and end."""


@dataclass
class _Day:
    """What the readings of a day tell."""

    begins: datetime
    ends: datetime
    """Not included."""
    first: datetime | None = None
    last: datetime | None = None
    running: timedelta = timedelta()
    """How long the engine ran by what each reading says."""
    is_told: bool = False
    """Whether any reading says if the engine runs."""
    counted: int | None = None
    """Milliseconds by the counter of engine hours; None: there is none."""
    lowest_id: int = 0
    highest_id: int = 0
    is_in_order: bool = True
    """Whether its positions arrived in the order of their fix times."""

    def add(self, reading: Reading, engine: Engine) -> None:
        number = reading.position_id
        if self.first is None:
            self.first = reading.fix_time
            self.lowest_id = number
        self.last = reading.fix_time
        self.is_in_order &= number > self.highest_id
        self.lowest_id, self.highest_id = min(self.lowest_id, number), max(self.highest_id, number)
        self.is_told |= engine.is_told
        self.running += engine.since_last
        if engine.counted is not None:
            self.counted = (self.counted or 0) + engine.counted

    @property
    def engine_hours(self) -> int:
        """Milliseconds that the engine ran.

        A counter of the device knows best. But `hours` may also be added up by this server from one arrival
        to the next, which leaves out what positions that came late say.
        """
        if self.counted is None or (self.is_told and not self.is_in_order):
            return self.running // MILLISECOND
        return self.counted

    def part_of(self, spans: Iterable[Span]) -> list[Span]:
        """Return what of spans lies in the day."""
        return _overlap(spans, [(self.begins, self.ends)])

    def has(self, instant: datetime) -> bool:
        return self.begins <= instant < self.ends


async def utilisation(
    sources: Sources, viewer: Viewer, device: Device, query: ReportQuery
) -> AsyncGenerator[list[UtilisationItem], None]:
    """Yield an item for each local day with positions, in order."""
    rules = await sources.rules_of(device)
    zone = viewer.preferences.zone
    start: datetime | None = query.start
    while start is not None:
        async with sources.slots:
            part = await next_days(sources, device.id, start, query.end, zone)
            if part is None:
                return
            segments, found = await find_track(
                sources, device.id, part.begin, part.end, rules.settings.trips, zone
            )
            days = [_Day(piece.begins, piece.ends) for piece in pieces(part.begin, part.end, zone)]
            idle = await _read(sources, device, part, days, rules)
        trips = [(each.start.fix_time, each.end.fix_time) for each in segments if each.is_moving]
        stops = [(each.start.fix_time, each.end.fix_time) for each in segments if not each.is_moving]
        yield [
            _item(device, day, known.metres, trips, stops, _overlap(idle, stops))
            for day, known in zip(days, found, strict=True)
            if day.first is not None
        ]
        start = part.later


async def _read(
    sources: Sources, device: Device, part: Days, days: Sequence[_Day], rules: ReportRules
) -> list[Span]:
    """Read the days; return when the device stood with its engine running."""
    engine = Engine(rules.settings.engine_charging_voltage)
    finder = IdlingFinder(timedelta(seconds=rules.settings.report_idling_min_duration))
    found: list[Idling] = []
    ends = [day.ends for day in days[:-1]]
    rows = stream_readings(sources.database, device.id, part.begin, part.end)
    async with aclosing(rows) as batches:
        async for batch in batches:
            for reading in batch:
                if (span := finder.add(reading, runs=engine.add(reading))) is not None:
                    found.append(span)
                days[bisect_right(ends, reading.fix_time)].add(reading, engine)
    if (last := finder.end()) is not None:
        found.append(last)
    _mark_late(days, await first_id_after(sources.database, device.id, part.end))
    return [(each.first.fix_time, each.last.fix_time) for each in found]


def _mark_late(days: Sequence[_Day], next_id: int | None) -> None:
    """Mark days of which positions arrived after those of a later day; `next_id` is the first after all."""
    lowest = inf if next_id is None else next_id
    for day in reversed(days):
        if day.first is not None:
            day.is_in_order &= day.highest_id < lowest
            lowest = min(lowest, day.lowest_id)


def _item(
    device: Device,
    day: _Day,
    metres: float,
    trips: Sequence[Span],
    stops: Sequence[Span],
    idle: Sequence[Span],
) -> UtilisationItem:
    assert day.first is not None
    assert day.last is not None
    begins = [begin for begin, _ in trips if day.has(begin)]
    ends = [end for _, end in trips if day.has(end)]
    idling = _length(day.part_of(idle))
    return UtilisationItem(
        device_id=device.id,
        device_name=device.name,
        start_time=day.first,
        end_time=day.last,
        driving=_length(day.part_of(trips)),
        idling=idling,
        standing=_length(day.part_of(stops)) - idling,
        engine_hours=day.engine_hours,
        distance=metres,
        trips=len(begins),
        first_start=min(begins, default=None),
        last_end=max(ends, default=None),
    )


def _overlap(some: Iterable[Span], others: Sequence[Span]) -> list[Span]:
    """Return what is in both; each are in order and apart from each other."""
    found = []
    index = 0
    for begin, end in some:
        while index < len(others) and others[index][1] <= begin:
            index += 1
        at = index
        while at < len(others) and others[at][0] < end:
            found.append((max(begin, others[at][0]), min(end, others[at][1])))
            at += 1
    return found


def _length(spans: Iterable[Span]) -> int:
    return sum((end - begin for begin, end in spans), timedelta()) // MILLISECOND
