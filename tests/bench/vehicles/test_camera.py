"""CameraStream: what was drawn can be read after decoding, and the sound keeps time."""

import io
from datetime import UTC, datetime, timedelta

import av
import pytest

from motorpool.bench.vehicles.camera import Camera, VideoFormat
from motorpool.bench.vehicles.city import ROUND_TRIPS
from motorpool.bench.vehicles.frame_numbers import read_number
from motorpool.bench.vehicles.route import Drive
from motorpool.codecs.media.h264 import H264
from motorpool.codecs.media.h265 import H265
from motorpool.codecs.media.units import AccessUnit, AudioCoding, Coding

BEGIN = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def film_seconds(video: VideoFormat, seconds: float) -> list[AccessUnit]:
    camera, drive = Camera("Van 7", 1, video), Drive(ROUND_TRIPS[1], seed=3)
    units: list[AccessUnit] = []
    for number in range(round(seconds * video.frames_per_second)):
        elapsed = number / video.frames_per_second
        units += camera.encode_frame(drive.at(40 + elapsed), BEGIN + timedelta(seconds=elapsed))
    return units


def decode(units: list[AccessUnit]) -> list[av.VideoFrame]:
    stream = b"".join(unit.payload for unit in units if unit.is_video)
    with av.open(io.BytesIO(stream), format=units[-1].coding.ffmpeg_name) as container:
        return list(container.decode(video=0))


@pytest.mark.parametrize("coding", [H264, H265])
def test_every_decoded_picture_tells_its_frame_number(coding: Coding) -> None:
    units = film_seconds(VideoFormat(coding=coding, sound=None), 2)
    assert [read_number(frame.to_image()) for frame in decode(units)] == list(range(30))


def test_the_scenery_moves_from_picture_to_picture() -> None:
    frames = [frame.to_image() for frame in decode(film_seconds(VideoFormat(), 1))]
    above_the_number = [frame.crop((0, 60, 640, 320)).tobytes() for frame in frames]
    assert len(set(above_the_number)) == len(frames)


def test_key_frames_come_each_second_and_bring_their_parameter_sets() -> None:
    units = film_seconds(VideoFormat(sound=None), 3)
    keys = [number for number, unit in enumerate(units) if unit.keyframe]
    assert keys == [0, 15, 30]
    for number in keys:
        assert b"\0\0\0\1\x67" in units[number].payload  # sequence parameter set
        assert b"\0\0\0\1\x68" in units[number].payload  # picture parameter set


def test_timestamps_are_the_true_milliseconds_of_the_pictures() -> None:
    units = film_seconds(VideoFormat(sound=None), 1)
    first = round(BEGIN.timestamp() * 1000)
    assert [unit.timestamp for unit in units] == [first + round(number * 1000 / 15) for number in range(15)]
    assert {unit.frame_interval for unit in units[1:]} <= {66, 67}


def test_the_sound_is_as_long_as_the_film() -> None:
    sounds = [
        unit
        for unit in film_seconds(VideoFormat(sound=AudioCoding.AAC), 4.1)
        if unit.coding is AudioCoding.AAC
    ]
    assert sounds[0].timestamp == round(BEGIN.timestamp() * 1000)
    assert sounds[-1].timestamp - sounds[0].timestamp == pytest.approx(4000, abs=200)


def test_a_mute_camera_has_pictures_only() -> None:
    assert all(unit.coding is H264 for unit in film_seconds(VideoFormat(sound=None), 1))


def test_stamped_pictures_tell_their_time_and_not_their_number() -> None:
    units = film_seconds(VideoFormat(sound=None, stamped=True), 0.4)
    stamps = [unit.timestamp % (1 << 24) for unit in units]
    assert [read_number(frame.to_image()) for frame in decode(units)] == stamps
