from collections.abc import Callable
from itertools import pairwise
from operator import itemgetter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motorpool.codecs.media import adts, h264
from motorpool.codecs.media.fragments import MediaFragment
from motorpool.codecs.media.h264 import H264
from motorpool.codecs.media.h265 import H265
from motorpool.codecs.media.segmenter import Segmenter
from motorpool.codecs.media.units import AccessUnit, AudioCoding, Coding

SECOND = 90_000
START = 10 * SECOND
CODE = b"\0\0\0\1"
SPS, PPS = CODE + b"\x67\x42\xc0\x1e\xda", CODE + b"\x68\xce\x3c\x80"
KEY = SPS + PPS + CODE + b"\x65"
PLAIN = CODE + b"\x41"
AAC = adts.header(50) + bytes(50)


def picture(number: int, *, gop: int = 25, body: bytes | None = None, stamp: int | None = None) -> AccessUnit:
    """The picture with this number of a camera with 25 a second; its number stands in its bytes."""
    is_key = number % gop == 0
    head = body if body is not None else KEY if is_key else PLAIN
    return AccessUnit(
        1, H264, is_key, 5_000 + 40 * number if stamp is None else stamp, head + b"%d;" % number, 40
    )


def speech(number: int, coding: Coding = AudioCoding.AAC) -> AccessUnit:
    """128 ms of sound each, of the same clock as the pictures."""
    payload = AAC if coding is AudioCoding.AAC else b"\xd5" * 1024
    return AccessUnit(1, coding, False, 5_000 + 128 * number, payload)


def pushed(segmenter: Segmenter, units: list[AccessUnit], start: float = 100.0) -> list[MediaFragment]:
    """All cuts, each unit arriving when it was stamped."""
    fragments = [segmenter.push(unit, start + unit.timestamp / 1000) for unit in units]
    return [fragment for fragment in fragments if fragment is not None]


def whole(segmenter: Segmenter, units: list[AccessUnit]) -> list[MediaFragment]:
    return [*pushed(segmenter, units), *filter(None, [segmenter.flush()])]


def numbers(*fragments: MediaFragment) -> list[int]:
    return [
        int(picture.payload.rsplit(b"\x65")[-1].rsplit(b"\x41")[-1][:-1])
        for fragment in fragments
        for picture in fragment.pictures
    ]


def mixed(count: int, sounds: int) -> list[AccessUnit]:
    units = [picture(number) for number in range(count)] + [speech(number) for number in range(sounds)]
    return sorted(units, key=lambda unit: unit.timestamp)


def test_a_cut_ends_before_the_first_key_frame_past_the_target() -> None:
    fragments = whole(Segmenter(2.0), [picture(number) for number in range(130)])
    assert [numbers(fragment) for fragment in fragments] == [
        list(range(50)),
        list(range(50, 100)),
        list(range(100, 130)),
    ]
    assert [(fragment.start - START, fragment.end - START) for fragment in fragments] == [
        (0, 2 * SECOND), (2 * SECOND, 4 * SECOND), (4 * SECOND, 4 * SECOND + 108_000),
    ]  # fmt: skip
    assert all(
        fragment.pictures[0].keyframe and fragment.independent and not fragment.discontinuity
        for fragment in fragments
    )
    assert [fragment.last for fragment in fragments] == [False, False, True]


def test_a_key_frame_just_before_the_target_is_near_enough() -> None:
    fragments = whole(Segmenter(2.0), [picture(number, gop=48) for number in range(144)])
    assert [fragment.end - fragment.start for fragment in fragments] == [48 * 3600] * 3


def test_key_frames_that_come_seldom_make_longer_segments() -> None:
    fragments = whole(Segmenter(2.0), [picture(number, gop=125) for number in range(250)])
    assert [(fragment.end - fragment.start) / SECOND for fragment in fragments] == [5, 5]


def test_pictures_before_the_first_key_frame_are_dropped() -> None:
    segmenter = Segmenter()
    fragments = whole(segmenter, [picture(number) for number in range(13, 60)])
    assert numbers(*fragments) == list(range(25, 60))
    assert fragments[0].start == START


