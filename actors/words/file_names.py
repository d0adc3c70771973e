"""Names of files that people save: what is in them, of whom, and of which days."""

import unicodedata
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final
from urllib.parse import quote

MOST_CHARACTERS: Final = 60
"""Of what a user has called something."""
_MARKS: Final = "-._"
_MOMENT: Final = timedelta(microseconds=1)


def file_name(*parts: str, extension: str) -> str:
    """Return a name of these parts, such as `trips_Van-12_2026-11-01_2026-11-07.xlsx`.

    It has letters and digits of any script, `-`, `.` and `_`; what else is in a part becomes `-`. Parts of
    which nothing remains are left out.
    """
    kept = (_clean(part) for part in parts)
    return f"{'_'.join(part for part in kept if part)}.{extension}"


def days_of(start: datetime, end: datetime, zone: tzinfo) -> tuple[str, str]:
    """Return the first and the last day of a span; an end at midnight belongs to the day before."""
    last = max(start, end - _MOMENT) if end > datetime.min.replace(tzinfo=UTC) else end
    return _day(start, zone), _day(last, zone)


def content_disposition(name: str) -> str:
    """Return the header by which a browser saves an answer as a file of this name (RFC 6266)."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    plain = "_".join(part for each in plain.split("_") if (part := each.strip("-")))
    value = f'attachment; filename="{plain}"'
    return value if plain == name else f"{value}; filename*=UTF-8''{quote(name, safe='')}"


def _clean(text: str) -> str:
    shown = "".join(each if _is_kept(each) else " " for each in unicodedata.normalize("NFC", text))
    return "-".join(shown.split())[:MOST_CHARACTERS].strip(_MARKS)


def _is_kept(character: str) -> bool:
    """Whether it is a letter, a digit, a mark on a letter, or one of `_MARKS`."""
    return character in _MARKS or unicodedata.category(character)[0] in "LNM"


def _day(instant: datetime, zone: tzinfo) -> str:
    try:
        instant = instant.astimezone(zone)
    except OverflowError:  # at the ends of the calendar
        instant = instant.astimezone(UTC)
    return instant.date().isoformat()
