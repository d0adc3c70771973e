"""One playback without anything around it: what its units become, and when it is over."""

import pytest
from tests.fragment_transcoder import FragmentTranscoder

from motorpool.actors.messages.playback import PlaybackControlSent
from motorpool.actors.video.playback_session import PlaybackSession
from motorpool.actors.video.settings import VideoSettings
from motorpool.codecs.media.units import AccessUnit, AudioCoding
from motorpool.runtime import Kind
from motorpool.runtime.ref import Ref

PAUSE, SEEK = 1, 5
LIMITS = VideoSettings(
    segment_seconds=1.0,
    playback_linger_seconds=600,
    playback_silence_seconds=12,
    playback_return_seconds=8,
)


class Connections:
    """As much of a family as a ref needs to be told from another."""

    kind = Kind("connection")


CAMERA = Ref(Connections(), 1)


@pytest.fixture
def run():
    """A run that began at 1000 s."""
    return PlaybackSession("7-1-40", LIMITS, 1000.0, first_index=40, first_discontinuity=2)


def test_a_burst_is_cut_by_the_stamps_of_its_pictures_and_not_by_their_arrival(run, film):
    run.publish(CAMERA, 1001.0)
    fragments = run.push(film(4), 1001.0)
    assert [(fragment.end - fragment.start) / 90_000 for fragment in fragments] == [1.0, 1.0, 1.0]
    # It goes on above an earlier playback.
    assert [fragment.discontinuity for fragment in fragments] == [True, False, False]
    (last,) = run.flush()
    assert len(last.pictures) == 5
    assert run.flush() == []


async def test_telephone_sound_is_carried_as_aac_and_pictures_as_they_are(run, film):
    sound = [AccessUnit(1, AudioCoding.G711A, False, 1000 + 40 * number, bytes(320)) for number in range(25)]
    run.push([film(1)[0], *sound, *film(1)[1:]], 1001.0)
    assert run.peek() == run.peek()
    (fragment,) = run.flush()
    assert fragment.needs_transcoding
    transcoder = FragmentTranscoder()
    transcoded = transcoder.transcode(fragment)
    assert {each.coding for each in transcoded.audio_frames} == {AudioCoding.AAC}
    assert transcoded.pictures == fragment.pictures
    assert transcoder.transcode(transcoded) == transcoded


def test_a_recording_that_begins_again_is_over(run, film):
    run.publish(CAMERA, 1001.0)
    recording = film(40)
    run.push(recording, 1001.0)
    assert run.end_reason(1001.0) == ""
    assert run.push(recording, 1001.0) == []
    assert run.end_reason(1001.0) == "the device begins again"
    assert run.push(recording, 1001.0) == []


def test_a_seek_to_the_beginning_and_a_clock_that_is_set_back_are_no_end(run, film):
    run.publish(CAMERA, 1001.0)
    run.push(film(40), 1001.0)
    run.control_sent(PlaybackControlSent(SEEK), 1001.0)
    run.push(film(5), 1001.1)
    assert run.end_reason(1001.1) == ""
    run.publish(CAMERA, 1002.0)  # it comes back, and may have lost its place
    run.push(film(5), 1002.0)
    for _ in range(20):
        run.push(film(2), 1002.0)
    assert run.end_reason(1002.0) == ""


def test_a_cut_ends_where_a_seek_takes_hold(run, film):
    run.publish(CAMERA, 1001.0)
    run.push(film(1), 1001.0)
    run.control_sent(PlaybackControlSent(SEEK), 1001.0)
    old, new = film(2)[5:8], film(1, start=900_000)
    fragments = run.push([*old, *new], 1001.1)
    assert [len(fragment.pictures) for fragment in fragments] == [5, 3]
    (after,) = run.flush()
    assert after.discontinuity


@pytest.mark.parametrize(
    ("steps", "seconds", "reason"),
    [
        ([], 120, "the device does not send it"),
        (["publish"], 12, "the device sends nothing more"),
        (["publish", "leave"], 8, "the device has hung up"),
        (["publish", "pause"], 600, "paused for too long"),
        (["publish", "pause", "leave"], 600, "paused for too long"),
        (["publish", "pause", "resume"], 12, "the device sends nothing more"),
        (["publish", "leave", "publish"], 12, "the device sends nothing more"),
    ],
)
def test_it_is_over_when_nothing_more_can_be_expected(run, steps, seconds, reason):
    now = 1000.0
    for step in steps:
        now += 3.0
        match step:
            case "publish":
                assert run.publish(CAMERA, now) is (now > 1004)  # the first follows nobody
            case "leave":
                run.publisher_left(now)
            case "pause":
                run.control_sent(PlaybackControlSent(PAUSE), now)
            case "resume":
                run.control_sent(PlaybackControlSent(0), now)
    assert run.end_reason(now + seconds - 0.1) == ""
    assert run.end_reason(now + seconds) == reason


def test_it_counts_as_unread_since_the_last_read_but_not_before_its_end(run):
    assert run.unread_seconds(1010.0) == 10
    run.read_at = 1020.0
    assert run.unread_seconds(1025.0) == 5
    run.end("stopped", 1100.0)
    assert run.unread_seconds(1103.0) == 3
    run.read_at = 1200.0
    assert run.unread_seconds(1201.0) == 1
    assert not run.is_running
    assert run.publisher is None
