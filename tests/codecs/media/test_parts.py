"""Segments that come part by part: how they are cut, listed, named and joined (rfc8216bis)."""

import io
import math
from fractions import Fraction
from itertools import pairwise

import av
import m3u8
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motorpool.codecs.media.fragments import MediaFragment
from motorpool.codecs.media.h264 import H264
from motorpool.codecs.media.muxer import Segment, mux
from motorpool.codecs.media.parts import GrowingSegment
from motorpool.codecs.media.playlist import LivePlaylist
from motorpool.codecs.media.segmenter import Segmenter
from motorpool.codecs.media.units import AccessUnit

SECOND = 90_000


def part(
    start: float,
    seconds: float = 0.5,
    *,
    complete=False,
    independent=False,
    discontinuity=False,
    data=b"\x47",
) -> Segment:
    ticks = round(start * SECOND)
    return Segment(
        ticks, ticks + round(seconds * SECOND), discontinuity, independent, data, 1, 0.0, complete=complete
    )


def cut_all(segmenter: Segmenter, units: list[AccessUnit]) -> list[MediaFragment]:
    fragments = [segmenter.push(unit, unit.timestamp / 1000) for unit in units]
    return [fragment for fragment in [*fragments, segmenter.flush()] if fragment is not None]


def segments_of(fragments: list[MediaFragment]) -> list[list[MediaFragment]]:
    found: list[list[MediaFragment]] = [[]]
    for fragment in fragments:
        found[-1].append(fragment)
        if fragment.complete:
            found.append([])
    return found[:-1]


# Cutting


def test_a_segment_is_cut_into_parts_that_end_before_they_are_too_long(film, camera):
    units = camera(film(H264, 100, 25))
    parted = segments_of(cut_all(Segmenter(2.0, part_seconds=0.5), units))
    # The first segment ends with the first key frame, so that players may begin.
    assert [(parts[0].start - 10 * SECOND, parts[-1].end - 10 * SECOND) for parts in parted] == [
        (0, SECOND),
        (SECOND, 3 * SECOND),
        (3 * SECOND, 4 * SECOND),
    ]
    # 25 pictures a second: twelve fit into half a second.
    assert [[len(fragment.pictures) for fragment in parts] for parts in parted] == [
        [12, 12, 1],
        [12, 12, 12, 12, 2],
        [12, 12, 1],
    ]
    assert max(fragment.end - fragment.start for parts in parted for fragment in parts) <= SECOND // 2


def test_a_key_frame_that_ends_no_segment_begins_a_part_where_players_may_join(film, camera):
    fragments = cut_all(Segmenter(2.0, part_seconds=0.5), camera(film(H264, 40, 10), gop=10))
    assert [len(fragment.pictures) for fragment in fragments] == [10, 10, 10, 10]
    assert all(fragment.independent for fragment in fragments)


def test_sound_that_comes_late_goes_with_a_later_part_and_none_is_lost(film, sound, camera):
    units = camera(film(H264, 100, 25), sound("aac", 4))
    late = sorted(units, key=lambda unit: unit.timestamp + (0 if unit.is_video else 300))
    fragments = cut_all(Segmenter(2.0, part_seconds=0.4), late)
    assert [unit.payload for fragment in fragments for unit in fragment.pictures] == [
        unit.payload for unit in units if unit.is_video
    ]
    heard = [unit.payload for fragment in fragments for unit in fragment.audio_frames]
    assert heard == [unit.payload for unit in units if not unit.is_video]
    times = [unit.pts for fragment in fragments for unit in fragment.audio_frames]
    assert all(before < after for before, after in pairwise(times))
    assert not any(fragment.discontinuity for fragment in fragments)


