"""Where a playback breaks after its viewer's orders."""

import pytest

from motorpool.actors.video.playback_control import END, PlaybackControlTracker, parse_control
from motorpool.codecs.media.h264 import H264
from motorpool.codecs.media.units import AccessUnit, AudioCoding

PAUSE, FORWARD, SEEK = 1, 3, 5


def picture(timestamp, keyframe=False):
    return AccessUnit(1, H264, keyframe, timestamp, b"")


def breaks(steering, units, now=100.5):
    return [unit.timestamp for unit in units if steering.breaks_before(unit, now)]


@pytest.fixture
def steering():
    """A playback of which a second has come."""
    made = PlaybackControlTracker()
    assert (
        breaks(made, [picture(0, keyframe=True), *(picture(stamp) for stamp in range(200, 1001, 200))]) == []
    )
    return made


@pytest.mark.parametrize(
    ("attributes", "order"),
    [
        ({}, (0, 1)),
        ({"control": "pause"}, (1, 1)),
        ({"control": "stop"}, (END, 1)),
        ({"control": "2"}, (END, 1)),
        ({"control": 3, "speed": "4"}, (3, 4)),
        ({"control": 7}, None),
        ({"control": -1}, None),
        ({"control": "backwards"}, None),
        ({"control": None}, None),
        ({"control": [1]}, None),
        ({"control": float("inf")}, None),
        ({"control": 3, "speed": "fast"}, None),
    ],
)
def test_orders_are_read_as_the_codec_reads_them(attributes, order):
    assert parse_control(attributes) == order


def test_a_seek_breaks_where_the_stamps_jump_and_not_at_key_frames_on_their_way(steering):
    steering.note_sent(SEEK, 1, 100.0)
    on_its_way = [picture(1200, keyframe=True), picture(1400)]
    assert breaks(steering, [*on_its_way, picture(61_000), picture(61_200, keyframe=True)]) == [61_000]
    assert breaks(steering, [picture(0)]) == []


def test_a_seek_backwards_breaks_as_well(steering):
    steering.note_sent(SEEK, 1, 100.0)
    assert breaks(steering, [picture(400)]) == [400]


def test_a_seek_too_short_to_be_seen_breaks_at_a_later_key_frame(steering):
    steering.note_sent(SEEK, 1, 100.0)
    assert breaks(steering, [picture(1200, keyframe=True)], now=102.9) == []
    assert breaks(steering, [picture(1400), picture(1600, keyframe=True)], now=103.0) == [1600]


def test_a_change_of_speed_breaks_at_the_next_key_frame(steering):
    steering.note_sent(FORWARD, 4, 100.0)
    assert breaks(steering, [picture(1200), picture(1400, keyframe=True), picture(1600, keyframe=True)]) == [
        1400
    ]
    steering.note_sent(FORWARD, 4, 101.0)
    assert breaks(steering, [picture(1800, keyframe=True)]) == []
    steering.note_sent(0, 1, 102.0)
    assert breaks(steering, [picture(2000, keyframe=True)]) == [2000]


def test_pause_and_resume_break_nothing_and_sound_never_does(steering):
    steering.note_sent(PAUSE, 1, 100.0)
    assert steering.is_paused
    assert breaks(steering, [picture(1200), picture(1400, keyframe=True)]) == []
    steering.note_sent(0, 1, 102.0)
    assert not steering.is_paused
    assert breaks(steering, [picture(1600, keyframe=True)]) == []
    steering.note_sent(SEEK, 1, 110.0)
    assert not steering.breaks_before(AccessUnit(1, AudioCoding.AAC, False, 90_000, b""), 120.0)


def test_a_seek_while_paused_leaves_it_paused_until_something_comes_long_after(steering):
    steering.note_sent(PAUSE, 1, 100.0)
    steering.note_sent(SEEK, 1, 101.0)
    assert breaks(steering, [picture(61_000, keyframe=True)], now=102.0) == [61_000]
    assert steering.is_paused
    steering.breaks_before(picture(61_200), 104.1)
    assert not steering.is_paused
