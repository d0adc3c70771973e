"""Driving and resting time of a driver against limits (docs/drivers.md#hours). Pure.

What is known of a driver is when they drove. All other time is rest, for other work leaves no positions.
Names and limits of the preset are those of Regulation (EC) No 561/2006, as amended by Regulation (EU)
2020/1054.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final, Literal, NamedTuple

import msgspec

Rule = Literal["driving", "daily", "weekly", "fortnightly", "dailyRest", "weeklyRest"]
NO_TIME: Final = timedelta(0)
DAY: Final = timedelta(hours=24)
WEEK: Final = timedelta(days=7)
LOOK_BACK: Final = timedelta(days=28)
"""Driving before this is not known any more; it is as if a regular weekly rest had followed it."""


class Span(NamedTuple):
    """A time of driving."""

    start: datetime
    end: datetime


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of driving and resting time; a time of 0 is no limit."""

    driving: timedelta = NO_TIME
    """Driving without a break (Article 7)."""
    pause: timedelta = NO_TIME
    """The break that must follow it."""
    first_pause: timedelta = NO_TIME
    last_pause: timedelta = NO_TIME
    """The parts that may be taken in its place, in this order; 0: it may not be divided."""
    daily: timedelta = NO_TIME
    """Driving between two daily rests (Article 6(1))."""
    extended: timedelta = NO_TIME
    """The same on some days of a week."""
    extensions: int = 0
    """How many days of a week these are."""
    weekly: timedelta = NO_TIME
    """Driving from Monday to Sunday, in UTC (Article 6(2))."""
    fortnightly: timedelta = NO_TIME
    """Driving in two such weeks after each other (Article 6(3))."""
    daily_rest: timedelta = NO_TIME
    """Rest within 24 hours after the last one (Article 8(2))."""
    reduced_daily_rest: timedelta = NO_TIME
    """The same, reduced; 0: it may not be."""
    reductions: int = 0
    """How many reduced ones there may be between two weekly rests (Article 8(4))."""
    first_rest: timedelta = NO_TIME
    """A rest of this length, followed by a reduced one, is as a daily rest (Article 4(g)); 0: it is not."""
    weekly_rest: timedelta = NO_TIME
    """Rest that begins within six times 24 hours after the last one (Article 8(6))."""
    reduced_weekly_rest: timedelta = NO_TIME
    """The same, reduced, of two weekly rests after each other at most one; 0: it may not be."""

    @property
    def any(self) -> bool:
        """Whether there is any limit."""
        times = (self.driving, self.daily, self.weekly, self.fortnightly, self.daily_rest, self.weekly_rest)
        return any(times)

    @property
    def least_daily_rest(self) -> timedelta:
        """The shortest rest that ends a day; without a limit of it that of the regulation."""
        return self.reduced_daily_rest or self.daily_rest or EU561.reduced_daily_rest

    @property
    def least_weekly_rest(self) -> timedelta:
        """The shortest rest that ends the days of work; without a limit of it that of the regulation."""
        return self.reduced_weekly_rest or self.weekly_rest or EU561.reduced_weekly_rest


EU561: Final = Limits(
    driving=timedelta(hours=4.5),
    pause=timedelta(minutes=45),
    first_pause=timedelta(minutes=15),
    last_pause=timedelta(minutes=30),
    daily=timedelta(hours=9),
    extended=timedelta(hours=10),
    extensions=2,
    weekly=timedelta(hours=56),
    fortnightly=timedelta(hours=90),
    daily_rest=timedelta(hours=11),
    reduced_daily_rest=timedelta(hours=9),
    reductions=3,
    first_rest=timedelta(hours=3),
    weekly_rest=timedelta(hours=45),
    reduced_weekly_rest=timedelta(hours=24),
)
"""Articles 4 and 6 to 8 of the regulation; without what depends on ferries, crews of two and compensation."""
PRESETS: Final = {"eu561": EU561}


class Breach(NamedTuple):
    """A limit that was exceeded."""

    rule: Rule
    since: datetime
    """When the time began that the limit is of: two breaches of a rule never have the same."""
    at: datetime
    """When it was exceeded; an instant of driving."""


