from datetime import date, datetime

import pytest

from motorpool.codecs.calendars.recurrence_rules import Rule, read_rule

MONDAY = datetime.fromisoformat("2026-01-05T08:30:15")


def test_rules_are_parsed_in_any_case_and_order():
    read = read_rule("byday=mo,-1FR;BYMONTH=12,1;INTERVAL=2;FREQ=monthly;WKST=SU;BYSETPOS=-1;BYHOUR=9;")
    assert read == Rule(
        frequency="MONTHLY",
        interval=2,
        months=(1, 12),
        week_days=((-1, 4), (0, 0)),
        hours=(9,),
        positions=(-1,),
        week_start=6,
    )
    assert read_rule("FREQ=DAILY;UNTIL=20260131T080000Z").until == "20260131T080000Z"
    assert read_rule("FREQ=DAILY;BYSECOND=60").seconds == (59,)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "'' is not NAME=value"),
        ("DAILY", "'DAILY' is not NAME=value"),
        ("FREQ=", "'FREQ=' is not NAME=value"),
        ("FREQ=DAILY;FREQ=DAILY", "FREQ is there twice"),
        ("FREQ=SOMETIMES", "FREQ=SOMETIMES is none of HOURLY"),
        ("FREQ=MINUTELY", "finer than HOURLY"),
        ("FREQ=DAILY;COUNT=1;UNTIL=20260101", "COUNT and UNTIL exclude each other"),
        ("FREQ=DAILY;COUNT=0", "COUNT=0 is no number from 1 on"),
        ("FREQ=DAILY;INTERVAL=-1", "INTERVAL=-1 is no number"),
        ("FREQ=DAILY;INTERVAL=99999999999", "is no number"),
        ("FREQ=DAILY;WKST=XX", "WKST=XX is no weekday"),
        ("FREQ=DAILY;BYDAY=XX", "BYDAY=XX is no weekday"),
        ("FREQ=MONTHLY;BYDAY=0MO", "BYDAY=0MO is no weekday"),
        ("FREQ=WEEKLY;BYDAY=1MO", "BYDAY with numbers goes with"),
        ("FREQ=YEARLY;BYWEEKNO=20;BYDAY=1MO", "BYDAY with numbers goes with"),
        ("FREQ=MONTHLY;BYWEEKNO=20", "BYWEEKNO goes with FREQ=YEARLY only"),
        ("FREQ=YEARLY;BYWEEKNO=54", "BYWEEKNO=54 is not from 1 to 53"),
        ("FREQ=YEARLY;BYMONTH=-1", "BYMONTH=-1 is not from 1 to 12"),
        ("FREQ=MONTHLY;BYMONTHDAY=0", "BYMONTHDAY=0 is not from 1 to 31"),
        ("FREQ=DAILY;BYHOUR=24", "BYHOUR=24 is not from 0 to 23"),
        ("FREQ=DAILY;BYHOUR=1,,2", "BYHOUR= is not from 0"),
        ("FREQ=DAILY;RSCALE=CHINESE", "RSCALE is not known"),
    ],
)
def test_what_is_no_rule_is_refused_with_the_part_that_is_wrong(text, why):
    with pytest.raises(ValueError) as refused:
        read_rule(text)
    assert why in str(refused.value)


@pytest.mark.parametrize(
    ("text", "day", "matches"),
    [
        ("FREQ=MONTHLY;BYMONTHDAY=-1", "2028-02-29", True),
        ("FREQ=MONTHLY;BYMONTHDAY=-1", "2028-02-28", False),
        ("FREQ=YEARLY;BYYEARDAY=-1", "2026-12-31", True),
        ("FREQ=YEARLY;BYYEARDAY=60", "2026-03-01", True),
        ("FREQ=YEARLY;BYYEARDAY=60", "2028-02-29", True),
        # 1 January 2027 is a Friday: it lies in the 53rd week of 2026.
        ("FREQ=YEARLY;BYWEEKNO=53;BYDAY=FR", "2027-01-01", True),
        ("FREQ=YEARLY;BYWEEKNO=-1;BYDAY=FR", "2027-01-01", True),
        ("FREQ=YEARLY;BYWEEKNO=1;BYDAY=FR", "2027-01-01", False),
        # Its week has the fourth day in 2026 also where it begins on Sunday.
        ("FREQ=YEARLY;BYWEEKNO=1;BYDAY=FR;WKST=SU", "2027-01-01", False),
        ("FREQ=YEARLY;BYWEEKNO=1;BYDAY=SU;WKST=SU", "2027-01-03", True),
        ("FREQ=YEARLY;BYWEEKNO=1;BYDAY=SU", "2027-01-03", False),
        ("FREQ=YEARLY;BYDAY=53FR", "2027-12-31", True),
        ("FREQ=YEARLY;BYDAY=-1FR", "2027-12-31", True),
        ("FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU", "2026-03-29", True),
        ("FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU", "2026-12-27", False),
        # What is left out comes from the start, a Monday the 5th of January.
        ("FREQ=WEEKLY", "2026-03-02", True),
        ("FREQ=MONTHLY", "2026-03-05", True),
        ("FREQ=YEARLY", "2030-01-05", True),
        ("FREQ=YEARLY;BYMONTH=7", "2030-07-05", True),
        ("FREQ=YEARLY;BYWEEKNO=20", "2026-05-11", True),
        ("FREQ=YEARLY;BYWEEKNO=20", "2026-05-12", False),
    ],
)
def test_days_of_a_rule_with_defaults(text, day, matches):
    assert read_rule(text).with_defaults(MONDAY).matches(date.fromisoformat(day)) is matches


def test_times_of_a_rule_with_defaults():
    times = read_rule("FREQ=DAILY;BYHOUR=9,8;BYMINUTE=0,30").with_defaults(MONDAY).times
    assert [f"{each}" for each in times] == ["08:00:15", "08:30:15", "09:00:15", "09:30:15"]
    assert [f"{each}" for each in read_rule("FREQ=WEEKLY").with_defaults(MONDAY).times] == ["08:30:15"]