def test_all_parts_of_a_segment_have_the_same_tracks_also_where_no_sound_falls_into_one(film, sound, camera):
    # 128 ms a sound, 80 ms a part.
    fragments = cut_all(Segmenter(2.0, part_seconds=0.08), camera(film(H264, 100, 25), sound("aac", 4)))
    assert not all(fragment.audio_frames for fragment in fragments)
    assert all(fragment.has_audio for fragment in fragments)
    assert not any(fragment.discontinuity for fragment in fragments)


def test_sound_that_begins_within_a_segment_begins_with_the_next_one(film, sound, camera):
    units = camera(film(H264, 150, 25), sound("aac", 6))
    units = [unit for unit in units if unit.is_video or unit.timestamp > 1_600]
    segmenter = Segmenter(2.0, part_seconds=0.5)
    parted = segments_of(cut_all(segmenter, units))
    assert [{fragment.has_audio for fragment in parts} for parts in parted][:2] == [{False}, {True}]
    assert [[fragment.discontinuity for fragment in parts][:2] for parts in parted][:2] == [
        [False, False],
        [True, False],
    ]
    # It is not waited for the target: the next key frame begins a segment.
    assert parted[0][-1].end - parted[0][0].start == SECOND
    heard = [unit.payload for parts in parted for fragment in parts for unit in fragment.audio_frames]
    sent = [unit.payload for unit in units if not unit.is_video]
    assert 0 < len(sent) - len(heard) <= 4
    assert heard == sent[-len(heard) :]


def test_sound_alone_comes_in_parts_too(sound, camera):
    fragments = cut_all(Segmenter(2.0, part_seconds=0.5), camera((), sound("aac", 6)))
    assert sum(len(fragment.audio_frames) for fragment in fragments) == len(sound("aac", 6))
    # Until a whole segment of it has come nobody knows that no pictures do.
    assert [fragment.complete for fragment in fragments][:2] == [True, False]
    assert max(fragment.end - fragment.start for fragment in fragments[1:]) <= SECOND // 2
    assert all(before.end == after.start for before, after in pairwise(fragments))


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.tuples(st.integers(10, 900), st.booleans()), min_size=1, max_size=80),
    st.sampled_from([0.2, 0.5, 1.0]),
)
def test_parts_join_to_the_segments_there_would_be_without_them_but_for_a_short_first_one(
    pictures: list[tuple[int, bool]], seconds: float
) -> None:
    key = b"\0\0\0\1\x67\x42\xc0\x1e\xda\0\0\0\1\x68\xce\x3c\x80\0\0\0\1\x65"
    units, stamp = [], 1_000
    for number, (step, is_key) in enumerate(pictures):
        head = key if is_key or number == 0 else b"\0\0\0\1\x41"
        units.append(AccessUnit(1, H264, is_key, stamp, head + b"%d" % number, step))
        stamp += step
    whole = cut_all(Segmenter(2.0), units)
    end = whole[-1].end
    parted = segments_of(cut_all(Segmenter(2.0, part_seconds=seconds), units))
    first_key = next(
        (
            number
            for number, unit in enumerate(units)
            if unit.keyframe and unit.timestamp - 1_000 >= 900 * seconds
        ),
        len(units),
    )
    if first_key < len(whole[0].pictures):
        whole = cut_all(Segmenter(2.0), units[:first_key])
        whole += cut_all(Segmenter(2.0, start=parted[1][0].start), units[first_key:])
    assert [fragment.pictures for fragment in whole] == [
        tuple(picture for fragment in parts for picture in fragment.pictures) for parts in parted
    ]
    assert [fragment.start for fragment in whole] == [parts[0].start for parts in parted]
    assert [parts[-1].end for parts in parted] == [*[parts[0].start for parts in parted[1:]], end]
    for fragment in [fragment for parts in parted for fragment in parts]:
        assert fragment.pictures
        assert fragment.independent == fragment.pictures[0].keyframe


