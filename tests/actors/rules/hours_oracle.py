"""Drivers' hours, counted minute by minute: slow, and for whole minutes only."""

from collections import Counter
from datetime import datetime, timedelta
from typing import Any

from motorpool.actors.rules.driver_hours import Limits, Span

MINUTE = timedelta(minutes=1)
WEEK = 7 * 24 * 60


def minutes(time: timedelta) -> int:
    return round(time / MINUTE)


class Tachograph:
    """Is told of each minute whether it was driven, and remembers what of it counts."""

    def __init__(self, limits: Limits, begin: datetime) -> None:
        self.of = {name: getattr(limits, name) for name in limits.__struct_fields__}
        self.of = {name: each if isinstance(each, int) else minutes(each) for name, each in self.of.items()}
        self.offset = minutes(begin - datetime(2024, 1, 1, tzinfo=begin.tzinfo))
        """Of the first minute, from a Monday."""
        self.weeks: Counter[int] = Counter()
        """Minutes driven, by the number of the week."""
        self.now = 0
        self.rest = 10**9
        """Minutes of rest until now; at first as long as can be."""
        self.since_break: list[int] = []
        self.in_day: list[int] = []
        self.in_work: list[int] = []
        self.first_pause = self.first_rest = False
        self.short_rests = 0
        self.short_week = False
        self.long_days: list[int] = []
        """First minutes of the days that were longer than 9 hours."""
        self.breaches: dict[tuple[str, int], int] = {}

    def week(self, minute: int) -> int:
        """The number of the week of a minute."""
        return (self.offset + minute) // WEEK

    def monday(self, week: int) -> int:
        return week * WEEK - self.offset

    def breach(self, rule: str, since: int) -> None:
        self.breaches.setdefault((rule, since), self.now)

    def pass_minute(self, *, is_driven: bool) -> None:
        if is_driven:
            self._end_rest()
            self._drive()
            self.rest = 0
        else:
            self.rest += 1
            self._end_periods()
        self.now += 1

    def _end_periods(self) -> None:
        """What has ended by the rest so far."""
        of = self.of
        if self.rest == of["pause"] or (self.first_pause and self.rest == of["last_pause"]):
            self.since_break, self.first_pause = [], False

    def _end_rest(self) -> None:
        """What the rest was that is over."""
        of = self.of
        if not self.weeks or not self.rest:
            return
        if self.since_break and of["first_pause"] and self.rest >= of["first_pause"]:
            self.first_pause = True
        if self.rest >= of["reduced_daily_rest"]:
            if self.rest < of["daily_rest"] and not self.first_rest:
                self.short_rests += 1
                if self.short_rests > of["reductions"]:
                    self.breach("dailyRest", self.in_day[0])
            self.in_day, self.first_rest = [], False
        elif of["first_rest"] and self.rest >= of["first_rest"]:
            self.first_rest = True
        if self.rest >= of["reduced_weekly_rest"]:
            if self.short_week and self.rest < of["weekly_rest"]:
                self.breach("weeklyRest", self.in_work[0])
            self.short_week = self.rest < of["weekly_rest"]
            self.in_work, self.short_rests = [], 0

    def _drive(self) -> None:
        """A minute that is driven: breached is what has no room for it."""
        of, now = self.of, self.now
        for kept in (self.since_break, self.in_day, self.in_work):
            kept.append(now)
        week = self.week(now)
        self.weeks[week] += 1
        day, work = self.in_day[0], self.in_work[0]
        if len(self.since_break) > of["driving"]:
            self.breach("driving", self.since_break[0])
        if len(self.in_day) > self.allowed(day):
            self.breach("daily", day)
        if len(self.in_day) > of["daily"] and day not in self.long_days:
            self.long_days.append(day)
        if self.weeks[week] > of["weekly"]:
            self.breach("weekly", self.monday(week))
        if self.weeks[week] + self.weeks[week - 1] > of["fortnightly"]:
            self.breach("fortnightly", self.monday(week))
        if now >= self.daily_by():
            self.breach("dailyRest", day)
        if now >= work + 6 * 24 * 60:
            self.breach("weeklyRest", work)

    def allowed(self, day: int) -> int:
        long = [each for each in self.long_days if self.week(each) == self.week(day) and each != day]
        return self.of["extended"] if len(long) < self.of["extensions"] else self.of["daily"]

    def daily_by(self) -> int:
        may_reduce = self.first_rest or self.short_rests < self.of["reductions"]
        needed = self.of["reduced_daily_rest" if may_reduce else "daily_rest"]
        return self.in_day[0] + 24 * 60 - needed

    def figures(self) -> dict[str, Any]:
        """What may be compared with `Hours`."""
        of = self.of
        is_new_day = not self.weeks or self.rest >= of["reduced_daily_rest"]
        is_new_work = not self.weeks or self.rest >= of["reduced_weekly_rest"]
        week = self.week(self.now)
        return {
            "driving": (len(self.since_break), of["driving"]),
            "daily": (0, self.allowed(self.now))
            if is_new_day
            else (len(self.in_day), self.allowed(self.in_day[0])),
            "weekly": (self.weeks[week], of["weekly"]),
            "fortnightly": (self.weeks[week] + self.weeks[week - 1], of["fortnightly"]),
            "daily_rest_by": None if is_new_day else self.daily_by(),
            "weekly_rest_by": None if is_new_work else self.in_work[0] + 6 * 24 * 60,
            "breaches": {(rule, since, at) for (rule, since), at in self.breaches.items()},
        }


def count(spans: list[Span], limits: Limits, begin: datetime, now: datetime) -> dict[str, Any]:
    """The figures at an instant, by counting each minute since `begin`."""
    tachograph = Tachograph(limits, begin)
    driven = {
        minute for span in spans for minute in range(minutes(span.start - begin), minutes(span.end - begin))
    }
    for minute in range(minutes(now - begin)):
        tachograph.pass_minute(is_driven=minute in driven)
    return tachograph.figures()
