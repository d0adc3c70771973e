"""Business time of random shifts and holidays in weeks of clock changes, against a count of quarter hours.

The count asks of each quarter what the clock on the wall shows; it knows neither windows nor calendars.
"""

from datetime import UTC, date, datetime, timedelta
from functools import partial
from zoneinfo import ZoneInfo

from hypothesis import given, settings
from hypothesis import strategies as st

from motorpool.actors.helpdesk.business_time import BusinessTime
from motorpool.codecs.calendars.calendar import read_calendar

QUARTER = timedelta(minutes=15)
DAYS = 10
WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
changes = st.sampled_from(
    [
        ("Europe/Lisbon", date(2026, 3, 29)),
        ("Europe/Lisbon", date(2026, 10, 25)),
        ("America/New_York", date(2026, 3, 8)),
        ("America/New_York", date(2026, 11, 1)),
        ("Australia/Lord_Howe", date(2026, 4, 5)),
    ]
)
# Begin and end lie outside of the hours that are skipped or repeated.
shifts = st.lists(
    st.tuples(st.sets(st.integers(0, 6), min_size=1), st.integers(16, 95), st.integers(16, 95)), max_size=3
)
quarters = st.integers(0, DAYS * 96)
days_of = st.sets(st.integers(0, 9), max_size=4)


def text_of(events):
    lines = ["BEGIN:VCALENDAR"]
    for number, event in enumerate(events):
        lines += ["BEGIN:VEVENT", f"UID:{number}", *event, "END:VEVENT"]
    return "\n".join([*lines, "END:VCALENDAR"])


def local(day, quarter):
    return f"{datetime.combine(day, datetime.min.time()) + quarter * QUARTER:%Y%m%dT%H%M%S}"


def shift_event(weekdays, begin, end, closed):
    """From `begin` to `end` by the clock, on the next day if that is not later; but not on closed days."""
    first = next(date(2026, 1, 5) + timedelta(day) for day in range(7) if day in weekdays)
    last = first if end > begin else first + timedelta(1)
    yield f"DTSTART:{local(first, begin)}"
    yield f"DTEND:{local(last, end)}"
    yield "RRULE:FREQ=WEEKLY;BYDAY=" + ",".join(WEEKDAYS[day] for day in sorted(weekdays))
    yield from (f"EXDATE;VALUE=DATE:{day:%Y%m%d}" for day in closed)


def is_open(at, zone, some, closed, holidays):
    clock = at.astimezone(zone)
    quarter, today = clock.hour * 4 + clock.minute // 15, clock.date()
    yesterday = today - timedelta(1)

    def begins(day, weekdays):
        return day.weekday() in weekdays and day not in closed

    return today not in holidays and any(
        begins(today, weekdays) and begin <= quarter < end
        if end > begin
        else (begins(today, weekdays) and quarter >= begin) or (begins(yesterday, weekdays) and quarter < end)
        for weekdays, begin, end in some
    )


@given(
    changes, shifts, st.sets(st.integers(0, 9)), st.sets(st.integers(0, 9), max_size=3), quarters, quarters
)
@settings(max_examples=60, deadline=None)
def test_business_time_of_random_calendars(change, some, shut, free, start, pause):
    name, day = change
    zone, monday = ZoneInfo(name), day - timedelta(6)
    closed, holidays = ({monday + timedelta(each) for each in days} for days in (shut, free))
    hours = read_calendar(text_of(shift_event(*each, sorted(closed)) for each in some))
    days_off = read_calendar(text_of([f"DTSTART;VALUE=DATE:{each:%Y%m%d}"] for each in sorted(holidays)))
    business = BusinessTime(
        partial(hours.windows, zone=zone), partial(days_off.windows, zone=zone), timedelta(30)
    )
    origin = datetime(monday.year, monday.month, monday.day, tzinfo=UTC)
    begin, paused = origin + start * QUARTER, origin + pause * QUARTER
    pauses = [(paused, paused + 20 * QUARTER)]
    opened = []
    for number in range(start, DAYS * 96):
        at = origin + number * QUARTER
        if is_open(at, zone, some, closed, holidays) and not pause <= number < pause + 20:
            opened.append(at)
    end = origin + timedelta(DAYS)
    assert business.seconds_between(begin, end, pauses) == len(opened) * QUARTER
    for number in {1, len(opened) // 2, len(opened)} & set(range(1, len(opened) + 1)):
        assert business.due(begin, number * QUARTER, pauses) == opened[number - 1] + QUARTER