def test_a_segment_of_parts_is_one_that_plays_and_holds_what_it_would_whole(film, sound, camera, play):
    units = camera(film(H264, 100, 25), sound("aac", 4))
    whole = play(b"".join(mux(fragment).data for fragment in cut_all(Segmenter(4.0), units)))
    parts = [mux(fragment) for fragment in cut_all(Segmenter(4.0, part_seconds=0.3), units)]
    assert len(parts) > 8
    growing = GrowingSegment(parts[0], None)
    for each in parts[1:]:
        growing.add(each)
    joined = play(growing.join().data)
    assert joined.numbers == whole.numbers == list(range(100))
    assert (joined.picture_times, joined.sound_times) == (whole.picture_times, whole.sound_times)
    assert (joined.samples, joined.pids) == (whole.samples, whole.pids)
    with av.open(io.BytesIO(growing.join().data)) as container:
        assert not any(packet.is_corrupt for packet in container.demux())


# Listing


def test_a_playlist_of_parts_reads_as_the_draft_wants_it():
    playlist = LivePlaylist(window=4, part_seconds=0.5, first_index=7, target_seconds=1.0)
    for number in range(5):
        playlist.append(part(number, independent=True, discontinuity=number == 0))
        playlist.append(part(number + 0.5, 0.48 if number == 4 else 0.5, complete=True))
    playlist.append(part(4.98, independent=True))
    assert playlist.render().splitlines() == [
        "#EXTM3U",
        "#EXT-X-MEDIA-SEQUENCE:8",
        "#EXT-X-DISCONTINUITY-SEQUENCE:1",
        "#EXT-X-VERSION:6",
        "#EXT-X-TARGETDURATION:1",
        "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=1.5",
        "#EXT-X-PART-INF:PART-TARGET=0.5",
        "#EXTINF:1.000000,",
        "8.ts",
        '#EXT-X-PART:DURATION=0.5,URI="9.0.ts",INDEPENDENT=YES',
        '#EXT-X-PART:DURATION=0.5,URI="9.1.ts"',
        "#EXTINF:1.000000,",
        "9.ts",
        '#EXT-X-PART:DURATION=0.5,URI="10.0.ts",INDEPENDENT=YES',
        '#EXT-X-PART:DURATION=0.5,URI="10.1.ts"',
        "#EXTINF:1.000000,",
        "10.ts",
        '#EXT-X-PART:DURATION=0.5,URI="11.0.ts",INDEPENDENT=YES',
        '#EXT-X-PART:DURATION=0.48,URI="11.1.ts"',
        "#EXTINF:0.980000,",
        "11.ts",
        '#EXT-X-PART:DURATION=0.5,URI="12.0.ts",INDEPENDENT=YES',
        '#EXT-X-PRELOAD-HINT:TYPE=PART,URI="12.1.ts"',
    ]


def test_a_longer_part_raises_the_part_target_while_it_is_listed():
    playlist = LivePlaylist(window=3, part_seconds=0.5)
    targets = []
    for number in range(12):
        playlist.append(part(number, 1.01 if number == 3 else 0.5))
        playlist.append(part(number + (1.01 if number == 3 else 0.5), 0.5, complete=True))
        targets.append(m3u8.loads(playlist.render()).part_inf.part_target)
    assert targets[:4] == [0.5, 0.5, 0.5, 1.05]
    assert targets[-1] == 0.5


@pytest.mark.parametrize("broken", [{"start": 0.75}, {"start": 0.5, "discontinuity": True}])
def test_after_a_lost_part_a_new_segment_begins(broken):
    playlist = LivePlaylist(part_seconds=0.5)
    playlist.append(part(0.0, data=b"a"))
    assert playlist.append(part(**broken, data=b"b")) == 1
    assert (playlist.get(0), playlist.get(1)) == (b"a", None)
    assert [playlist.get_part(0, 0), playlist.get_part(1, 0)] == [b"a", b"b"]


