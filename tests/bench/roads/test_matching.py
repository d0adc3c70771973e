"""Which reported span is which true one."""

from datetime import UTC, datetime, timedelta

from motorpool.bench.roads.matching import length, matches, overlap
from motorpool.bench.roads.reported import ReportedStop

NOON = datetime(2025, 3, 4, 12, tzinfo=UTC)


def span(start: float, end: float) -> ReportedStop:
    return ReportedStop(NOON + timedelta(seconds=start), NOON + timedelta(seconds=end))


def test_the_longest_overlap_matches_first_and_each_span_once() -> None:
    true = [span(0, 100), span(100, 400), span(500, 600)]
    told = [span(50, 350), span(360, 390), span(650, 700)]
    assert matches(true, told) == {1: 0}
    assert matches(true, [span(50, 120), span(130, 400)]) == {0: 0, 1: 1}


def test_spans_that_touch_do_not_match() -> None:
    assert matches([span(0, 100)], [span(100, 200)]) == {}
    assert overlap(span(0, 100), span(130, 200)) == timedelta(seconds=-30)
    assert length(span(10, 100)) == timedelta(seconds=90)