class Time(msgspec.Struct, frozen=True):
    """How much of a limit of driving is used."""

    used: timedelta
    allowed: timedelta

    @property
    def left(self) -> timedelta:
        """What may still be driven; not negative."""
        return max(NO_TIME, self.allowed - self.used)


class Hours(msgspec.Struct, frozen=True):
    """Where a driver stands at an instant; None where there is no limit."""

    driving: Time | None
    daily: Time | None
    weekly: Time | None
    fortnightly: Time | None
    daily_rest_by: datetime | None
    """When the daily rest must begin at the latest; None while resting long enough already."""
    weekly_rest_by: datetime | None
    """The same of the weekly rest."""
    breaches: tuple[Breach, ...]
    """All until then, in the order of `at`."""


def week_of(instant: datetime) -> datetime:
    """Return the beginning of the week of an instant: Monday, 00:00 UTC."""
    midnight = instant.replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight - timedelta(days=midnight.weekday())


def joined(spans: Iterable[Span]) -> list[Span]:
    """Return the time of any of the spans as spans that are apart, in order; some may overlap."""
    found: list[Span] = []
    for span in sorted(spans):
        if found and span.start <= found[-1].end:
            found[-1] = Span(found[-1].start, max(found[-1].end, span.end))
        elif span.end > span.start:
            found.append(span)
    return found


def hours_at(spans: Sequence[Span], limits: Limits, now: datetime) -> Hours:
    """Return where a driver stands who drove in these spans, which are apart and in order, until `now`."""
    ledger = _Ledger(limits)
    for span in spans:
        if span.start >= now:
            break
        ledger.rest_until(span.start)
        ledger.drive(Span(span.start, min(span.end, now)))
    return ledger.figures(now)


