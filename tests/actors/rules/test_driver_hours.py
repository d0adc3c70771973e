"""Drivers' hours, against a count of each minute and against examples of the regulation."""

import random
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.actors.rules.hours_oracle import MINUTE, count, minutes

from motorpool.actors.rules.driver_hours import (
    EU561,
    NO_TIME,
    Limits,
    Span,
    hours_at,
    joined,
    week_of,
)

MONDAY = datetime(2026, 6, 15, tzinfo=UTC)
HOUR = timedelta(hours=1)


def spans_of(*times, start=MONDAY):
    """Spans of driving, from hours of driving and of rest in turn."""
    found, now = [], start
    for index, hours in enumerate(times):
        after = now + timedelta(hours=hours)
        if index % 2 == 0:
            found.append(Span(now, after))
        now = after
    return found


def hours(*times, start=MONDAY, now=None, limits=EU561):
    spans = spans_of(*times, start=start)
    end = start + timedelta(hours=sum(times))
    return hours_at(spans, limits, end if now is None else now)


def breaches(*times, start=MONDAY, limits=EU561):
    """Rule, and hours after the start, of what is breached."""
    found = hours(*times, start=start, limits=limits).breaches
    return [(each.rule, (each.at - start) / HOUR) for each in found]


PAUSES = [0, 1, 14, 15, 16, 29, 30, 31, 44, 45, 46, 60]
DAYS = [539, 540, 541, 600, 659, 660, 661]
WEEKS = [1439, 1440, 1441, 2000, 2699, 2700, 2701]
OTHERS = [120, 179, 180, 181, 400, 800, 1000]
DRIVES = [1, 5, 20, 60, 120, 135, 269, 270, 271, 300, 480, 540, 541, 600, 601]


@st.composite
def tracks(draw):
    """Four weeks of somebody who often drives and rests just as long as is still allowed, and an instant."""
    chance = random.Random(draw(st.integers(0, 2**32)))
    begin = MONDAY + chance.randrange(7 * 24 * 60) * MINUTE
    # Some keep to breaks, days and weeks better than others.
    habits = [chance.choice((0, 1, 3)) for _ in range(4)] or [1]
    now, spans = begin, []
    while now - begin < timedelta(days=28) and len(spans) < 120:
        drive = chance.choice(DRIVES) if chance.random() < 0.5 else chance.randrange(1, 300)
        rests = chance.choices((PAUSES, DAYS, WEEKS, OTHERS), weights=[habit + 0.2 for habit in habits])[0]
        rest = chance.choice(rests)
        spans.append(Span(now, now + drive * MINUTE))
        now += (drive + rest) * MINUTE
    last = minutes(now - begin)
    at = last if chance.random() < 0.5 else chance.randrange(last + 100)
    return begin, joined(spans), begin + at * MINUTE


@settings(max_examples=400)
@given(tracks())
def test_each_minute_counted_by_hand_gives_the_same(track):
    begin, spans, now = track
    found = hours_at(spans, EU561, now)
    wanted = count(spans, EU561, begin, now)

    def minute(instant):
        return None if instant is None else minutes(instant - begin)

    told = {
        **{
            name: (minutes(getattr(found, name).used), minutes(getattr(found, name).allowed))
            for name in ("driving", "daily", "weekly", "fortnightly")
        },
        "daily_rest_by": minute(found.daily_rest_by),
        "weekly_rest_by": minute(found.weekly_rest_by),
        "breaches": {(each.rule, minute(each.since), minute(each.at)) for each in found.breaches},
    }
    assert told == wanted


@given(tracks(), st.randoms(use_true_random=False))
def test_what_is_breached_does_not_depend_on_how_spans_are_cut_and_ordered(track, chance):
    _, spans, now = track
    parts = []
    for span in spans:
        cut = span.start + (span.end - span.start) * chance.random()
        parts += [Span(span.start, cut), Span(cut, span.end), Span(span.start, span.end)]
    chance.shuffle(parts)
    assert hours_at(joined(parts), EU561, now) == hours_at(spans, EU561, now)


@given(tracks())
def test_a_breach_stays_as_time_passes_and_is_one_for_each_period(track):
    _, spans, now = track
    before, after = hours_at(spans, EU561, now).breaches, hours_at(spans, EU561, now + 3 * HOUR).breaches
    assert [each for each in after if each.at < now] == [each for each in before if each.at < now]
    assert len({(each.rule, each.since) for each in after}) == len(after)
    assert all(each.since <= each.at for each in after)
    assert all(one.at <= other.at for one, other in pairwise(after))


@given(tracks())
def test_without_limits_nothing_is_breached(track):
    _, spans, now = track
    found = hours_at(spans, Limits(), now)
    assert (found.driving, found.daily, found.weekly, found.fortnightly) == (None,) * 4
    assert (found.daily_rest_by, found.weekly_rest_by, found.breaches) == (None, None, ())


