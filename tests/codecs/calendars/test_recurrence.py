from datetime import datetime, timedelta

import pytest
from dateutil.rrule import rrulestr
from hypothesis import given
from hypothesis import strategies as st

from motorpool.codecs.calendars.recurrence import StepLimit, StepLimitExceeded, expand, last_counted
from motorpool.codecs.calendars.recurrence_rules import read_rule

START = datetime.fromisoformat("2026-01-05T08:00:00")


def free(steps):
    del steps


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("FREQ=DAILY;COUNT=1", "2026-01-05T08:00:00"),
        ("FREQ=DAILY;COUNT=10;INTERVAL=2", "2026-01-23T08:00:00"),
        ("FREQ=HOURLY;COUNT=1000000", "2140-02-03T23:00:00"),
        ("FREQ=WEEKLY;COUNT=3", "2026-01-19T08:00:00"),
        ("FREQ=WEEKLY;COUNT=3;BYDAY=MO,TU", "2026-01-12T08:00:00"),
        ("FREQ=MONTHLY;COUNT=12", "2026-12-05T08:00:00"),
        ("FREQ=DAILY;COUNT=3;BYHOUR=8,20", "2026-01-06T08:00:00"),
        ("FREQ=DAILY;COUNT=999999999;INTERVAL=999999999", "9998-12-31T00:00:00"),
    ],
)
def test_a_count_has_a_last_instance(text, last):
    rule = read_rule(text).with_defaults(START)
    assert last_counted(rule, START, spend=free) == datetime.fromisoformat(last)


def test_without_a_count_there_is_no_last_one():
    assert last_counted(read_rule("FREQ=DAILY").with_defaults(START), START, spend=free) is None


def test_work_is_bounded_by_the_budget():
    rule = read_rule("FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30").with_defaults(START)
    limit = StepLimit(100)
    assert list(expand(rule, START, START, START + timedelta(days=99), spend=limit.spend)) == []
    with pytest.raises(StepLimitExceeded, match="more than 100 times"):
        list(expand(rule, START, START, START, spend=limit.spend))


@pytest.mark.parametrize("frequency", ["HOURLY", "DAILY", "WEEKLY", "MONTHLY", "YEARLY"])
def test_the_end_of_the_calendar_is_an_end(frequency):
    start = datetime.fromisoformat("9997-12-01T08:00:00")
    rule = read_rule(f"FREQ={frequency}").with_defaults(start)
    found = list(expand(rule, start, start, datetime.fromisoformat("9999-12-31T23:59:59")))
    assert found[0] == start
    assert found == sorted(set(found))


rules = st.sampled_from(
    [
        "FREQ=DAILY;INTERVAL=4",
        "FREQ=DAILY;BYMONTHDAY=1,-1;BYHOUR=7,9",
        "FREQ=WEEKLY;INTERVAL=3;BYDAY=SU,WE;WKST=SU",
        "FREQ=MONTHLY;INTERVAL=7;BYDAY=-2TU,3SA",
        "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=1,-1",
        "FREQ=YEARLY;BYYEARDAY=1,60,-60",
        "FREQ=YEARLY;BYWEEKNO=1,-1,53;BYDAY=MO,SU",
        "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29",
        "FREQ=HOURLY;INTERVAL=11;BYMONTH=3,4",
        "FREQ=HOURLY;BYMINUTE=5,35;BYDAY=SU;BYHOUR=3,4",
        "FREQ=HOURLY;INTERVAL=50;BYDAY=MO",
    ]
)


@given(rules, st.integers(0, 3000), st.integers(1, 500))
def test_instances_from_the_middle_are_those_that_dateutil_counts_from_the_start(text, skip, span):
    first = START + timedelta(days=skip, hours=5)
    last = first + timedelta(days=span)
    rule = read_rule(text).with_defaults(START)
    expected = rrulestr(text, dtstart=START).between(first, last, inc=True)
    assert list(expand(rule, START, first, last)) == expected
