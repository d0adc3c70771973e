"""Values of sensors in intervals of time."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.actors.reports.sensor_intervals import DAY, MAX_GAP, MOST, SensorSeries, cut, interval_of
from motorpool.actors.rules.sensor_limits import SensorLimit

MAY = datetime(2026, 5, 1, tzinfo=UTC)
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
BERLIN = ZoneInfo("Europe/Berlin")


def at(minutes):
    return MAY + minutes * MINUTE


@pytest.mark.parametrize(
    ("span", "wanted", "interval"),
    [
        (8 * HOUR, timedelta(), MINUTE),
        (DAY, timedelta(), 5 * MINUTE),
        (7 * DAY, timedelta(), 15 * MINUTE),
        (31 * DAY, timedelta(), HOUR),
        (31 * DAY, MINUTE, HOUR),
        (31 * DAY, 6 * HOUR, 6 * HOUR),
        (365 * DAY, timedelta(), DAY),
        (9998 * 365 * DAY, timedelta(), 3650 * DAY),
        (timedelta(), timedelta(), MINUTE),
        (timedelta(), 90 * MINUTE, 90 * MINUTE),
        (timedelta(), 36 * HOUR, 2 * DAY),
    ],
)
def test_the_interval_follows_from_the_span(span, wanted, interval):
    found = interval_of(span, wanted)
    assert found == interval
    assert (
        len(cut(datetime(1, 1, 1, tzinfo=UTC), datetime(1, 1, 1, tzinfo=UTC) + span, found, UTC)) <= MOST + 1
    )


def test_intervals_begin_at_the_clock_of_the_reader():
    found = cut(at(7), at(100), 15 * MINUTE, UTC)
    assert found == [at(each) for each in (7, 15, 30, 45, 60, 75, 90)]
    nepal = ZoneInfo("Asia/Kathmandu")
    assert cut(at(7), at(100), HOUR, nepal) == [at(7), at(15), at(75)]
    # The day on which clocks are put back has 25 hours.
    days = cut(datetime(2026, 10, 24, 12, tzinfo=UTC), datetime(2026, 10, 27, tzinfo=UTC), DAY, BERLIN)
    assert [f"{day.astimezone(BERLIN):%d %H:%M}" for day in days] == [
        "24 14:00",
        "25 00:00",
        "26 00:00",
        "27 00:00",
    ]
    assert days[2] - days[1] == 25 * HOUR
    last = datetime.max.replace(tzinfo=UTC)
    for interval in (HOUR, DAY):
        assert cut(last, last, interval, ZoneInfo("Asia/Tokyo")) == [last]
    first = datetime.min.replace(tzinfo=UTC)
    assert cut(first, first + 2 * HOUR, HOUR, ZoneInfo("America/New_York"))[0] == first


def clocks(start, hours, interval, zone=BERLIN):
    return [f"{each.astimezone(zone):%H:%M}" for each in cut(start, start + hours * HOUR, interval, zone)]


def test_intervals_begin_by_the_clock_after_it_was_changed():
    put_back = datetime(2026, 10, 24, 22, tzinfo=UTC)
    assert clocks(put_back, 31, 6 * HOUR) == ["00:00", "06:00", "12:00", "18:00", "00:00", "06:00"]
    assert clocks(put_back, 5, HOUR) == ["00:00", "01:00", "02:00", "02:00", "03:00", "04:00"]
    put_on = datetime(2026, 3, 28, 23, tzinfo=UTC)
    assert clocks(put_on, 29, 12 * HOUR) == ["00:00", "12:00", "00:00"]
    assert clocks(put_on, 4, HOUR) == ["00:00", "01:00", "03:00", "04:00", "05:00"]
    # A whole day that there never was, between two others.
    samoa = ZoneInfo("Pacific/Apia")
    span = datetime(2011, 12, 29, 10, tzinfo=UTC), datetime(2011, 12, 31, tzinfo=UTC)
    for interval, days in ((DAY, [29, 31]), (12 * HOUR, [29, 29, 31, 31])):
        assert [each.astimezone(samoa).day for each in cut(*span, interval, samoa)] == days
    # What does not divide the day begins anew at midnight, days in threes do not.
    assert clocks(MAY, 40, 7 * HOUR, UTC) == ["00:00", "07:00", "14:00", "21:00", "00:00", "07:00", "14:00"]
    assert [each.day for each in cut(MAY, MAY + 7 * DAY, 3 * DAY, UTC)] == [1, 4, 7]


CHANGES = [
    ("Europe/Berlin", datetime(2026, 3, 29, 1, tzinfo=UTC)),
    ("Europe/Berlin", datetime(2026, 10, 25, 1, tzinfo=UTC)),
    ("America/Havana", datetime(2026, 3, 8, 5, tzinfo=UTC)),  # at midnight
    ("America/Havana", datetime(2026, 11, 1, 5, tzinfo=UTC)),
    ("America/Santiago", datetime(2026, 4, 5, 3, tzinfo=UTC)),  # to the day before
    ("Australia/Lord_Howe", datetime(2026, 4, 4, 15, tzinfo=UTC)),  # half an hour
    ("Australia/Lord_Howe", datetime(2026, 10, 3, 15, 30, tzinfo=UTC)),
    ("Africa/Casablanca", datetime(2026, 2, 15, 2, tzinfo=UTC)),
    ("Pacific/Apia", datetime(2011, 12, 30, 10, tzinfo=UTC)),
    ("Asia/Kathmandu", datetime(2026, 5, 1, tzinfo=UTC)),
]


@given(
    st.sampled_from(CHANGES),
    st.integers(-2000, 0),
    st.integers(0, 3000),
    st.sampled_from([15, 30, 60, 90, 120, 360, 420, 720, 1000]),
)
def test_an_interval_begins_whenever_the_clock_shows_a_multiple_of_it(change, before, length, minutes):
    zone, start = ZoneInfo(change[0]), change[1] + before * MINUTE
    found = cut(start, start + length * MINUTE, minutes * MINUTE, zone)
    expected, day = [start], start.astimezone(zone).date()
    for instant in (start + minute * MINUTE for minute in range(1, length + 1)):
        clock = instant.astimezone(zone)
        if clock.date() > day or (clock.hour * 60 + clock.minute) % minutes == 0:
            expected.append(instant)
        day = max(day, clock.date())
    assert found == expected


LATER = at(1000)


def filled(readings, *, limit=None, begins=None, end=LATER):
    series = SensorSeries(begins or cut(MAY, end, HOUR, UTC), limit)
    for minutes, value in readings:
        series.add(at(minutes), value)
    series.end(end)
    return series.intervals


def test_figures_of_an_interval_are_those_of_its_values():
    found = filled([(0, 3.0), (20, -1.0), (59.9, 4.0), (60, 7.0), (200, 0.1), (201, 0.2)])
    assert {
        place: (each.count, each.minimum, each.mean, each.maximum, each.last) for place, each in found.items()
    } == {0: (3, -1.0, 2.0, 4.0, 4.0), 1: (1, 7.0, 7.0, 7.0, 7.0), 3: (2, 0.1, 0.15, 0.2, 0.2)}
    assert not any(each.outside for each in found.values())


def minutes_out(found):
    return {place: each.outside / MINUTE for place, each in found.items() if each.outside}


def test_time_out_of_range_lasts_until_the_sensor_is_back_and_is_cut_at_the_intervals():
    limit = SensorLimit(most=-18.0, hysteresis=1.0)
    readings = [(0, -20.0), (50, -17.0), (70, -18.5), (100, -19.0), (110, -18.1)]
    assert minutes_out(filled(readings, limit=limit)) == {0: 10, 1: 40}


def test_a_value_counts_for_an_hour_at_most_and_until_the_end():
    limit = SensorLimit(least=5.0)
    found = filled([(30, 4.0), (300, 6.0)], limit=limit)
    assert minutes_out(found) == {0: 30, 1: 30}
    assert (found[1].count, found[1].mean, found[1].last) == (0, None, None)
    assert minutes_out(filled([(30, 4.0)], limit=limit, end=at(40))) == {0: 10}
    assert minutes_out(filled([(30, 4.0)], limit=limit)) == {0: 30, 1: 30}
    assert minutes_out(filled([(30, 4.0)], limit=limit, begins=[MAY])) == {0: 60}


@given(
    st.lists(
        st.tuples(st.sampled_from([0, 1, 7, 30, 60, 90, 400]), st.sampled_from([1, 2, 3, 4, 5])), max_size=30
    ),
    st.sampled_from([MINUTE, 7 * MINUTE, HOUR, DAY]),
)
def test_intervals_hold_all_values_and_all_time_out_of_range(steps, interval):
    readings, now = [], 0
    for step, value in steps:
        now += step
        readings.append((now, float(value)))
    end, limit = at(now + 30), SensorLimit(most=3.0)
    begins = cut(MAY, end, interval, UTC)
    found = filled(readings, limit=limit, begins=begins, end=end)
    expected = sum(
        (
            min(at(after) - at(before), MAX_GAP)
            for (before, value), (after, _) in pairwise([*readings, (now + 30, 0)])
            if value > 3
        ),
        timedelta(),
    )
    assert sum((each.outside for each in found.values()), timedelta()) == expected
    assert sum(each.count for each in found.values()) == len(readings)
    assert all(each.outside <= interval for each in found.values())
    for minutes, value in readings:
        place = max(place for place, begin in enumerate(begins) if begin <= at(minutes))
        assert found[place].minimum <= value <= found[place].maximum
