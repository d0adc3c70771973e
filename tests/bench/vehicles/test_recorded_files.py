"""Recordings that a vehicle claims to have."""

from datetime import UTC, datetime, timedelta

from motorpool.bench.vehicles.recorded_files import RecordedFiles

NOW = datetime(2026, 5, 4, 10, 20, 30, tzinfo=UTC)


def at(hour: int, minute: int, second: int = 0) -> datetime:
    return datetime(2026, 5, 4, hour, minute, second, tzinfo=UTC)


def test_a_span_lists_the_files_it_touches_for_each_channel() -> None:
    listed = RecordedFiles(2).overlapping(NOW, start=at(9, 10), end=at(9, 40))
    assert [(one.channel, one.start_time, one.end_time) for one in listed] == [
        (1, at(9, 0), at(9, 15)),
        (2, at(9, 0), at(9, 15)),
        (1, at(9, 15), at(9, 30)),
        (2, at(9, 15), at(9, 30)),
        (1, at(9, 30), at(9, 45)),
        (2, at(9, 30), at(9, 45)),
    ]


def test_one_channel_can_be_asked_for_and_a_day_is_kept() -> None:
    listed = RecordedFiles(3).overlapping(NOW, channel=2)
    assert {one.channel for one in listed} == {2}
    assert len(listed) == 96
    assert listed[0].start_time == at(10, 15) - timedelta(days=1)


def test_the_file_that_is_being_recorded_is_not_listed() -> None:
    assert RecordedFiles(1).overlapping(NOW)[-1].end_time == at(10, 15)


def test_the_same_file_has_the_same_size_whenever_it_is_listed() -> None:
    earlier = RecordedFiles(1).overlapping(NOW, start=at(9, 0), end=at(9, 1))
    later = RecordedFiles(1).overlapping(NOW + timedelta(hours=3), start=at(9, 0), end=at(9, 1))
    assert earlier == later
    assert earlier[0].size > 0


def test_a_span_to_be_played_is_clipped_to_what_is_recorded() -> None:
    assert RecordedFiles(1).playable(NOW, at(10, 0), at(11, 0)) == (at(10, 0), at(10, 15))
    assert RecordedFiles(1).playable(NOW, at(9, 0), None) == (at(9, 0), at(10, 15))
    assert RecordedFiles(1).playable(NOW, None, at(9, 0)) == (at(10, 15) - timedelta(days=1), at(9, 0))
    assert RecordedFiles(1).playable(NOW, at(10, 16), at(10, 20)) is None


def test_nothing_is_recorded_outside_of_shifts() -> None:
    files = RecordedFiles(1, timedelta(hours=48), lambda begin: begin.hour in (8, 9))
    listed = files.overlapping(NOW)
    assert [one.start_time.hour for one in listed] == [8] * 4 + [9] * 4 + [8] * 4 + [9] * 4
    assert files.playable(NOW, at(7, 50), at(8, 10)) == (at(8, 0), at(8, 10))
    assert files.playable(NOW, at(6, 0), at(7, 0)) is None
