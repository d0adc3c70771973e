from motorpool.codecs.media import h264
from motorpool.codecs.media.annexb import DELTA_PICTURE

SPS = b"\x67\x42\xc0\x1e\xda"  # id 0: the first bit behind the level is set
PPS = b"\x68\xce\x3c\x80"
OTHER_PPS = b"\x68\x4e\x3c\x80"  # 010: id 1
START = b"\0\0\0\1"


def test_a_key_frame_is_an_idr_slice_and_its_sets_are_found() -> None:
    found = h264.scan(
        START + SPS + START + PPS + b"\0\0\1" + OTHER_PPS + b"\0\0\1\x06\5" + START + b"\x65abc"
    )
    assert found.keyframe
    assert found.sets == {(7, 0): SPS, (8, 0): PPS, (8, 1): OTHER_PPS}


def test_other_slices_are_no_key_frames() -> None:
    assert h264.scan(START + b"\x41abc") == DELTA_PICTURE
    assert h264.scan(b"\0\0\1\x41abc") == DELTA_PICTURE
    assert h264.scan(START + b"\x09\xf0" + START + b"\x41abc") == DELTA_PICTURE


def test_sets_alone_are_no_picture() -> None:
    found = h264.scan(START + SPS + b"\0")
    assert (found.has_picture, found.keyframe, found.sets) == (False, False, {(7, 0): SPS})


def test_sets_of_absurd_size_or_number_are_not_kept() -> None:
    assert h264.scan(START + b"\x68\x80" + b"\x55" * 2000).sets == {}
    assert h264.scan(START + b"\x68\0\x02\0\0").sets == {}  # id 511


def test_what_walks_films_finds_each_key_frame(film) -> None:
    from motorpool.codecs.media.h264 import H264

    found = [h264.scan(payload) for payload in film(H264, 20, 5)]
    assert [picture.keyframe for picture in found] == [number % 5 == 0 for number in range(20)]
    assert all(picture.has_picture for picture in found)
    assert {key[0] for key in found[0].sets} == {7, 8}
    assert h264.is_delimiter(0x09)
    assert not h264.is_delimiter(0x67)
