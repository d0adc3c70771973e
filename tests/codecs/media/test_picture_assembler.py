import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.codecs.media import h264
from motorpool.codecs.media.picture_assembler import CodedPicture, PictureAssembler
from motorpool.codecs.media.units import AccessUnit, Coding

START = b"\0\0\0\1"
SPS, PPS = b"\x67\x42\xc0\x1e\xda", b"\x68\xce\x3c\x80"
NEW_SPS = b"\x67\x64\xc0\x1e\xda"
SETS = START + SPS + START + PPS
IDR, PLAIN = START + b"\x65abc", START + b"\x41abc"


def unit(payload: bytes, coding: Coding = Coding.H264, marked: bool = False) -> AccessUnit:
    return AccessUnit(1, coding, marked, 0, payload)


def test_sets_that_come_alone_join_the_next_picture() -> None:
    pictures = PictureAssembler()
    assert pictures.push(unit(START + SPS)) is None
    assert pictures.push(unit(START + PPS)) is None
    assert pictures.push(unit(IDR)) == CodedPicture(SETS + IDR, keyframe=True)


def test_a_key_frame_without_sets_gets_those_that_came_before() -> None:
    pictures = PictureAssembler()
    pictures.push(unit(SETS + IDR))
    assert pictures.push(unit(IDR)) == CodedPicture(SETS + IDR, keyframe=True)


def test_sets_stand_behind_the_delimiter() -> None:
    pictures = PictureAssembler()
    pictures.push(unit(SETS + IDR))
    assert pictures.push(unit(START + b"\x09\xf0" + IDR)) == CodedPicture(
        START + b"\x09\xf0" + SETS + IDR, keyframe=True
    )


def test_a_key_frame_before_any_sets_is_none() -> None:
    assert PictureAssembler().push(unit(IDR)) == CodedPicture(IDR, keyframe=False)
    assert PictureAssembler().push(unit(START + SPS + IDR)) == CodedPicture(START + SPS + IDR, keyframe=False)


@pytest.mark.parametrize("marked", [True, False])
def test_the_bitstream_and_not_the_mark_decides(marked: bool) -> None:
    pictures = PictureAssembler()
    assert pictures.push(unit(SETS + IDR, marked=marked)) == CodedPicture(SETS + IDR, keyframe=True)
    assert pictures.push(unit(PLAIN, marked=marked)) == CodedPicture(PLAIN, keyframe=False)


def test_new_sets_are_told_once_at_their_key_frame() -> None:
    pictures = PictureAssembler()
    new = START + NEW_SPS + START + PPS + IDR
    changes = [
        picture.changed
        for payload in (SETS + IDR, PLAIN, SETS + IDR, START + NEW_SPS, START + PPS, PLAIN, new, new, IDR)
        if (picture := pictures.push(unit(payload))) is not None
    ]
    assert changes == [False, False, False, False, True, False, False]


def test_sets_of_the_old_kind_are_not_put_before_a_new_key_frame() -> None:
    pictures = PictureAssembler()
    pictures.push(unit(SETS + START + b"\x68\x4e\x3c\x80" + IDR))  # with a second PPS
    pictures.push(unit(START + NEW_SPS + START + PPS + IDR))
    picture = pictures.push(unit(IDR))
    assert picture is not None
    assert set(h264.scan(picture.payload).sets.values()) == {NEW_SPS, PPS}


def test_another_coding_starts_anew() -> None:
    pictures = PictureAssembler()
    pictures.push(unit(SETS + IDR))
    sets = START + b"\x40\1\x0c\1" + START + b"\x42\1\1\1" + START + b"\x44\1\xc1\x72"
    idr = START + b"\x26\1abc"
    assert pictures.push(unit(idr, Coding.H265)) == CodedPicture(idr, keyframe=False)
    assert pictures.push(unit(sets + idr, Coding.H265)) == CodedPicture(
        sets + idr, keyframe=True, changed=True
    )


def test_sets_without_end_are_not_hoarded() -> None:
    pictures = PictureAssembler()
    for _ in range(1000):
        pictures.push(unit(SETS + b"\0" * 900))
    picture = pictures.push(unit(IDR))
    assert picture is not None
    assert len(picture.payload) < 66_000


@given(
    st.lists(st.binary(max_size=40).map(lambda body: START + body)),
    st.sampled_from([Coding.H264, Coding.H265]),
)
def test_any_bytes_are_taken(payloads: list[bytes], coding: Coding) -> None:
    pictures = PictureAssembler()
    for payload in payloads:
        picture = pictures.push(unit(payload, coding))
        assert picture is None or len(picture.payload) >= len(payload)
