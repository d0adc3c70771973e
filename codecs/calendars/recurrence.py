"""Expands a recurrence rule to instances in local time (RFC 5545, section 3.3.10).

Only the requested periods are examined, so that a rule that never matches costs no more than one that does.
(dateutil, and libraries built on it, search up to the year 9999.)
"""

import calendar
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta

from motorpool.codecs.calendars.content_lines import CalendarError
from motorpool.codecs.calendars.recurrence_rules import Rule

FAR = datetime(9998, 12, 31)  # noqa: DTZ001 - local
LAST_DAY = FAR.toordinal()
MAX_COUNT_DAYS, MAX_COUNT_HOURS = 40_000, 100_000
"""How far a COUNT is followed: 109 years, HOURLY 11."""


class StepLimitExceeded(CalendarError):
    """A calendar needs too many steps."""


class StepLimit:
    """Limits the work of reading or evaluating a calendar.

    A step is a candidate time that is examined, or an event, date or window that is passed.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._remaining = limit

    @property
    def spent(self) -> int:
        """Steps so far."""
        return self._limit - self._remaining

    def spend(self, steps: int) -> None:
        """Count these steps.

        Raises:
            StepLimitExceeded: more than the limit.
        """
        self._remaining -= steps
        if self._remaining < 0:
            raise StepLimitExceeded(f"its events need more than {self._limit} times to be looked at")


def _unlimited(steps: int) -> None:
    del steps


def expand(
    rule: Rule,
    start: datetime,
    first: datetime,
    last: datetime,
    *,
    spend: Callable[[int], None] = _unlimited,
) -> Iterator[datetime]:
    """Yield the instances from `first` to `last`, both inclusive, of a rule that begins at `start`.

    The rule has defaults (`Rule.with_defaults`); times are local and naive. COUNT and UNTIL are the caller's.
    """
    first = max(first, start)
    if last < first:
        return
    if rule.frequency == "HOURLY":
        yield from _hourly(rule, start, first, last, spend)
        return
    for begins, ends in _periods(rule, start.date(), first.date(), last.date()):
        days = list(_days(rule, begins, ends))
        if not rule.positions:
            # Of a long period only the requested part, unless BYSETPOS counts in all of it.
            days = [_clip(part, first.toordinal(), last.toordinal()) for part in days]
        spend(max(1, sum(map(len, days)) * len(rule.times)) + len(rule.positions))
        matching = (day for part in days for day in map(date.fromordinal, part) if rule.matches(day))
        candidates = [datetime.combine(day, at) for day in matching for at in rule.times]
        yield from (
            instance
            for instance in _select_positions(candidates, rule.positions)
            if first <= instance <= last
        )


def _periods(rule: Rule, start: date, first: date, last: date) -> Iterator[tuple[int, int]]:
    """Yield first and last day, as ordinals, of each period that overlaps [first, last]."""
    if rule.frequency in {"DAILY", "WEEKLY"}:
        length = 7 if rule.frequency == "WEEKLY" else 1
        begins = start.toordinal() - ((start.weekday() - rule.week_start) % 7 if length == 7 else 0)
        step = length * rule.interval
        begins += max(0, (first.toordinal() - begins) // step) * step
        while begins <= min(last.toordinal(), LAST_DAY - length):
            yield begins, begins + length - 1
            begins += step
        return
    length = 12 if rule.frequency == "YEARLY" else 1
    month = start.year * 12 + (start.month - 1 if length == 1 else 0)
    step = length * rule.interval
    month += max(0, (first.year * 12 + first.month - 1 - month) // step) * step
    while month <= last.year * 12 + last.month - 1 and month < 9998 * 12:
        after = month + length
        yield (
            date(month // 12, month % 12 + 1, 1).toordinal(),
            date(after // 12, after % 12 + 1, 1).toordinal() - 1,
        )
        month += step


def most_steps(rule: Rule, days: int) -> int:
    """Return the most steps that `expand` may spend on a span of this many days, wherever it lies."""
    if days < 0:
        return 0
    if rule.frequency == "HOURLY":
        return ((days + 1) * 24 // rule.interval + 2) * (len(rule.times) + len(rule.positions))
    shortest = {"DAILY": 1, "WEEKLY": 7, "MONTHLY": 28, "YEARLY": 365}[rule.frequency]
    periods = days // (shortest * rule.interval) + 2
    of_month = len(rule.month_days) or 31
    longest = {
        "DAILY": 1,
        "WEEKLY": len(rule.week_days) or 7,
        "MONTHLY": of_month,
        "YEARLY": of_month * len(rule.months) or 366,
    }[rule.frequency]
    examined = periods * longest
    if not rule.positions:
        examined = min(examined, days + 1)
    # A period without a candidate is one step: the first and last of short ones, and months without the day.
    empty = periods if rule.frequency in {"MONTHLY", "YEARLY"} else 2
    return examined * len(rule.times) + empty + periods * len(rule.positions)


def _days(rule: Rule, begins: int, ends: int) -> Iterator[range]:
    """Yield the days of a period, without those that BYDAY leaves out of a week, BYMONTH out of a year, and
    BYMONTHDAY out of a month.
    """
    if rule.frequency == "WEEKLY" and rule.week_days:
        for day in sorted(begins + (weekday - rule.week_start) % 7 for _, weekday in rule.week_days):
            yield range(day, day + 1)
    elif rule.frequency == "MONTHLY":
        yield from _days_of_month(rule, begins, ends + 1 - begins)
    elif rule.frequency == "YEARLY" and rule.months:
        year = date.fromordinal(begins).year
        for month in rule.months:
            first = date(year, month, 1).toordinal()
            yield from _days_of_month(rule, first, calendar.monthrange(year, month)[1])
    else:
        yield range(begins, ends + 1)


def _days_of_month(rule: Rule, first: int, length: int) -> Iterator[range]:
    if not rule.month_days:
        yield range(first, first + length)
        return
    for number in sorted({day if day > 0 else length + 1 + day for day in rule.month_days}):
        if 1 <= number <= length:
            yield range(first + number - 1, first + number)


def _clip(days: range, first: int, last: int) -> range:
    return range(max(days.start, first), min(days.stop, last + 1))


def _hourly(
    rule: Rule, start: datetime, first: datetime, last: datetime, spend: Callable[[int], None]
) -> Iterator[datetime]:
    hour = start.toordinal() * 24 + start.hour
    hour += max(0, (first.toordinal() * 24 + first.hour - hour) // rule.interval) * rule.interval
    final = min(last.toordinal() * 24 + last.hour, LAST_DAY * 24)
    while hour <= final:
        spend(len(rule.times) + len(rule.positions))
        day = date.fromordinal(hour // 24)
        if rule.matches(day):
            if not rule.hours or hour % 24 in rule.hours:
                candidates = [datetime.combine(day, at.replace(hour=hour % 24)) for at in rule.times]
                yield from (
                    instance
                    for instance in _select_positions(candidates, rule.positions)
                    if first <= instance <= last
                )
            hour += rule.interval
        else:
            # To the next day, by whole intervals.
            hour += -(-(24 - hour % 24) // rule.interval) * rule.interval


def _select_positions(candidates: list[datetime], positions: tuple[int, ...]) -> list[datetime]:
    if not positions:
        return candidates
    indexes = {position - 1 if position > 0 else len(candidates) + position for position in positions}
    return [candidates[index] for index in sorted(indexes) if 0 <= index < len(candidates)]


def last_counted(rule: Rule, start: datetime, *, spend: Callable[[int], None]) -> datetime | None:
    """Return the last instance by COUNT; None without a COUNT.

    Raises:
        ValueError: it is too far ahead.
    """
    if not rule.count:
        return None
    if rule.is_fixed_interval:
        step = {"HOURLY": timedelta(hours=1), "DAILY": timedelta(days=1)}.get(
            rule.frequency, timedelta(weeks=1)
        )
        try:
            return min(start + step * rule.interval * (rule.count - 1), FAR)
        except OverflowError:
            return FAR
    hourly = rule.frequency == "HOURLY"
    reach = timedelta(hours=MAX_COUNT_HOURS) if hourly else timedelta(days=MAX_COUNT_DAYS)
    bound = start + reach if start.year < 9000 else FAR
    for number, instance in enumerate(expand(rule, start, start, bound, spend=spend), 1):
        if number == rule.count:
            return instance
    if hourly:
        raise ValueError(f"COUNT={rule.count} is not reached within {MAX_COUNT_HOURS} hours")
    return bound  # beyond any question
