"""How often refusals are written, whatever users try."""

from collections import Counter
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from motorpool.api.auth import refusal_counts
from motorpool.api.auth.refusal_counts import RefusalCounts

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 3), st.sampled_from("ab")), max_size=300))
def test_what_is_written_of_an_hour_is_more_than_half_of_it_and_takes_few_statements(refused):
    counts = RefusalCounts()
    tried: Counter[tuple[int, int, str]] = Counter()
    written: Counter[tuple[int, int, str]] = Counter()
    statements: Counter[tuple[int, int, str]] = Counter()
    for hour, user_id, operation in sorted(refused, key=lambda each: each[0]):
        key = hour, user_id, operation
        tried[key] += 1
        if added := counts.hit(NOON + timedelta(hours=hour, minutes=59), user_id, operation):
            written[key] += added
            statements[key] += 1
    for key, number in tried.items():
        assert number / 2 < written[key] <= number
        assert statements[key] == number.bit_length()


def test_what_is_past_the_limit_of_memory_is_written_each_time(monkeypatch):
    monkeypatch.setattr(refusal_counts, "MAX_COUNTS", 2)
    counts = RefusalCounts()
    assert [counts.hit(NOON, user_id, "a") for user_id in (1, 2, 3, 3, 3, 1, 1)] == [1, 1, 1, 1, 1, 1, 0]