class _Ledger:
    """Follows the times of one driver."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._breaches: list[Breach] = []
        self._stopped: datetime | None = None
        """When they last stopped driving."""
        self._drive_since: datetime | None = None
        """Beginning of the driving since the last break; None: there is none yet."""
        self._driven = NO_TIME
        self._has_first_pause = False
        self._day_since: datetime | None = None
        """Beginning of the driving since the last daily rest."""
        self._day_driven = NO_TIME
        self._has_first_rest = False
        self._extended_days: dict[datetime, set[datetime]] = {}
        """By week, the days that began in it and were longer than usual."""
        self._work_since: datetime | None = None
        """Beginning of the driving since the last weekly rest."""
        self._reductions = 0
        self._was_reduced = False
        """Whether the last weekly rest was."""
        self._weeks: dict[datetime, timedelta] = {}
        self._known: set[tuple[Rule, datetime]] = set()

    def _breach(self, rule: Rule, since: datetime, at: datetime) -> None:
        if (rule, since) not in self._known:
            self._known.add((rule, since))
            self._breaches.append(Breach(rule, since, at))

    def _is_pause(self, rest: timedelta) -> bool:
        """Whether a rest ends the driving before it."""
        limits = self._limits
        whole = limits.pause or EU561.pause
        return rest >= whole or (self._has_first_pause and rest >= limits.last_pause)

    def rest_until(self, start: datetime) -> None:
        """Rest since the last driving until an instant, at which driving begins."""
        limits = self._limits
        if self._stopped is None or self._day_since is None or self._work_since is None:
            return
        rest = start - self._stopped
        if self._is_pause(rest):
            self._drive_since, self._driven, self._has_first_pause = None, NO_TIME, False
        elif limits.first_pause and rest >= limits.first_pause:
            self._has_first_pause = True
        if rest >= limits.least_daily_rest:
            if limits.daily_rest and rest < limits.daily_rest and not self._has_first_rest:
                self._reductions += 1
                if self._reductions > limits.reductions:
                    self._breach("dailyRest", self._day_since, start)
            self._day_since, self._day_driven, self._has_first_rest = None, NO_TIME, False
        elif limits.first_rest and rest >= limits.first_rest:
            self._has_first_rest = True
        if rest >= limits.least_weekly_rest:
            if limits.weekly_rest and self._was_reduced and rest < limits.weekly_rest:
                self._breach("weeklyRest", self._work_since, start)
            self._was_reduced = rest < limits.weekly_rest
            self._work_since, self._reductions = None, 0

    def drive(self, span: Span) -> None:
        """Drive, after `rest_until` its beginning."""
        limits = self._limits
        start, end = span
        self._drive_since = self._drive_since or start
        self._day_since = self._day_since or start
        self._work_since = self._work_since or start
        if limits.driving and self._driven + (end - start) > limits.driving:
            self._breach("driving", self._drive_since, start + (limits.driving - self._driven))
        allowed = self._allowed(self._day_since)
        if limits.daily and self._day_driven + (end - start) > allowed:
            self._breach("daily", self._day_since, start + (allowed - self._day_driven))
        if (by := self._daily_rest_by()) is not None and end > by:
            self._breach("dailyRest", self._day_since, max(start, by))
        if (by := self._weekly_rest_by()) is not None and end > by:
            self._breach("weeklyRest", self._work_since, max(start, by))
        self._driven += end - start
        self._day_driven += end - start
        if limits.daily and self._day_driven > limits.daily:
            self._extended_days.setdefault(week_of(self._day_since), set()).add(self._day_since)
        self._drive_in_weeks(span)
        self._stopped = end

    def _drive_in_weeks(self, span: Span) -> None:
        limits, start = self._limits, span.start
        while start < span.end:
            week = week_of(start)
            end = min(span.end, week + WEEK)
            before = self._weeks.get(week, NO_TIME)
            both = before + self._weeks.get(week - WEEK, NO_TIME)
            after = end - start
            if limits.weekly and before + after > limits.weekly:
                self._breach("weekly", week, start + (limits.weekly - before))
            if limits.fortnightly and both + after > limits.fortnightly:
                self._breach("fortnightly", week, start + max(NO_TIME, limits.fortnightly - both))
            self._weeks[week] = before + after
            start = end

    def _allowed(self, day: datetime) -> timedelta:
        """Return how long a day may be driven that began at an instant."""
        limits = self._limits
        others = self._extended_days.get(week_of(day), set()) - {day}
        return max(limits.daily, limits.extended) if len(others) < limits.extensions else limits.daily

    def _daily_rest_by(self) -> datetime | None:
        limits = self._limits
        if not limits.daily_rest or self._day_since is None:
            return None
        may_reduce = self._reductions < limits.reductions or self._has_first_rest
        needed = limits.least_daily_rest if may_reduce else limits.daily_rest
        return self._day_since + DAY - needed

    def _weekly_rest_by(self) -> datetime | None:
        if not self._limits.weekly_rest or self._work_since is None:
            return None
        return self._work_since + 6 * DAY

    def figures(self, now: datetime) -> Hours:
        """Return where the driver stands, who may rest since they last drove."""
        limits = self._limits
        rest = NO_TIME if self._stopped is None else now - self._stopped
        new_day = self._stopped is None or rest >= limits.least_daily_rest
        new_work = self._stopped is None or rest >= limits.least_weekly_rest
        driven = NO_TIME if self._is_pause(rest) else self._driven
        day = now if new_day or self._day_since is None else self._day_since
        day_driven = NO_TIME if new_day else self._day_driven
        week = week_of(now)
        of_week = self._weeks.get(week, NO_TIME)
        of_both = of_week + self._weeks.get(week - WEEK, NO_TIME)
        return Hours(
            driving=Time(driven, limits.driving) if limits.driving else None,
            daily=Time(day_driven, self._allowed(day)) if limits.daily else None,
            weekly=Time(of_week, limits.weekly) if limits.weekly else None,
            fortnightly=Time(of_both, limits.fortnightly) if limits.fortnightly else None,
            daily_rest_by=None if new_day else self._daily_rest_by(),
            weekly_rest_by=None if new_work else self._weekly_rest_by(),
            breaches=tuple(sorted(self._breaches, key=lambda breach: breach.at)),
        )