def test_a_key_frame_waits_for_its_parameter_sets() -> None:
    bare = [picture(number, body=CODE + b"\x65" if number % 25 == 0 else None) for number in range(50)]
    sets = AccessUnit(1, H264, True, bare[25].timestamp, SPS + PPS)
    fragments = whole(Segmenter(), [*bare[:25], sets, *bare[25:]])
    assert numbers(*fragments) == list(range(25, 50))
    assert h264.scan(fragments[0].pictures[0].payload).keyframe
    assert fragments[0].pictures[0].payload.startswith(SPS + PPS)


def test_new_parameter_sets_cut_at_once_and_begin_anew() -> None:
    new = CODE + b"\x67\x64\xc0\x1e\xda" + PPS + CODE + b"\x65"
    units = [picture(number, body=new if number in {25, 75, 100} else None) for number in range(125)]
    units[50] = picture(50, body=new)
    fragments = whole(Segmenter(2.0), units)
    assert [len(fragment.pictures) for fragment in fragments] == [25, 50, 50]
    assert [fragment.discontinuity for fragment in fragments] == [False, True, False]


def test_another_coding_of_pictures_begins_anew_and_each_segment_is_of_its_own() -> None:
    sets = CODE + b"\x40\1\x0c" + CODE + b"\x42\1\1" + CODE + b"\x44\1\xc0"
    units = [picture(number) for number in range(30)]
    units += [
        AccessUnit(1, H265, number == 35, 5_000 + 40 * number, payload + b"%d" % number, 40)
        for number in range(30, 60)
        for payload in [sets + CODE + b"\x26\1" if number == 35 else CODE + b"\x02\1"]
    ]
    segmenter = Segmenter(2.0)
    fragments = whole(segmenter, units)
    assert [(fragment.coding, len(fragment.pictures), fragment.discontinuity) for fragment in fragments] == [
        (H264, 30, False),
        (H265, 25, True),
    ]
    assert fragments[1].pictures[0].keyframe  # the five of the new coding before it are left out


def test_parameter_sets_of_before_another_coding_are_not_used_after_it() -> None:
    units = [picture(number) for number in range(30)]
    units += [AccessUnit(1, H265, False, 6_200, CODE + b"\x02\1", 40)]
    units += [picture(50, body=CODE + b"\x65"), picture(51)]
    segmenter = Segmenter(2.0)
    assert numbers(*whole(segmenter, units)) == [*range(30), 50, 51]
    assert segmenter.last_keyframe is not None
    assert segmenter.last_keyframe.payload.endswith(b"25;")  # that of 50 has no sets of its own


@pytest.mark.parametrize("marked", [True, False])
def test_the_bitstream_and_not_the_mark_decides(marked: bool) -> None:
    units = [picture(number) for number in range(10, 60)]
    marks = [AccessUnit(1, H264, marked, unit.timestamp, unit.payload, 40) for unit in units]
    (fragment,) = whole(Segmenter(2.0), marks)
    assert numbers(fragment) == list(range(25, 60))
    assert [each.keyframe for each in fragment.pictures] == [number % 25 == 0 for number in range(25, 60)]


def test_a_jump_of_the_clock_cuts_at_the_next_key_frame_and_loses_nothing() -> None:
    units = [picture(number, stamp=40 * number + (9_000_000 if number >= 30 else 0)) for number in range(150)]
    segmenter = Segmenter(2.0)
    fragments = [
        fragment for number, unit in enumerate(units) if (fragment := segmenter.push(unit, number / 25))
    ]
    fragments += filter(None, [segmenter.flush()])
    assert [len(fragment.pictures) for fragment in fragments] == [50, 50, 50]
    assert [fragment.discontinuity for fragment in fragments] == [False, True, False]
    assert [picture.pts - START for fragment in fragments for picture in fragment.pictures] == [
        3600 * n for n in range(150)
    ]


def test_a_new_connection_begins_anew_where_the_old_one_ended() -> None:
    segmenter = Segmenter(2.0)
    first = pushed(segmenter, [picture(number) for number in range(70)])
    last = segmenter.discontinuity()
    assert last is not None
    assert last.last
    again = whole(segmenter, [picture(number, stamp=40 * number) for number in range(10, 80)])
    assert numbers(*first, last) == list(range(70))
    assert numbers(*again) == list(range(25, 80))
    assert again[0].start == last.end
    assert [fragment.discontinuity for fragment in again] == [True, False]


