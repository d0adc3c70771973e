"""The table of the segmenter: its shape, and what it makes of streams, compared with the rules restated."""

from itertools import pairwise
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.codecs.media import adts
from motorpool.codecs.media.fragments import MediaFragment
from motorpool.codecs.media.h264 import H264
from motorpool.codecs.media.h265 import H265
from motorpool.codecs.media.segmenter import Segmenter
from motorpool.codecs.media.segmenter_table import State, Unit, make_table
from motorpool.codecs.media.units import AccessUnit, AudioCoding

MS = 90
TARGET, LONGEST, MAX_BYTES = 2000, 5000, 4000
CODE = b"\0\0\0\1"
PPS = CODE + b"\x68\xce\x3c\x80"
KEYS = {
    "key": (H264, CODE + b"\x67\x42\xc0\x1e\xda" + PPS + CODE + b"\x65"),
    "key of another size": (H264, CODE + b"\x67\x64\xc0\x1e\xda" + PPS + CODE + b"\x65"),
    "key of H.265": (
        H265,
        CODE + b"\x40\1\x0c" + CODE + b"\x42\1\1" + CODE + b"\x44\1\xc0" + CODE + b"\x26\1",
    ),
}
PLAIN = {H264: CODE + b"\x41", H265: CODE + b"\x02\1"}
SOUND_MS = 128


class Sent(NamedTuple):
    unit: AccessUnit
    at: int
    """Milliseconds."""
    key: str = ""
    """Which key frame; empty for other units."""


runs = st.tuples(st.just("run"), st.integers(1, 40), st.sampled_from([40, 100, 333]))
keys = st.tuples(st.sampled_from(list(KEYS)), st.just(1), st.just(40) | st.integers(40, 6000))
strangers = st.tuples(st.just("strangers"), st.integers(1, 3), st.just(40))
scripts = st.lists(runs | keys | runs | strangers, max_size=30)


def film(script: list[tuple[str, int, int]]) -> list[Sent]:
    """The pictures of a script, which begin with a key frame; after a long pause comes a key frame too."""
    sent: list[Sent] = []
    codec, at, placed = H264, 1000, 1000
    for kind, count, step in [("key", 1, 40), *script]:
        for _ in range(count):
            at += step
            key = kind if kind in KEYS else ""
            codec = KEYS[key][0] if key else codec
            coding = (H265 if codec is H264 else H264) if kind == "strangers" else codec
            payload = (KEYS[key][1] if key else PLAIN[coding]) + b"%06d" % len(sent) + bytes(60)
            sent.append(Sent(AccessUnit(1, coding, False, at, payload, at - placed), at, key))
            if kind != "strangers":
                placed = at
    return sent


def sound(begin: int, end: int) -> list[Sent]:
    """Sound of the pictures' clock, sent when its last sample is there."""
    sent = []
    for number, at in enumerate(range(1000 + begin, 1000 + end, SOUND_MS)):
        payload = adts.header(20) + b"%020d" % number
        sent.append(Sent(AccessUnit(1, AudioCoding.AAC, False, at, payload), at + SOUND_MS))
    return sent


def cut(sent: list[Sent], part_seconds: float = 0.0) -> list[MediaFragment]:
    segmenter = Segmenter(
        TARGET / 1000, max_seconds=LONGEST / 1000, max_bytes=MAX_BYTES, part_seconds=part_seconds
    )
    fragments = [segmenter.push(each.unit, 100 + each.at / 1000) for each in sent]
    return [fragment for fragment in [*fragments, segmenter.flush()] if fragment is not None]


def expected_ends(sent: list[Sent], placed: dict[bytes, int]) -> list[tuple[int, bool]]:
    """Where segments end and whether a discontinuity follows, by the rules and the times of their units."""
    ends: list[tuple[int, bool]] = []
    start = last_picture = placed[sent[0].unit.payload]
    codec, latest_key, pending = sent[0].unit.coding, sent[0].key, False
    held: list[tuple[int, int, bool]] = []
    """Time, bytes and whether it is a picture, of all units since the segment began."""
    for each in sent:
        unit, payload = each.unit, each.unit.payload
        has_pictures = any(is_picture for _, _, is_picture in held)
        if unit.is_video and held and not each.key and (not has_pictures or unit.coding is not codec):
            assert payload not in placed, "continues no pictures"
            continue
        if payload not in placed:
            assert not unit.is_video, "only sound from before the first key frame is left out"
            continue
        pts = placed[payload]
        if each.key:
            pending = pending or each.key != latest_key
            ends_here = bool(held) and (not has_pictures or pending or pts - start >= 0.9 * TARGET * MS)
        elif unit.is_video:
            ends_here = pts - start >= LONGEST * MS or sum(size for _, size, _ in held) >= MAX_BYTES
        else:
            ends_here = pts - (last_picture if has_pictures else start) >= TARGET * MS
        if ends_here:
            ends.append((pts, pending))
            pending = False
            held = [later for later in held if not later[2] and later[0] >= pts]
            start = pts
        if unit.is_video:
            last_picture = pts
        if each.key:
            codec, latest_key = unit.coding, each.key
        held.append((pts, len(payload), unit.is_video))
    return ends


