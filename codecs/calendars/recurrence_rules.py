"""Recurrence rules of iCalendar (RFC 5545, section 3.3.10), from HOURLY to YEARLY."""

import calendar
import re
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from functools import cached_property

MAX_TIMES = 1440
"""Times of day of one rule."""
FREQUENCIES = ("HOURLY", "DAILY", "WEEKLY", "MONTHLY", "YEARLY")
WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One RRULE, in local time; a part that is absent is empty."""

    frequency: str
    interval: int = 1
    count: int = 0
    """0: no limit."""
    until: str = ""
    """As written; a date includes the whole day."""
    months: tuple[int, ...] = ()
    weeks: tuple[int, ...] = ()
    year_days: tuple[int, ...] = ()
    month_days: tuple[int, ...] = ()
    week_days: tuple[tuple[int, int], ...] = ()
    """BYDAY: the ordinal in month or year (0: every), and the weekday (0: Monday)."""
    hours: tuple[int, ...] = ()
    minutes: tuple[int, ...] = ()
    seconds: tuple[int, ...] = ()
    positions: tuple[int, ...] = ()
    """BYSETPOS."""
    week_start: int = 0
    """WKST; 0: Monday."""

    def with_defaults(self, start: datetime) -> "Rule":
        """Return the rule with the parts that are derived from DTSTART."""
        rule = self
        if not (rule.year_days or rule.month_days or rule.week_days):
            day = (start.day,)
            if rule.weeks or rule.frequency == "WEEKLY":
                rule = replace(rule, week_days=((0, start.weekday()),))
            elif rule.frequency == "YEARLY":
                rule = replace(rule, months=rule.months or (start.month,), month_days=day)
            elif rule.frequency == "MONTHLY":
                rule = replace(rule, month_days=day)
        return replace(
            rule,
            hours=rule.hours or (() if rule.frequency == "HOURLY" else (start.hour,)),
            minutes=rule.minutes or (start.minute,),
            seconds=rule.seconds or (start.second,),
        )

    @property
    def is_fixed_interval(self) -> bool:
        """Whether a rule with defaults repeats at a fixed interval of hours, days or weeks."""
        restricted = (
            self.months or self.weeks or self.year_days or self.month_days or self.positions or self.hours[1:]
        )
        if restricted or len(self.times) > 1:
            return False
        if self.frequency == "WEEKLY":
            return len(self.week_days) == 1
        return not self.week_days and (
            self.frequency == "DAILY" or (self.frequency == "HOURLY" and not self.hours)
        )

    @cached_property
    def times(self) -> tuple[time, ...]:
        """The times of a matching day; for HOURLY the times within its first hour."""
        return tuple(
            time(hour, minute, second)
            for hour in (self.hours if self.frequency != "HOURLY" else (0,))
            for minute in self.minutes
            for second in self.seconds
        )

    def matches(self, day: date) -> bool:
        """Return whether a day matches, regardless of interval and BYSETPOS."""
        if self.months and day.month not in self.months:
            return False
        if self.month_days:
            length = calendar.monthrange(day.year, day.month)[1]
            if day.day not in self.month_days and day.day - length - 1 not in self.month_days:
                return False
        if self.week_days and not self._is_weekday(day):
            return False
        if self.year_days:
            of_year = day.timetuple().tm_yday
            if self._year_day_set.isdisjoint((of_year, of_year - 366 - calendar.isleap(day.year))):
                return False
        return not self.weeks or bool(self._week_numbers(day) & self._week_set)

    # Sets, since a rule may name hundreds of days and is asked about each of hundreds of thousands.

    @cached_property
    def _week_day_set(self) -> frozenset[tuple[int, int]]:
        return frozenset(self.week_days)

    @cached_property
    def _year_day_set(self) -> frozenset[int]:
        return frozenset(self.year_days)

    @cached_property
    def _week_set(self) -> frozenset[int]:
        return frozenset(self.weeks)

    def _is_weekday(self, day: date) -> bool:
        weekday, named = day.weekday(), self._week_day_set
        if (0, weekday) in named:
            return True
        if self.frequency == "MONTHLY" or self.months:
            position, length = day.day, calendar.monthrange(day.year, day.month)[1]
        else:
            position, length = day.timetuple().tm_yday, 365 + calendar.isleap(day.year)
        return ((position - 1) // 7 + 1, weekday) in named or (
            -((length - position) // 7) - 1,
            weekday,
        ) in named

    def _week_numbers(self, day: date) -> set[int]:
        """Return the number of a day's week from either end of the year that has the week's fourth day."""
        fourth = day.toordinal() - (day.weekday() - self.week_start) % 7 + 3
        middle = date.fromordinal(fourth)
        position = middle.timetuple().tm_yday
        return {(position - 1) // 7 + 1, -(((365 + calendar.isleap(middle.year)) - position) // 7) - 1}


_PART = re.compile(r"([A-Z-]+)=([^=;]+)")
_BYDAY = re.compile(r"([+-]?\d{1,2})?(MO|TU|WE|TH|FR|SA|SU)", re.ASCII)
_WHOLE = re.compile(r"[+-]?\d{1,9}", re.ASCII)


def read_rule(text: str) -> Rule:
    """Parse the value of an RRULE.

    Raises:
        ValueError: it is malformed; the text says how.
    """
    parts: dict[str, str] = {}
    for written in text.upper().rstrip(";").split(";"):
        match = _PART.fullmatch(written.strip())
        if match is None:
            raise ValueError(f"{written[:40]!r} is not NAME=value")
        if match[1] in parts:
            raise ValueError(f"{match[1]} is there twice")
        parts[match[1]] = match[2]
    frequency = parts.pop("FREQ", "")
    if frequency in {"SECONDLY", "MINUTELY"}:
        raise ValueError(f"FREQ={frequency} is finer than HOURLY")
    if frequency not in FREQUENCIES:
        raise ValueError(f"FREQ={frequency[:20]} is none of {', '.join(FREQUENCIES)}")
    if "COUNT" in parts and "UNTIL" in parts:
        raise ValueError("COUNT and UNTIL exclude each other")
    week_start = parts.pop("WKST", "MO")
    if week_start not in WEEKDAYS:
        raise ValueError(f"WKST={week_start[:20]} is no weekday")
    rule = Rule(
        frequency=frequency,
        interval=_number(parts, "INTERVAL", 1),
        count=_number(parts, "COUNT", 0),
        until=parts.pop("UNTIL", ""),
        months=_numbers(parts, "BYMONTH", 1, 12),
        weeks=_numbers(parts, "BYWEEKNO", 1, 53, signed=True),
        year_days=_numbers(parts, "BYYEARDAY", 1, 366, signed=True),
        month_days=_numbers(parts, "BYMONTHDAY", 1, 31, signed=True),
        week_days=_week_days(parts),
        hours=_numbers(parts, "BYHOUR", 0, 23),
        minutes=_numbers(parts, "BYMINUTE", 0, 59),
        seconds=tuple(min(59, second) for second in _numbers(parts, "BYSECOND", 0, 60)),
        positions=_numbers(parts, "BYSETPOS", 1, 366, signed=True),
        week_start=WEEKDAYS.index(week_start),
    )
    if unknown := next(iter(parts), ""):
        raise ValueError(f"{unknown[:40]} is not known")
    if max(1, len(rule.hours)) * max(1, len(rule.minutes)) * max(1, len(rule.seconds)) > MAX_TIMES:
        raise ValueError(f"more than {MAX_TIMES} times a day")
    if rule.weeks and frequency != "YEARLY":
        raise ValueError("BYWEEKNO goes with FREQ=YEARLY only")
    if any(ordinal for ordinal, _ in rule.week_days) and (
        frequency not in {"MONTHLY", "YEARLY"} or rule.weeks
    ):
        raise ValueError("BYDAY with numbers goes with FREQ=MONTHLY or YEARLY without BYWEEKNO only")
    return rule


def _number(parts: dict[str, str], name: str, default: int) -> int:
    text = parts.pop(name, None)
    if text is None:
        return default
    if not _WHOLE.fullmatch(text) or int(text) < 1:
        raise ValueError(f"{name}={text[:20]} is no number from 1 on")
    return int(text)


def _numbers(
    parts: dict[str, str], name: str, low: int, high: int, *, signed: bool = False
) -> tuple[int, ...]:
    text = parts.pop(name, None)
    if text is None:
        return ()
    numbers = set()
    for word in text.split(","):
        number = int(word) if _WHOLE.fullmatch(word) else high + 1
        if not low <= (abs(number) if signed else number) <= high:
            raise ValueError(f"{name}={word[:20]} is not from {low} to {high}")
        numbers.add(number)
    return tuple(sorted(numbers))


def _week_days(parts: dict[str, str]) -> tuple[tuple[int, int], ...]:
    text = parts.pop("BYDAY", None)
    week_days = set()
    for word in text.split(",") if text is not None else ():
        read = _BYDAY.fullmatch(word)
        ordinal = int(read[1] or 0) if read else 0
        if read is None or abs(ordinal) > 53 or (read[1] and not ordinal):
            raise ValueError(f"BYDAY={word[:20]} is no weekday")
        week_days.add((ordinal, WEEKDAYS.index(read[2])))
    return tuple(sorted(week_days))
