"""Scheduled commands for a measurement: the calendars' windows."""

import base64
from datetime import UTC, datetime, timedelta

from motorpool.bench.scheduled import Window
from motorpool.codecs.calendars.calendar import Edge, read_calendar


def test_a_window_opens_and_ends_to_the_second_and_again_the_next_day() -> None:
    start = datetime(2026, 11, 21, 23, 59, 58, tzinfo=UTC)
    end = start + timedelta(seconds=5)
    calendar = read_calendar(base64.b64decode(Window(start, end).text()))
    before = start - timedelta(seconds=1)
    assert calendar.next_edge(before) == Edge(start, opens=True)
    assert calendar.next_edge(start) == Edge(end, opens=False)
    assert calendar.next_edge(end) == Edge(start + timedelta(days=1), opens=True)
