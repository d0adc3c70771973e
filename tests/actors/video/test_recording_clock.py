"""The times of a playback's pictures: asked start and stamps."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from motorpool.actors.video.recording_clock import RecordingClock

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
SECOND = 90_000
DAY_MS = 86_400_000


def after(seconds):
    return NOON + timedelta(seconds=seconds)


@given(st.integers(0, 2**40), st.lists(st.integers(40, 3_600_000), min_size=1, max_size=30))
def test_times_go_on_from_the_asked_start_by_the_stamps_whatever_their_origin(origin, steps):
    clock = RecordingClock(NOON)
    stamp, wanted = origin, NOON
    clock.note_keyframe(stamp, 900_000)
    assert clock.time_of(900_000) == NOON
    for number, step in enumerate(steps, 1):
        stamp += step
        wanted += timedelta(milliseconds=step)
        # Presentation times are ours: a gap of an hour in the recording is a step like any other.
        clock.note_keyframe(stamp, 900_000 + number * SECOND)
        assert clock.time_of(900_000 + number * SECOND) == wanted


def test_a_fragment_inside_a_group_of_pictures_is_timed_from_its_key_frame():
    clock = RecordingClock(NOON)
    clock.note_keyframe(5_000, SECOND)
    clock.note_keyframe(9_000, 5 * SECOND)
    assert clock.time_of(3 * SECOND) == after(2)
    assert clock.time_of(5 * SECOND) == after(4)
    assert clock.time_of(6 * SECOND) == after(5)


def test_after_a_seek_the_next_key_frame_is_of_the_time_that_was_sought():
    clock = RecordingClock(NOON)
    clock.note_keyframe(5_000, SECOND)
    clock.seek(after(3600))
    clock.note_keyframe(77, 2 * SECOND)
    clock.note_keyframe(1_077, 3 * SECOND)
    assert [clock.time_of(number * SECOND) for number in (1, 2, 3)] == [NOON, after(3600), after(3601)]
    clock.seek(None)  # a change of speed
    clock.note_keyframe(4_077, 4 * SECOND)
    assert clock.time_of(4 * SECOND) == after(3604)


def test_stamps_that_stand_still_or_begin_again_are_replaced_by_presentation_times():
    clock = RecordingClock(NOON)
    for number, stamp in enumerate([5_000, 5_000, 10, 2_010, 2_010 + DAY_MS + 1], 1):
        clock.note_keyframe(stamp, number * SECOND)
    assert [clock.time_of(number * SECOND) for number in range(1, 6)] == [
        after(seconds) for seconds in (0, 1, 2, 4, 5)
    ]


def test_sound_alone_is_timed_from_the_asked_start():
    clock = RecordingClock(NOON)
    assert clock.time_of(10 * SECOND) == NOON
    assert clock.time_of(12 * SECOND) == after(2)


def test_without_an_asked_start_there_are_no_times_until_a_seek():
    clock = RecordingClock(None)
    clock.note_keyframe(5_000, SECOND)
    assert clock.time_of(SECOND) is None
    clock.seek(NOON)
    clock.note_keyframe(9_000, 2 * SECOND)
    assert clock.time_of(2 * SECOND) == NOON