def test_each_state_says_of_each_unit_what_it_does_or_drops_it() -> None:
    table = make_table(target=200, longest=900, max_bytes=5000, part=0)
    assert {(state, unit) for state in State for unit in Unit if unit not in table[state]} == {
        (State.WAITING, Unit.PICTURE),
        (State.AUDIO, Unit.PICTURE),
    }
    for state, rows in table.items():
        for unit, row in rows.items():
            begun = State.FIRST if state is State.WAITING else State.VIDEO
            assert row.next is (State.AUDIO if unit is Unit.AUDIO else begun)
            assert row.independent == (unit is not Unit.PICTURE)
            assert (row.max_bytes == 5000) == (unit is Unit.PICTURE)
            assert row.part_length > 1 << 60, "no parts"
    assert table[State.FIRST] == table[State.VIDEO]
    assert {(state, unit) for state in State for unit, row in table[state].items() if row.at_break} == {
        (State.FIRST, Unit.KEYFRAME),
        (State.VIDEO, Unit.KEYFRAME),
        (State.AUDIO, Unit.AUDIO),
    }


@pytest.mark.parametrize(("step", "lengths"), [(199, [18]), (200, [17, 1])])
def test_a_key_frame_ends_the_segment_from_nine_tenths_of_the_target_on(
    step: int, lengths: list[int]
) -> None:
    fragments = cut(film([("run", 16, 100), ("key", 1, step)]))
    assert [len(fragment.pictures) for fragment in fragments] == lengths


@given(scripts, st.none() | st.tuples(st.integers(0, 3000), st.integers(3000, 40_000)))
def test_segments_end_where_the_rules_say(script: list[tuple[str, int, int]], span) -> None:
    sent = film(script) + (sound(*span) if span else [])
    sent.sort(key=lambda each: each.at)
    if not sent[0].unit.is_video:
        sent = [each for each in sent if each.at >= 1040]
    fragments = cut(sent)
    placed = {
        each.payload: each.pts
        for fragment in fragments
        for each in (*fragment.pictures, *fragment.audio_frames)
    }
    ends = expected_ends(sent, placed)
    assert [fragment.end for fragment in fragments[:-1]] == [end for end, _ in ends]
    assert all(before.end == after.start for before, after in pairwise(fragments))
    for before, (_, breaks), after in zip(fragments, ends, fragments[1:], strict=False):
        tracks = [(fragment.coding, bool(fragment.audio_frames)) for fragment in (before, after)]
        assert after.discontinuity == (breaks or tracks[0] != tracks[1])
        assert after.independent == (not after.pictures or after.pictures[0].keyframe)
        assert all(frame.pts < before.end for frame in before.audio_frames)
    pictures = [each.payload for fragment in fragments for each in fragment.pictures]
    assert pictures == [
        each.unit.payload for each in sent if each.unit.is_video and each.unit.payload in placed
    ]


@given(scripts, st.sampled_from([0.2, 0.5, 1.0]))
def test_parts_end_where_the_rules_say(script: list[tuple[str, int, int]], seconds: float) -> None:
    sent = film(script)
    keys = {each.unit.payload for each in sent if each.key}
    steps = {each.unit.payload: each.unit.frame_interval * MS for each in sent}
    limit = seconds * 1000 * MS
    for fragment in cut(sent, seconds):
        first = fragment.start
        for each in fragment.pictures[1:]:
            if each.payload in keys:
                assert 2 * (each.pts - first) < limit, "half a part was there: a key frame begins the next"
            else:
                assert each.pts + steps[each.payload] - first <= limit, "too long with this picture"
        if not fragment.complete:
            assert fragment.pictures