def test_a_stream_that_was_there_before_begins_with_a_discontinuity() -> None:
    (fragment,) = whole(
        Segmenter(discontinuity=True, start=5 * SECOND), [picture(number) for number in range(10)]
    )
    assert fragment.discontinuity
    assert fragment.start == 5 * SECOND


def test_nothing_open_gives_no_last_cut() -> None:
    segmenter = Segmenter()
    assert segmenter.flush() is None
    assert segmenter.discontinuity() is None
    segmenter.push(speech(0), 0.0)
    assert segmenter.flush() is None


def test_sound_goes_with_the_pictures_of_its_time_and_none_is_lost() -> None:
    fragments = whole(Segmenter(2.0), mixed(150, 47))
    assert sum(len(fragment.audio_frames) for fragment in fragments) == 47
    for fragment in fragments[:-1]:
        assert all(fragment.start <= sound.pts < fragment.end for sound in fragment.audio_frames)
    times = [sound.pts - START for fragment in fragments for sound in fragment.audio_frames]
    assert times == [11_520 * number for number in range(47)]


def test_sound_from_before_the_first_key_frame_is_dropped() -> None:
    units = sorted(
        [picture(number) for number in range(20, 60)] + [speech(number) for number in range(18)],
        key=lambda unit: unit.timestamp,
    )
    fragments = whole(Segmenter(2.0), units)
    assert fragments[0].pictures[0].pts == START
    # Picture 25 is stamped 1000 ms; the first sound at or after it is number 8, 24 ms later.
    assert [sound.pts - START for fragment in fragments for sound in fragment.audio_frames][:2] == [
        24 * 90,
        152 * 90,
    ]


def test_a_stream_of_sound_alone_is_cut_at_the_target() -> None:
    fragments = whole(Segmenter(2.0), [speech(number) for number in range(50)])
    assert [len(fragment.audio_frames) for fragment in fragments] == [16, 16, 16, 2]
    assert all(fragment.coding is None and not fragment.pictures for fragment in fragments)
    assert [fragment.end - fragment.start for fragment in fragments] == [16 * 11_520] * 3 + [2 * 11_520]
    assert all(before.end == after.start for before, after in pairwise(fragments))


def test_sound_goes_on_when_the_camera_stops_and_comes_back() -> None:
    units = [unit for unit in mixed(500, 156) if not unit.is_video or not 6_500 < unit.timestamp < 15_300]
    # AudioFrame is sent once its last sample is there.
    sent = [(unit.timestamp + (0 if unit.is_video else 128), unit) for unit in units]
    segmenter = Segmenter(2.0)
    fragments = [segmenter.push(unit, 100.0 + at / 1000) for at, unit in sorted(sent, key=itemgetter(0))]
    fragments = [fragment for fragment in [*fragments, segmenter.flush()] if fragment is not None]
    assert sum(len(fragment.audio_frames) for fragment in fragments) == 156
    assert all(before.end == after.start for before, after in pairwise(fragments))
    kept = numbers(*fragments)
    assert kept == [*range(38), *range(275, 500)]  # what came back before a key frame was dropped
    back = next(
        fragment for fragment in fragments if fragment.pictures and fragment.start > START + 5 * SECOND
    )
    assert back.discontinuity  # the tracks changed
    true = 40 * 275 * 90
    assert abs(back.pictures[0].pts - START - true) < 100 * 90  # and it is still with its sound
    assert max(fragment.end - fragment.start for fragment in fragments) <= 4 * SECOND


def test_a_camera_without_key_frames_is_cut_at_the_longest() -> None:
    fragments = whole(Segmenter(2.0, max_seconds=4.0), [picture(number, gop=10_000) for number in range(250)])
    assert [len(fragment.pictures) for fragment in fragments] == [100, 100, 50]
    assert [fragment.independent for fragment in fragments] == [True, False, False]
    assert numbers(*fragments) == list(range(250))


