"""Sample entries, compared with what the parameter sets themselves say and with what FFmpeg makes of them."""

from collections.abc import Callable

from motorpool.codecs.media.h264 import H264
from motorpool.codecs.media.h265 import H265
from motorpool.codecs.media.mp4.tracks import audio_track, video_track
from motorpool.codecs.media.snapshot import probe_format
from motorpool.codecs.media.video_codec import PictureFormat

Film = Callable[..., tuple[bytes, ...]]


def test_h264_is_described_by_its_parameter_sets(film: Film) -> None:
    keyframe = film(H264, 25, 25)[0]
    sequence, picture = (unit.rstrip(b"\0") for unit in keyframe.split(b"\0\0\0\1")[1:3])
    picture = picture.split(b"\0\0\1")[0].rstrip(b"\0")
    track = video_track(H264, keyframe, probe_format(H264.ffmpeg_name, keyframe))
    assert (track.kind, track.width, track.height) == (b"vide", 256, 64)
    assert track.entry[4:8] == b"avc1"
    assert track.entry[32:36] == b"\x01\0\0\x40"
    described = track.entry.split(b"avcC")[1]
    assert described[:6] == b"\x01" + sequence[1:4] + b"\xff\xe1"
    assert described[6:] == (
        len(sequence).to_bytes(2) + sequence + b"\x01" + len(picture).to_bytes(2) + picture
    )


def test_h265_is_described_by_profile_and_parameter_sets(film: Film) -> None:
    keyframe = film(H265, 25, 25)[0]
    units = [unit.rstrip(b"\0") for unit in keyframe.replace(b"\0\0\0\1", b"\0\0\1").split(b"\0\0\1")[1:4]]
    track = video_track(H265, keyframe, probe_format(H265.ffmpeg_name, keyframe))
    assert (track.width, track.height, track.entry[4:8]) == (256, 64, b"hvc1")
    described = track.entry.split(b"hvcC")[1]
    assert described[0] == 1
    assert described[1] & 31 == 1  # Main
    assert described[2:6] == b"\x60\0\0\0"  # compatible with Main and Main 10
    assert described[16:19] == b"\xfd\xf8\xf8"  # 4:2:0, 8 bits
    assert described[21] & 3 == 3  # lengths of four bytes
    assert described[22] == 3
    assert [described.find(unit) > 0 for unit in units] == [True] * 3


def test_a_key_frame_that_no_decoder_takes_is_described_all_the_same() -> None:
    for coding in (H264, H265):
        track = video_track(coding, b"\0\0\0\1\x01nothing", PictureFormat())
        assert (track.width, track.height) == (0, 0)


def test_aac_is_described_by_its_configuration() -> None:
    # Low complexity, 16 kHz, stereo.
    track = audio_track(b"\x14\x10")
    assert (track.kind, track.entry[4:8]) == (b"soun", b"mp4a")
    assert track.entry[24:26] == b"\0\x02"
    assert track.entry[32:36] == b"\x3e\x80\0\0"
    assert b"\x05\x02\x14\x10" in track.entry.split(b"esds")[1]
