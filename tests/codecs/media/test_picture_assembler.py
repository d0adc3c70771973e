from hypothesis import given
from hypothesis import strategies as st

from motorpool.codecs.media import h264, h265
from motorpool.codecs.media.h264 import H264
from motorpool.codecs.media.h265 import H265
from motorpool.codecs.media.video_codec import CodedPicture, VideoCodec

START = b"\0\0\0\1"
SPS, PPS = b"\x67\x42\xc0\x1e\xda", b"\x68\xce\x3c\x80"
NEW_SPS = b"\x67\x64\xc0\x1e\xda"
SETS = START + SPS + START + PPS
IDR, PLAIN = START + b"\x65abc", START + b"\x41abc"


SETS_BY_KEY = {(7, 0): SPS, (8, 0): PPS}


def key(payload: bytes, sets: dict[tuple[int, int], bytes] = SETS_BY_KEY) -> CodedPicture:
    return CodedPicture(payload, keyframe=True, configuration=sets)


def test_sets_that_come_alone_join_the_next_picture() -> None:
    pictures = H264.make_parser()
    assert pictures.push(START + SPS) is None
    assert pictures.push(START + PPS) is None
    assert pictures.push(IDR) == key(SETS + IDR)


def test_a_key_frame_without_sets_gets_those_that_came_before() -> None:
    pictures = H264.make_parser()
    pictures.push(SETS + IDR)
    assert pictures.push(IDR) == key(SETS + IDR)


def test_sets_stand_behind_the_delimiter() -> None:
    pictures = H264.make_parser()
    pictures.push(SETS + IDR)
    assert pictures.push(START + b"\x09\xf0" + IDR) == key(START + b"\x09\xf0" + SETS + IDR)


def test_a_key_frame_before_any_sets_is_none() -> None:
    assert H264.make_parser().push(IDR) == CodedPicture(IDR, keyframe=False)
    assert H264.make_parser().push(START + SPS + IDR) == CodedPicture(START + SPS + IDR, keyframe=False)


def test_key_frames_tell_the_sets_that_they_decode_with() -> None:
    pictures = H264.make_parser()
    new = START + NEW_SPS + START + PPS + IDR
    told = [
        picture.configuration
        for payload in (SETS + IDR, PLAIN, IDR, START + NEW_SPS, START + PPS, PLAIN, new, IDR)
        if (picture := pictures.push(payload)) is not None
    ]
    renewed = {(7, 0): NEW_SPS, (8, 0): PPS}
    assert told == [SETS_BY_KEY, None, SETS_BY_KEY, None, renewed, renewed]


def test_sets_of_the_old_kind_are_not_put_before_a_new_key_frame() -> None:
    pictures = H264.make_parser()
    pictures.push(SETS + START + b"\x68\x4e\x3c\x80" + IDR)  # with a second PPS
    pictures.push(START + NEW_SPS + START + PPS + IDR)
    picture = pictures.push(IDR)
    assert picture is not None
    assert set(h264.scan(picture.payload).sets.values()) == {NEW_SPS, PPS}


def test_a_key_frame_of_h265_needs_all_three_kinds_of_sets() -> None:
    pictures = H265.make_parser()
    vps, sps, pps = b"\x40\1\x0c\1", b"\x42\1\1\1", b"\x44\1\xc1\x72"
    idr = START + b"\x26\1abc"
    two = START + vps + START + sps
    assert pictures.push(two + idr) == CodedPicture(two + idr, keyframe=False)
    picture = pictures.push(START + pps + idr)
    assert picture is not None
    assert picture.keyframe
    assert set(h265.scan(picture.payload).sets.values()) == {vps, sps, pps}


def test_sets_without_end_are_not_hoarded() -> None:
    pictures = H264.make_parser()
    for _ in range(1000):
        pictures.push(SETS + b"\0" * 900)
    picture = pictures.push(IDR)
    assert picture is not None
    assert len(picture.payload) < 66_000


@given(
    st.lists(st.binary(max_size=40).map(lambda body: START + body)),
    st.sampled_from([H264, H265]),
)
def test_any_bytes_are_taken(payloads: list[bytes], codec: VideoCodec) -> None:
    pictures = codec.make_parser()
    for payload in payloads:
        picture = pictures.push(payload)
        assert picture is None or len(picture.payload) >= len(payload)
