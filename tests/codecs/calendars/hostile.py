"""Random calendars that are as odd and as dear as iCalendar allows."""

from datetime import datetime, timedelta

from hypothesis import strategies as st

ZONES = (
    "Z",
    "",
    "DATE",
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "Africa/Casablanca",
    "Odd/One",
)
ODD_ZONE = """BEGIN:VTIMEZONE
TZID:Odd/One
BEGIN:STANDARD
DTSTART:20100101T000000
RRULE:FREQ=YEARLY;BYMONTH=1
TZOFFSETFROM:+2300
TZOFFSETTO:-2300
END:STANDARD
BEGIN:DAYLIGHT
DTSTART:20100701T000000
RRULE:FREQ=YEARLY;BYMONTH=7
TZOFFSETFROM:-2300
TZOFFSETTO:+2300
END:DAYLIGHT
END:VTIMEZONE"""
starts = st.datetimes(datetime.fromisoformat("2009-06-01"), datetime.fromisoformat("2013-01-01")).map(
    lambda moment: moment.replace(second=0, microsecond=0)
)
lengths = st.sampled_from([0, 10, 60, 1440, 2880, 60_000, 400 * 1440, 3600 * 1440]).map(
    lambda minutes: timedelta(minutes=minutes)
)


def written(moment, zone):
    """The parameters and the value of a property."""
    if zone == "DATE":
        return f";VALUE=DATE:{moment:%Y%m%d}"
    if zone in {"", "Z"}:
        return f":{moment:%Y%m%dT%H%M%S}{zone}"
    return f";TZID={zone}:{moment:%Y%m%dT%H%M%S}"


def _some(draw, values, most=3):
    return ",".join(map(str, draw(st.lists(st.sampled_from(values), min_size=1, max_size=most, unique=True))))


@st.composite
def rules(draw, start, *, hourly=True):
    """The value of an RRULE."""
    frequencies = ["DAILY", "WEEKLY", "MONTHLY", "YEARLY", *(["HOURLY"] if hourly else [])]
    frequency = draw(st.sampled_from(frequencies))
    parts = [f"FREQ={frequency}"]
    if draw(st.booleans()):
        parts.append(f"INTERVAL={draw(st.sampled_from([1, 2, 3, 7, 13, 400, 999_999_999]))}")
    if draw(st.integers(0, 3)) == 0:
        parts.append(f"BYMONTH={_some(draw, [1, 2, 6, 12])}")
    if draw(st.integers(0, 3)) == 0:
        parts.append(f"BYMONTHDAY={_some(draw, [1, 15, 29, 30, 31, -1, -31])}")
    by_week = frequency == "YEARLY" and draw(st.integers(0, 3)) == 0
    if by_week:
        parts.append(f"BYWEEKNO={_some(draw, [1, 20, 53, -1])}")
    if draw(st.booleans()):
        days = ["MO", "WE", "SA", "SU"]
        if frequency in {"MONTHLY", "YEARLY"} and not by_week:
            days += ["1TU", "-1FR", "5TH", "-53SU"]
        parts.append(f"BYDAY={_some(draw, days)}")
    if frequency == "YEARLY" and draw(st.integers(0, 3)) == 0:
        parts.append(f"BYYEARDAY={_some(draw, [1, 60, 366, -1, -366])}")
    if hourly and draw(st.integers(0, 3)) == 0:
        parts.append(f"BYHOUR={_some(draw, [0, 2, 3, 12, 23])}")
    if hourly and draw(st.integers(0, 3)) == 0:
        parts.append(f"BYMINUTE={_some(draw, [0, 1, 30, 59])}")
    if draw(st.integers(0, 3)) == 0:
        parts.append(f"BYSETPOS={_some(draw, [1, 2, -1, 366])}")
    if draw(st.booleans()):
        parts.append(f"WKST={draw(st.sampled_from(['MO', 'SU', 'TH']))}")
    end = draw(st.integers(0, 3))
    if end == 0:
        parts.append(f"COUNT={draw(st.sampled_from([1, 2, 30]))}")
    elif end == 1:
        until = start + timedelta(days=draw(st.sampled_from([-1, 0, 1, 100, 1500])))
        parts.append(f"UNTIL={until:%Y%m%dT%H%M%SZ}")
    return ";".join(parts)


@st.composite
def events(draw, uids=("a", "b")):
    """The lines of a VEVENT, with others that change instances of it."""
    start, length, zone = draw(starts), draw(lengths), draw(st.sampled_from(ZONES))
    uid = draw(st.sampled_from(uids))
    days = max(1, length.days)
    duration = f"P{days}D" if zone == "DATE" else f"PT{length.total_seconds() / 60:.0f}M"
    lines = [f"UID:{uid}", f"DTSTART{written(start, zone)}", f"DURATION:{duration}"]
    timed = zone != "DATE"
    # Hours over ten years are a second each.
    hourly = timed and length.days < 1000
    lines += [f"RRULE:{draw(rules(start, hourly=hourly))}" for _ in range(draw(st.integers(0, 2)))]
    if draw(st.integers(0, 3)) == 0:
        lines.append(f"EXRULE:{draw(rules(start, hourly=hourly))}")
    others = lengths.filter(lambda each: each.days < 1000) if hourly else lengths
    for name in ("RDATE", "EXDATE"):
        for _ in range(draw(st.integers(0, 2))):
            day = start + timedelta(days=draw(st.integers(0, 40)))
            lines.append(f"{name}{written(day, draw(st.sampled_from([zone, zone, 'Z'])))}")
    if timed and draw(st.integers(0, 5)) == 0:
        lines.append(f"RDATE;VALUE=PERIOD:{start + timedelta(days=3):%Y%m%dT%H%M%SZ}/P{draw(others).days}D")
    if draw(st.integers(0, 5)) == 0:
        lines.append(f"SEQUENCE:{draw(st.integers(0, 2))}")
    found = ["\n".join(lines)]
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
        replaced = start + timedelta(days=draw(st.integers(0, 10)))
        moved = replaced + draw(st.sampled_from([timedelta(0), timedelta(hours=5), timedelta(days=-300)]))
        other = draw(st.sampled_from([zone, "", "Z"])) if timed else "DATE"
        change = [
            f"UID:{uid}",
            f"RECURRENCE-ID{draw(st.sampled_from(['', ';RANGE=THISANDFUTURE']))}{written(replaced, zone)}",
            f"DTSTART{written(moved, other)}",
            f"DURATION:P{max(1, draw(others).days)}D",
        ]
        if draw(st.integers(0, 3)) == 0:
            change.append("STATUS:CANCELLED")
        found.append("\n".join(change))
    return found


@st.composite
def calendars(draw):
    """The text of a calendar."""
    lines = ["BEGIN:VCALENDAR", ODD_ZONE]
    if draw(st.integers(0, 4)) == 0:
        lines.append("X-WR-TIMEZONE:Australia/Lord_Howe")
    for group in draw(st.lists(events(), min_size=1, max_size=3)):
        for event in group:
            lines += ["BEGIN:VEVENT", event, "END:VEVENT"]
    return "\n".join([*lines, "END:VCALENDAR"])