def test_a_reload_waits_for_its_part_and_not_for_one_far_ahead():
    playlist = LivePlaylist(part_seconds=0.5, first_index=4)
    playlist.append(part(0.0, complete=True))
    playlist.append(part(0.5))
    playlist.append(part(1.0))
    held = {(4, None), (4, 0), (4, 7), (5, 0), (5, 1), (2, 3)}
    coming = {(5, None), (5, 2), (5, 7), (6, None), (6, 0)}
    ahead = {(7, None), (7, 0), (5, 8), (6, 6)}
    for index, number in held | coming | ahead:
        assert playlist.holds(index, number) == ((index, number) in held), (index, number)
        if (index, number) not in held:
            assert playlist.is_too_far_ahead(index, number) == ((index, number) in ahead), (index, number)
    assert playlist.is_next(5, 2)
    playlist.append(part(1.5, complete=True))
    assert playlist.holds(5)
    assert not playlist.holds(5, 3)  # behind the last part of 5: the first of 6
    assert playlist.is_next(6, 0)


@given(
    st.lists(
        st.tuples(st.integers(1, 60_000), st.booleans(), st.booleans(), st.booleans(), st.booleans()),
        max_size=60,
    ),
    st.integers(1, 6),
    st.sampled_from([0.2, 0.33, 0.5, 1.0]),
)
def test_parts_sum_to_segments_hints_come_true_and_indices_never_go_back(appended, window, part_seconds):
    playlist = LivePlaylist(window, part_seconds=part_seconds, first_index=3, target_seconds=2.0)
    start, sequence, hinted = 0, 0, None
    last = (-1, 0)
    for number, (ticks, complete, independent, discontinuity, lost) in enumerate(appended):
        start += 9_000 * lost
        wanted = [(3, 0)] if hinted is None else [hinted]
        assert not playlist.holds(*wanted[0])
        before = m3u8.loads(playlist.render())
        index = playlist.append(
            Segment(
                start, start + ticks, discontinuity, independent, b"%d;" % number, 1, 0.0, complete=complete
            )
        )
        start += ticks
        assert playlist.holds(*wanted[0])
        text = playlist.render()
        assert "\n\n" not in text.rstrip("\n")
        parsed = m3u8.loads(text)
        whole = [entry for entry in parsed.segments if entry.uri]
        growing = [entry for entry in parsed.segments if not entry.uri]
        assert len(growing) <= 1
        assert all(entry.uri for entry in parsed.segments[:-1])
        assert (parsed.media_sequence or 0) >= sequence
        sequence = parsed.media_sequence or 0
        listed = [(at, entry) for at, entry in enumerate(parsed.segments, sequence)]
        for at, entry in listed:
            for place, each in enumerate(entry.parts):
                assert each.uri == f"{at}.{place}.ts"
                assert each.duration <= parsed.part_inf.part_target
                assert playlist.get_part(at, place) is not None
            if entry.uri and entry.parts:
                total = sum(Fraction(str(each.duration)) for each in entry.parts)
                assert abs(total - Fraction(str(entry.duration))) < Fraction(len(entry.parts) + 1, 10**6)
                joined = b"".join(playlist.get_part(at, place) or b"" for place in range(len(entry.parts)))
                assert joined == playlist.get(at)
            assert not entry.uri or math.floor(entry.duration + 0.5) <= parsed.target_duration
        assert parsed.server_control.part_hold_back >= 3 * parsed.part_inf.part_target - 1e-9
        # What was named as the next part is there now, unless a new segment had to begin.
        if hinted is not None and not (before.segments[-1].uri is None and (discontinuity or lost)):
            assert playlist.get_part(*hinted) == b"%d;" % number
        head, _, tail = parsed.preload_hint.uri.removesuffix(".ts").partition(".")
        hinted = int(head), int(tail)
        assert hinted > last
        assert hinted == ((index + 1, 0) if not growing else (index, len(growing[0].parts)))
        assert playlist.is_next(*hinted)
        last = hinted
        assert len(whole) <= window
