from datetime import UTC, datetime
from urllib.parse import unquote
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.actors.words.file_names import content_disposition, days_of, file_name


@pytest.mark.parametrize(
    ("called", "kept"),
    [
        ("Van 12", "Van-12"),
        ("Van_12", "Van_12"),
        ("B-MP 1 (north)", "B-MP-1-north"),
        ("../../etc/passwd", "etc-passwd"),
        ('a"b\\c\r\nSet-Cookie: x', "a-b-c-Set-Cookie-x"),
        ("Müller", "Müller"),
        ("Mu\u0308ller", "Müller"),
        ("货车 7", "货车-7"),
        ("हिन्दी", "हिन्दी"),
        ("a\u202egpj.exe", "a-gpj.exe"),
        ("x" * 99, "x" * 60),
        ("🚚", ""),
        ("...", ""),
    ],
)
def test_a_part_of_a_name_has_nothing_that_file_systems_or_headers_read(called, kept):
    expected = f"trips_{kept}_2026-11-01.xlsx" if kept else "trips_2026-11-01.xlsx"
    assert file_name("trips", called, "2026-11-01", extension="xlsx") == expected


def test_days_are_those_of_the_reader():
    start, end = datetime(2026, 11, 1, tzinfo=UTC), datetime(2026, 11, 8, tzinfo=UTC)
    assert days_of(start, end, UTC) == ("2026-11-01", "2026-11-07")
    assert days_of(start, end, ZoneInfo("Europe/Berlin")) == ("2026-11-01", "2026-11-08")
    assert days_of(start, end, ZoneInfo("America/New_York")) == ("2026-10-31", "2026-11-07")
    assert days_of(start, start, UTC) == ("2026-11-01", "2026-11-01")
    first, last = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
    assert days_of(first, first, ZoneInfo("America/New_York")) == ("0001-01-01", "0001-01-01")
    assert days_of(first, last, ZoneInfo("Asia/Tokyo")) == ("0001-01-01", "9999-12-31")


@given(st.text(max_size=200))
def test_the_header_has_any_name(called):
    name = file_name("trips", called, "2026-11-01", extension="xlsx")
    header = content_disposition(name)
    assert header.isascii()
    assert header.isprintable()
    plain, mark, exact = header.partition("; filename*=UTF-8''")
    assert plain.count('"') == 2
    assert plain.startswith('attachment; filename="trips_')
    assert plain.endswith('2026-11-01.xlsx"')
    assert (unquote(exact) if mark else plain.split('"')[1]) == name
