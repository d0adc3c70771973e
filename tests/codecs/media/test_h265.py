import pytest

from motorpool.codecs.media import h265
from motorpool.codecs.media.annexb import DELTA_PICTURE
from motorpool.codecs.media.h265 import H265

START = b"\0\0\0\1"


@pytest.mark.parametrize(
    ("nal_type", "keyframe"),
    [(0, False), (1, False), (9, False), (16, True), (19, True), (21, True), (22, False)],
)
def test_key_frames_are_the_types_16_to_21(nal_type: int, keyframe: bool) -> None:
    found = h265.scan(START + bytes([nal_type << 1, 1]) + b"abc")
    assert found.has_picture
    assert found.keyframe is keyframe


def test_the_three_sets_are_found() -> None:
    vps, sps, pps = b"\x40\1\x0c\1", b"\x42\1\1\1", b"\x44\1\xc1\x72"
    found = h265.scan(START + vps + START + sps + START + pps + START + b"\x26\1abc")
    assert found.sets == {(32, 0): vps, (33, 0): sps, (34, 0): pps}
    assert found.keyframe


def test_a_delimiter_in_front_changes_nothing() -> None:
    assert h265.scan(START + b"\x46\1\x50" + START + b"\x02\1abc") == DELTA_PICTURE
    assert h265.is_delimiter(0x46)


def test_sets_that_are_cut_off_are_not_kept() -> None:
    assert h265.scan(START + b"\x40\1").sets == {}


def test_what_walks_films_finds_each_key_frame(film) -> None:
    found = [h265.scan(payload) for payload in film(H265, 20, 5)]
    assert [picture.keyframe for picture in found] == [number % 5 == 0 for number in range(20)]
    assert {key[0] for key in found[0].sets} == {32, 33, 34}
