"""Recordings that a vehicle claims to have."""

from datetime import UTC, datetime, timedelta

from motorpool.bench.vehicles.recorded_files import playable, recordings

NOW = datetime(2026, 5, 4, 10, 20, 30, tzinfo=UTC)


def at(hour: int, minute: int, second: int = 0) -> datetime:
    return datetime(2026, 5, 4, hour, minute, second, tzinfo=UTC)


def test_a_span_lists_the_files_it_touches_for_each_channel() -> None:
    listed = recordings(2, NOW, start=at(9, 10), end=at(9, 40))
    assert [(one.channel, one.start_time, one.end_time) for one in listed] == [
        (1, at(9, 0), at(9, 15)),
        (2, at(9, 0), at(9, 15)),
        (1, at(9, 15), at(9, 30)),
        (2, at(9, 15), at(9, 30)),
        (1, at(9, 30), at(9, 45)),
        (2, at(9, 30), at(9, 45)),
    ]


def test_one_channel_can_be_asked_for_and_a_day_is_kept() -> None:
    listed = recordings(3, NOW, channel=2)
    assert {one.channel for one in listed} == {2}
    assert len(listed) == 96
    assert listed[0].start_time == at(10, 15) - timedelta(days=1)


def test_the_file_that_is_being_recorded_is_not_listed() -> None:
    assert recordings(1, NOW)[-1].end_time == at(10, 15)


def test_the_same_file_has_the_same_size_whenever_it_is_listed() -> None:
    earlier = recordings(1, NOW, start=at(9, 0), end=at(9, 1))
    later = recordings(1, NOW + timedelta(hours=3), start=at(9, 0), end=at(9, 1))
    assert earlier == later
    assert earlier[0].size > 0


def test_a_span_to_be_played_is_clipped_to_what_is_recorded() -> None:
    assert playable(NOW, at(10, 0), at(11, 0)) == (at(10, 0), at(10, 15))
    assert playable(NOW, at(9, 0), None) == (at(9, 0), at(10, 15))
    assert playable(NOW, None, at(9, 0)) == (at(10, 15) - timedelta(days=1), at(9, 0))
    assert playable(NOW, at(10, 16), at(10, 20)) is None
