"""What calendars cost: known when they are stored, never exceeded when they are evaluated."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.codecs.calendars.hostile import calendars
from tests.codecs.calendars.reference import windows_of

from motorpool.codecs.calendars import calendar as module
from motorpool.codecs.calendars.calendar import Edge, block_of, is_open, read_calendar, span_at
from motorpool.codecs.calendars.content_lines import CalendarError
from motorpool.codecs.calendars.cost import BLOCK_DAYS, MAX_COST, PIECES, evaluation_cost
from motorpool.codecs.calendars.events import MAX_STEPS, read_events
from motorpool.codecs.calendars.recurrence import StepLimit
from motorpool.codecs.calendars.recurrence_sets import ZonedCalendar, merge

ZONES = st.sampled_from(
    [UTC, *map(ZoneInfo, ("Europe/Berlin", "Pacific/Apia", "Australia/Lord_Howe", "Etc/GMT+12"))]
)
INSTANTS = st.datetimes(datetime.fromisoformat("2009-01-01"), datetime.fromisoformat("2021-01-01")).map(
    lambda moment: moment.replace(second=0, microsecond=0, tzinfo=UTC)
)
LONG = "DTSTART:20200101T000000Z\nDURATION:P3600D\nRRULE:FREQ=DAILY"


def calendar(*events):
    lines = ["BEGIN:VCALENDAR"]
    for number, event in enumerate(events):
        lines += ["BEGIN:VEVENT", f"UID:{number}", event, "END:VEVENT"]
    return "\n".join([*lines, "END:VCALENDAR"])


def events_of(text):
    return read_events(text.encode(), StepLimit(MAX_STEPS).spend)


@pytest.mark.parametrize(
    "events",
    [
        [LONG] * 30,
        ["DTSTART:20200101T000000Z\nRDATE;VALUE=PERIOD:20200101T000000Z/P3660D\nRRULE:FREQ=DAILY"] * 30,
        ["DTSTART:20200101T000000Z\nDURATION:PT1H\nRRULE:FREQ=HOURLY;BYHOUR=8"] * 40,
    ],
    ids=["lasting", "one that lasts", "never matching"],
)
def test_calendars_that_cost_too_much_to_evaluate_are_refused_when_they_are_stored(events):
    with pytest.raises(CalendarError, match=rf"\d+ times would have to be looked at, and at most {MAX_COST}"):
        read_calendar(calendar(*events))
    # Those that are stored already are read, and their cost is known.
    assert read_calendar(calendar(*events), is_stored=True).cost > MAX_COST


def test_later_instances_that_were_changed_a_thousand_times_cost_what_is_counted():
    # Each instance was compared with each change: millions of comparisons in a month.
    main = "BEGIN:VEVENT\nUID:a\nDTSTART:20200101T000000Z\nDURATION:PT1H\nRRULE:FREQ=HOURLY\nEND:VEVENT"
    changes = [
        "BEGIN:VEVENT\nUID:a\n"
        f"RECURRENCE-ID;RANGE=THISANDFUTURE:{day:%Y%m%d}T000000Z\n"
        f"DTSTART:{day:%Y%m%d}T000000Z\nDURATION:PT30M\nEND:VEVENT"
        for day in (datetime(2020, 1, 2, tzinfo=UTC) + timedelta(days=number) for number in range(1000))
    ]
    opened = read_calendar("\n".join(["BEGIN:VCALENDAR", main, *changes, "END:VCALENDAR"]))
    assert opened.next_edge(datetime(2030, 6, 1, tzinfo=UTC)) == Edge(
        datetime(2030, 6, 1, 0, 30, tzinfo=UTC), opens=False
    )


def test_events_of_one_uid_with_changes_are_counted_for_each():
    main = "BEGIN:VEVENT\nUID:a\nDTSTART:20200101T000000Z\nDURATION:PT1H\nEND:VEVENT"
    change = main.replace("UID:a", "UID:a\nRECURRENCE-ID:20200101T000000Z")
    with pytest.raises(CalendarError, match="would have to be looked at"):
        read_calendar("\n".join(["BEGIN:VCALENDAR", *[main] * 500, *[change] * 700, "END:VCALENDAR"]))


def test_what_a_fleet_uses_is_accepted_and_costs_little():
    shifts = [f"DTSTART:20200106T{hour:02}0000\nDURATION:PT8H\nRRULE:FREQ=WEEKLY" for hour in (6, 14, 22)]
    assert read_calendar(calendar(*shifts)).cost < 2_000
    holidays = [f"DTSTART:20{year:02}0501\nRRULE:FREQ=YEARLY" for year in range(20, 60)] * 5
    assert read_calendar(calendar(*holidays)).cost < len(holidays) * MAX_COST / 8000
    once = ["DTSTART:20200105T080000Z\nDURATION:PT10M\nRRULE:FREQ=DAILY;COUNT=1"] * 200
    assert read_calendar(calendar(*once)).cost < len(once) * MAX_COST / 5000
    often = ["DTSTART:20200101T000000Z\nDURATION:PT1M\nRRULE:FREQ=HOURLY"] * 5
    assert read_calendar(calendar(*often)).cost < MAX_COST
    assert read_calendar(calendar(*[LONG] * 20)).cost < MAX_COST


@given(calendars(), ZONES, INSTANTS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_evaluation_takes_more_steps_than_the_cost_of_the_calendar(text, zone, instant):
    with suppress(CalendarError):
        events = events_of(text)
        limit = StepLimit(10**12)
        zoned = ZonedCalendar(events, zone, limit.spend)
        begin = instant
        for blocks in PIECES:
            end = begin + timedelta(days=30 * blocks)
            before = limit.spent
            found = zoned.windows(begin, end, limit.spend)
            windows_cost = limit.spent - before
            ended = zoned.ending(begin, end, StepLimit(evaluation_cost(events)).spend)
            assert {window for window in ended if window[0] < window[1]} == set(ended)
            assert windows_cost <= evaluation_cost(events)
            assert found == merge(found)
            begin = end
        assert limit.spent <= evaluation_cost(events)


@given(calendars(), ZONES, st.lists(INSTANTS, min_size=1, max_size=3))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_what_was_accepted_is_never_too_much_to_evaluate(text, zone, instants):
    try:
        opened = read_calendar(text)
    except CalendarError:
        return
    for instant in instants:
        opened.next_edge(instant, zone=zone)
        opened.next_ended(instant, zone=zone)
        opened.windows(instant, instant + timedelta(days=4000), zone=zone)
        opened.covers(instant, zone=zone)


@given(calendars(), ZONES, INSTANTS, st.sampled_from([1, 40, 400]))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_windows_edges_and_ends_are_those_of_the_definition(text, zone, start, days):
    try:
        opened = read_calendar(text, is_stored=True)
        end = start + timedelta(days=days)
        windows = opened.windows(start, end, zone=zone)
    except CalendarError:
        return
    reference = windows_of(events_of(text), zone, start, end)
    expected = merge((max(begin, start), min(finish, end)) for begin, finish in reference)
    assert windows == expected
    for instant in (start, *(moment for window in expected[:3] for moment in window)):
        is_covered = any(begin <= instant < finish for begin, finish in reference)
        if instant < end:
            block, seconds = block_of(instant), instant.timestamp()
            edges = opened.block_edges(block, zone)
            assert is_open(edges, instant) is is_covered
            first, last, is_open_there = span_at(edges, block, seconds)
            assert first <= seconds < last
            assert is_open_there is is_covered
            assert block * BLOCK_DAYS * 86_400 <= first < last <= (block + 1) * BLOCK_DAYS * 86_400
            assert not any(first < edge < last for edge in edges)
            assert opened.covers(instant, zone=zone) is is_covered
    edge = opened.next_edge(start, zone=zone)
    inner = [moment for window in expected for moment in window if start < moment < end]
    if inner:
        assert edge == Edge(inner[0], opens=inner[0] in {begin for begin, _ in expected})
    else:
        assert edge is None or edge.at >= end
    ends = sorted({finish for _, finish in reference if start < finish < end})
    first = opened.next_ended(start, zone=zone)
    if ends:
        assert first == tuple(sorted({each for each in reference if each[1] == ends[0]}))
    else:
        assert not first or first[0][1] >= end


def test_of_a_calendar_stored_before_the_limit_what_is_within_it_is_answered(monkeypatch):
    monkeypatch.setattr(module, "MAX_COST", 10_000)
    old = read_calendar(calendar(LONG), is_stored=True)
    # Before its first event it takes few steps, years later more than are spent.
    assert old.next_edge(datetime(2019, 12, 1, tzinfo=UTC)) == Edge(
        datetime(2020, 1, 1, tzinfo=UTC), opens=True
    )
    with pytest.raises(CalendarError, match="need more than 10000 times"):
        old.next_edge(datetime(2031, 1, 1, tzinfo=UTC))