def test_a_camera_without_key_frames_is_cut_at_its_bytes() -> None:
    segmenter = Segmenter(2.0, max_bytes=10_000)
    for number in range(1000):
        fragment = segmenter.push(
            picture(number, gop=10_000, body=None if number % 10_000 else KEY), number / 25
        )
        assert fragment is None or sum(len(unit.payload) for unit in fragment.pictures) < 10_100
    big = AccessUnit(1, H264, False, 5_000 + 40_000, PLAIN + bytes(50_000), 40)
    segmenter.push(big, 40.0)
    assert segmenter.push(picture(1001, gop=10_000), 40.04) is not None


def test_what_is_not_carried_is_left_out() -> None:
    units = mixed(75, 24)
    odd = [
        AccessUnit(1, None, True, 6_000, KEY),
        AccessUnit(1, AudioCoding.ADPCM, False, 6_000, b"abc"),
        AccessUnit(1, H264, True, 6_000, SPS[:3]),
    ]
    places = [part for unit in units for part in (*odd, unit)]
    assert whole(Segmenter(), places) == whole(Segmenter(), units)


def test_another_coding_of_sound_begins_anew() -> None:
    units = [speech(number) for number in range(20)] + [
        speech(number, AudioCoding.G711A) for number in range(20, 60)
    ]
    fragments = whole(Segmenter(2.0), units)
    assert sum(len(fragment.audio_frames) for fragment in fragments) == 60
    assert [fragment.discontinuity for fragment in fragments][:3] == [False, False, True]
    assert [fragment.needs_transcoding for fragment in fragments][:3] == [False, False, True]


def test_the_last_key_frame_is_at_hand() -> None:
    segmenter = Segmenter()
    assert segmenter.last_keyframe is None
    pushed(segmenter, [picture(number) for number in range(70)])
    assert segmenter.last_keyframe is not None
    assert segmenter.last_keyframe.payload == KEY + b"50;"
    assert segmenter.last_keyframe.pts == START + 2 * SECOND
    assert segmenter.last_keyframe.arrived_at == 100.0 + 7.0


@pytest.mark.parametrize("rate", [44100, 48000])
def test_odd_rates_of_sound_do_not_drift(rate: int) -> None:
    frame = adts.header(50, rate) + bytes(50)
    units = [AccessUnit(1, AudioCoding.AAC, False, 0, frame) for _ in range(rate)]  # 1024 s, no stamps at all
    fragments = whole(Segmenter(2.0), units)
    assert fragments[-1].end - fragments[0].start == pytest.approx(1024 * SECOND, abs=1)


odd_units = st.builds(
    lambda coding, stamp, interval, head, body: AccessUnit(1, coding, False, stamp, head + body, interval),
    st.sampled_from([H264, H265, *AudioCoding, None]),
    st.integers(0, 2**64 - 1) | st.integers(0, 20_000),
    st.sampled_from([0, 40, 65_535]),
    st.sampled_from([KEY, PLAIN, SPS + PPS, AAC, CODE + b"\x40\1\x0c", CODE + b"\x26\1", b""]),
    st.binary(max_size=200),
)


@settings(max_examples=150)
@given(st.lists(odd_units, max_size=80), st.floats(0, 1), st.booleans())
def test_whatever_comes_cuts_join_and_times_grow(units: list[AccessUnit], wait: float, live: bool) -> None:
    segmenter = Segmenter(0.5, max_seconds=3.0, live=live)
    fragments = [
        fragment for number, unit in enumerate(units) if (fragment := segmenter.push(unit, wait * number))
    ]
    fragments += filter(None, [segmenter.flush()])
    for fragment in fragments:
        assert fragment.start < fragment.end
        assert fragment.pictures or fragment.audio_frames
        assert all(fragment.start <= unit.pts < fragment.end for unit in fragment.pictures)
    assert all(before.end == after.start for before, after in pairwise(fragments))
    placed = [unit.pts for fragment in fragments for unit in fragment.pictures]
    assert all(before < after for before, after in pairwise(placed))


def test_films_are_cut_without_holes(
    film: Callable[..., tuple[bytes, ...]], camera: Callable[..., list[AccessUnit]]
) -> None:
    units = camera(film(H264, 100, 10), gop=10)
    fragments = whole(Segmenter(1.0), units)
    assert [len(fragment.pictures) for fragment in fragments] == [30, 30, 30, 10]
