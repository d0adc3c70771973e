"""iCalendar text for tests of scheduled commands."""

import base64
from datetime import UTC, datetime, timedelta

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)


def minutes(number):
    """The instant so many minutes after NOW."""
    return NOW + timedelta(minutes=number)


def encode_calendar(*events, head=()):
    """Base64 of a calendar.

    An event is its lines, or (start, end, *further lines); start and end are instants, or minutes from NOW.
    """
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//test//EN", *head]
    for number, event in enumerate(events):
        written = event
        if not isinstance(event[0], str):
            start, end = (each if isinstance(each, datetime) else minutes(each) for each in event[:2])
            written = (f"DTSTART:{start:%Y%m%dT%H%M%SZ}", f"DTEND:{end:%Y%m%dT%H%M%SZ}", *event[2:])
        lines += ["BEGIN:VEVENT", f"UID:{number}", *written, "END:VEVENT"]
    text = "\r\n".join([*lines, "END:VCALENDAR", ""])
    return base64.b64encode(text.encode()).decode()
