"""Business time: the vectors, edges by hand, and random hours against a count of minutes."""

import json
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motorpool.actors.helpdesk.business_time import ALWAYS, BusinessTime, merge_pauses
from motorpool.codecs.calendars.calendar import read_calendar

MONDAY = datetime(2026, 10, 12, tzinfo=UTC)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
LINES = (
    (Path(__file__).parents[2] / "vectors" / "service_levels.jsonl").read_text(encoding="utf-8").splitlines()
)
TEXTS = {each["calendar"]: "\n".join(each["text"]) for each in map(json.loads, LINES) if "text" in each}
VECTORS = [each for each in map(json.loads, LINES) if "text" not in each]


def hours_of(name):
    """The business time of a calendar of the vectors."""
    return ALWAYS if name == "none" else BusinessTime(partial(read_calendar(TEXTS[name]).windows))


def source(windows):
    """Windows as a calendar returns them: clipped to what is asked for."""

    def clipped(start, end):
        cut = ((max(start, first), min(end, last)) for first, last in windows)
        return [each for each in cut if each[0] < each[1]]

    return clipped


def utc(text):
    return datetime.fromisoformat(text) if text else None


@pytest.mark.parametrize("vector", VECTORS, ids=lambda each: f"{each['name']} {each['start']}")
def test_a_due_time_is_that_of_its_vector(vector):
    budget = timedelta(minutes=vector["targetMinutes"], seconds=vector.get("creditSeconds", 0))
    pauses = [(utc(begin), utc(end)) for begin, end in vector["pauses"]]
    found = hours_of(vector["calendar"]).due(utc(vector["start"]), budget, pauses)
    assert found == utc(vector["due"])


def test_there_are_43_vectors():
    assert len(VECTORS) == 43


def test_windows_of_the_weekend_calendar():
    weekends = read_calendar(TEXTS["S"]).windows(utc("2026-10-20T00:00Z"), utc("2026-11-03T00:00Z"))
    assert weekends == [
        (utc("2026-10-23T23:00Z"), utc("2026-10-26T00:00Z")),
        (utc("2026-10-31T00:00Z"), utc("2026-11-02T00:00Z")),
    ]


@pytest.mark.parametrize(
    ("start", "end", "begins", "ends"),
    [
        ("20260329T013000", "20260329T030000", "2026-03-29T01:30Z", "2026-03-29T02:00Z"),
        ("20261025T013000", "20261025T030000", "2026-10-25T00:30Z", "2026-10-25T03:00Z"),
        ("20261012T090000", "20261012T100000", "2026-10-12T08:00Z", "2026-10-12T09:00Z"),
    ],
)
def test_local_times_that_are_skipped_repeated_or_floating(start, end, begins, ends):
    text = (
        "BEGIN:VCALENDAR\nX-WR-TIMEZONE:Europe/Lisbon\nBEGIN:VEVENT\nUID:1\n"
        f"DTSTART:{start}\nDTEND:{end}\nEND:VEVENT\nEND:VCALENDAR"
    )
    windows = read_calendar(text).windows(utc("2026-01-01T00:00Z"), utc("2027-01-01T00:00Z"))
    assert windows == [(utc(begins), utc(ends))]


def test_a_budget_is_used_up_at_closing_and_not_at_the_next_opening():
    hours = BusinessTime(source([(MONDAY, MONDAY + HOUR), (MONDAY + DAY, MONDAY + DAY + HOUR)]))
    assert hours.due(MONDAY, HOUR) == MONDAY + HOUR
    assert hours.due(MONDAY, HOUR + timedelta(milliseconds=1)) == MONDAY + DAY + timedelta(milliseconds=1)
    assert hours.due(MONDAY - DAY, MINUTE) == MONDAY + MINUTE
    assert hours.due(MONDAY + HOUR, MINUTE) == MONDAY + DAY + MINUTE
    assert hours.due(MONDAY, timedelta(0)) == MONDAY


def test_a_pause_that_lasts_leaves_no_due_time_unless_the_budget_was_used_before():
    pause = [(MONDAY + HOUR, None)]
    assert ALWAYS.due(MONDAY, HOUR, pause) == MONDAY + HOUR
    assert ALWAYS.due(MONDAY, 2 * HOUR, pause) is None
    assert ALWAYS.seconds_between(MONDAY, MONDAY + DAY, pause) == HOUR


def test_hours_that_come_later_than_the_horizon_do_not_count():
    far = MONDAY + 100 * DAY
    hours = BusinessTime(source([(MONDAY, MONDAY + HOUR), (far, far + HOUR)]), None, 50 * DAY)
    assert hours.due(MONDAY, 2 * HOUR) is None
    assert hours.window_at(MONDAY + DAY) == (None, None)
    # The search goes on with the clock, and from where a pause ends.
    assert hours.due(MONDAY, 2 * HOUR, now=MONDAY + 60 * DAY) == far + HOUR
    assert hours.due(MONDAY, 2 * HOUR, [(MONDAY + 2 * DAY, MONDAY + 60 * DAY)]) == far + HOUR
    assert hours.window_at(MONDAY + 60 * DAY) == (None, far)