@pytest.mark.parametrize(
    ("times", "wanted"),
    [
        ([4.5], []),
        ([4.6], [("driving", 4.5)]),
        ([4.5, 0.75, 4.5], []),
        ([4.5, 0.7, 1], [("driving", 5.2)]),
        # 15 and then 30 minutes are a break, 30 and then 15 are none.
        ([2, 0.25, 2, 0.5, 4], []),
        ([2, 0.5, 2, 0.25, 4], [("driving", 5.25)]),
        ([2, 0.5, 2, 0.5, 4], []),
    ],
)
def test_article_7_breaks(times, wanted):
    assert [each for each in breaches(*times) if each[0] == "driving"] == wanted


def day(*, long=False):
    """A day of 9 or 10 hours with breaks, and a rest of 11 hours."""
    return [4.5, 0.75, 4.5, *([0.75, 1] if long else []), 11.0]


def test_article_6_days():
    assert breaches(*day(), *day()) == []
    assert breaches(*day(long=True), *day(long=True), *day()) == []
    third = breaches(*day(long=True), *day(long=True), *day(long=True))
    assert third == [("daily", 2 * (11.5 + 11) + 10.5)]
    eleven = breaches(4.5, 0.75, 4.5, 0.75, 2)
    assert eleven == [("daily", 4.5 + 0.75 + 4.5 + 0.75 + 1)]
    # The extensions of a new week are new: the third day begins on Monday at 5.
    saturday = MONDAY + timedelta(days=5, hours=8)
    assert breaches(*day(long=True), *day(long=True), *day(long=True), start=saturday) == []


def test_article_6_weeks():
    week = [*day(long=True), *day(long=True), *day(), *day(), *day(), *day()]
    assert breaches(*week) == []
    assert hours(*week).weekly.left == NO_TIME
    assert breaches(*week, 0.5) == [("weekly", sum(week))]
    # 56 hours, and 34 more in the week after it.
    week[-1] += 7 * 24 - sum(week)
    again = [*day(), *day(), *day(), 4.5, 0.75, 2.5]
    assert breaches(*week, *again) == []
    assert hours(*week, *again).fortnightly.left == NO_TIME
    assert breaches(*week, *again, 11, 1) == [("fortnightly", sum(week) + sum(again) + 11)]


def test_article_8_reduced_rests():
    short = [4.5, 9.0]
    assert breaches(*short, *short, *short, 1) == []
    assert breaches(*short, *short, *short, *short, 1) == [("dailyRest", 4 * 13.5)]
    # 3 and then 9 hours are a regular one.
    split = [2, 3, 2.5, 9]
    assert breaches(*split * 5, 1) == []
    # A rest that begins too late for its end to lie within 24 hours.
    assert breaches(1, 13.5, 1) == []
    assert breaches(1, 8, 1, 6, 1) == [("dailyRest", 16)]


def test_article_8_weekly_rests():
    work = [each for _ in range(6) for each in (4.5, 19.5)]
    assert breaches(*work[:-1], 45, 4) == []
    assert breaches(*work, 1) == [("weeklyRest", 144)]
    assert breaches(4, 24, 4, 45, 4, 24, 4) == []
    assert breaches(4, 24, 4, 44, 4) == [("weeklyRest", 76)]


def test_figures_say_what_is_used_and_left():
    found = hours(4, 0.5, 0.25)
    assert (found.driving.used, found.driving.left) == (4.25 * HOUR, 0.25 * HOUR)
    assert (found.daily.used, found.daily.left) == (4.25 * HOUR, 5.75 * HOUR)
    assert (found.weekly.used, found.weekly.left) == (4.25 * HOUR, 51.75 * HOUR)
    assert (found.fortnightly.used, found.fortnightly.left) == (4.25 * HOUR, 85.75 * HOUR)
    assert found.daily_rest_by == MONDAY + 15 * HOUR
    assert found.weekly_rest_by == MONDAY + 144 * HOUR
    rested = hours(4, 9)
    assert (rested.driving.used, rested.daily.used, rested.weekly.used) == (NO_TIME, NO_TIME, 4 * HOUR)
    assert (rested.daily_rest_by, rested.weekly_rest_by) == (None, MONDAY + 144 * HOUR)
    assert hours(4, 24).weekly_rest_by is None
    assert hours(6).driving.left == NO_TIME
    new = hours_at([], EU561, MONDAY)
    assert (new.driving.used, new.daily.allowed) == (NO_TIME, 10 * HOUR)


def test_a_single_limit_stands_alone():
    limits = Limits(daily=8 * HOUR)
    assert breaches(5, 1, 5, 20, 5, limits=limits) == [("daily", 9)]
    found = hours(5, 1, 5, limits=limits)
    assert (found.daily.left, found.driving, found.daily_rest_by) == (NO_TIME, None, None)


def test_weeks_begin_on_monday_at_midnight_utc():
    assert week_of(MONDAY) == MONDAY
    assert week_of(MONDAY - timedelta(microseconds=1)) == MONDAY - timedelta(days=7)
    night = [Span(MONDAY - 2 * HOUR, MONDAY + HOUR)]
    assert hours_at(night, EU561, MONDAY + HOUR).weekly.used == HOUR
    assert hours_at(night, EU561, MONDAY + HOUR).fortnightly.used == 3 * HOUR
