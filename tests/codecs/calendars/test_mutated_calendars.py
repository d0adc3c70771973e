"""Calendars that were changed on their way: an error of calendars, or windows."""

import random
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from motorpool.bench.load.fuzz_samples import CALENDAR
from motorpool.bench.load.mutations import mutated, mutated_text
from motorpool.codecs.calendars.calendar import read_calendar
from motorpool.codecs.calendars.content_lines import CalendarError

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)


@settings(max_examples=150)
@given(st.integers(0, 2**32), st.booleans())
def test_a_mutated_calendar_has_windows_or_is_refused(seed: int, is_text: bool):
    source = random.Random(seed)
    changed: str | bytes
    changed = mutated_text(source, CALENDAR) if is_text else mutated(source, CALENDAR.encode())
    with suppress(CalendarError):
        calendar = read_calendar(changed)
        for start, end in calendar.windows(NOW, NOW + timedelta(days=400)):
            assert start < end
        calendar.covers(NOW)
        calendar.next_edge(NOW)