def test_holidays_are_subtracted_from_hours_and_from_every_minute():
    holiday = source([(MONDAY + 10 * HOUR, MONDAY + 12 * HOUR), (MONDAY + DAY, MONDAY + 2 * DAY)])
    hours = BusinessTime(source([(MONDAY + 9 * HOUR, MONDAY + 17 * HOUR)]), holiday)
    assert hours.seconds_between(MONDAY, MONDAY + DAY) == 6 * HOUR
    assert hours.due(MONDAY, 2 * HOUR) == MONDAY + 13 * HOUR
    every = BusinessTime(None, holiday)
    assert every.due(MONDAY + DAY, MINUTE) == MONDAY + 2 * DAY + MINUTE


def test_the_window_of_an_instant():
    hours = hours_of("A")
    assert hours.window_at(utc("2026-10-13T08:00Z")) == (utc("2026-10-13T16:00Z"), None)
    assert hours.window_at(utc("2026-10-13T16:00Z")) == (None, utc("2026-10-14T08:00Z"))
    assert hours.is_open(utc("2026-10-13T08:00Z"))
    assert not hours.is_open(utc("2026-10-13T16:00Z"))
    assert ALWAYS.window_at(MONDAY) == (None, None)
    assert ALWAYS.is_open(MONDAY)
    # A window longer than what is expanded at a time.
    long = BusinessTime(source([(MONDAY, MONDAY + 400 * DAY)]))
    assert long.window_at(MONDAY + DAY) == (MONDAY + 400 * DAY, None)


def test_times_are_whole_milliseconds():
    start = MONDAY + timedelta(microseconds=1999)
    assert ALWAYS.due(start, MINUTE) == MONDAY + MINUTE + timedelta(milliseconds=1)


# Random hours within a day, in minutes, against a count of minutes that knows nothing of spans.
LENGTH = 24 * 60
spans = st.lists(
    st.tuples(st.integers(0, LENGTH), st.integers(1, 400)).map(lambda each: (each[0], sum(each))), max_size=8
)
minutes = st.integers(0, LENGTH)
budgets = st.integers(1, 700)


def holds(some, minute):
    return any(start <= minute < end for start, end in some)


def count(windows, holidays, pauses, start, end):
    return sum(
        holds(windows, minute) and not holds(holidays, minute) and not holds(pauses, minute)
        for minute in range(start, end)
    )


def instants(some):
    return [(MONDAY + start * MINUTE, MONDAY + end * MINUTE) for start, end in some]


def hours_from(windows, holidays):
    """Merged as calendars merge."""
    merged = merge_pauses(instants(windows)), merge_pauses(instants(holidays))
    return BusinessTime(source(merged[0]), source(merged[1]) if holidays else None, 30 * DAY)


@given(spans, spans, spans, minutes, minutes, st.integers(1, 1500))
@settings(max_examples=60, deadline=None)
def test_hours_are_those_of_counted_minutes(windows, holidays, pauses, start, end, budget):
    hours = hours_from(windows, holidays)
    begin, finish = MONDAY + start * MINUTE, MONDAY + end * MINUTE
    counted = count(windows, holidays, pauses, start, end)
    assert hours.seconds_between(begin, finish, instants(pauses)) == counted * MINUTE
    left, minute = budget, start
    while left and minute < LENGTH + 1000:
        left -= count(windows, holidays, pauses, minute, minute + 1)
        minute += 1
    assert hours.due(begin, budget * MINUTE, instants(pauses)) == (None if left else MONDAY + minute * MINUTE)


@given(spans, spans, spans, minutes, budgets, budgets, st.randoms())
@settings(max_examples=60, deadline=None)
def test_more_budget_and_more_pauses_are_never_due_earlier(
    windows, holidays, pauses, start, one, more, random
):
    hours, begin = hours_from(windows, holidays), MONDAY + start * MINUTE
    stops = instants(pauses)
    due = hours.due(begin, one * MINUTE, stops)
    later = hours.due(begin, (one + more) * MINUTE, stops)
    assert due is None or later is None or due < later
    assert due is not None or later is None
    without = hours.due(begin, one * MINUTE, stops[1:])
    assert due is None or (without is not None and without <= due)
    if due is not None:
        # Business time and due time are inverse to each other, and the order of pauses is of no matter.
        assert hours.seconds_between(begin, due, stops) == one * MINUTE
        random.shuffle(stops)
        random.shuffle(windows)
        assert hours_from(windows, holidays).due(begin, one * MINUTE, stops) == due


@given(st.lists(st.tuples(st.integers(-400, 400), st.integers(-400, 400)), min_size=1, max_size=4))
@settings(max_examples=10, deadline=None)
def test_what_was_asked_before_changes_no_answer(days):
    # Windows are expanded to both sides as they are needed.
    kept = hours_of("N")
    for first, last in days:
        begin, end = MONDAY + first * DAY, MONDAY + last * DAY
        fresh = hours_of("N")
        assert kept.seconds_between(begin, end) == fresh.seconds_between(begin, end)
        assert kept.due(begin, abs(last) * HOUR) == fresh.due(begin, abs(last) * HOUR)
