import math
from datetime import UTC, datetime
from fractions import Fraction

import m3u8
import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.codecs.media.muxer import Segment
from motorpool.codecs.media.playlist import LivePlaylist


def segment(seconds: float = 2.0, discontinuity: bool = False, size: int = 10) -> Segment:
    return Segment(0, round(seconds * 90_000), discontinuity, True, b"\x47" * size, 50, 0.0)


def test_a_playlist_reads_as_rfc_8216_wants_it() -> None:
    playlist = LivePlaylist(window=2, first_index=41, first_discontinuity=3)
    for seconds, discontinuity in ((2.0, True), (2.04, False), (1.5, True)):
        playlist.append(segment(seconds, discontinuity), datetime(2026, 10, 1, 12, 0, 0, 250_000, tzinfo=UTC))
    assert playlist.render().splitlines() == [
        "#EXTM3U",
        "#EXT-X-MEDIA-SEQUENCE:42",
        "#EXT-X-DISCONTINUITY-SEQUENCE:4",
        "#EXT-X-VERSION:3",
        "#EXT-X-TARGETDURATION:2",
        "#EXT-X-PROGRAM-DATE-TIME:2026-10-01T12:00:00.250+00:00",
        "#EXTINF:2.040000,",
        "42.ts",
        "#EXT-X-DISCONTINUITY",
        "#EXT-X-PROGRAM-DATE-TIME:2026-10-01T12:00:00.250+00:00",
        "#EXTINF:1.500000,",
        "43.ts",
    ]


def test_an_empty_playlist_is_one_too() -> None:
    parsed = m3u8.loads(LivePlaylist(target_seconds=3.5).render())
    assert (len(parsed.segments), parsed.target_duration, parsed.is_endlist) == (0, 4, False)


def test_the_text_is_made_once_for_all_readers() -> None:
    playlist = LivePlaylist()
    playlist.append(segment())
    text = playlist.render()
    assert playlist.render() is text
    playlist.append(segment())
    assert playlist.render() != text


def test_late_readers_still_get_what_just_left() -> None:
    playlist = LivePlaylist(window=2, late=1, first_index=5)
    for size in (1, 2, 3, 4):
        playlist.append(segment(size=size))
    assert [playlist.get(index) and len(playlist.get(index) or b"") for index in range(4, 10)] == [
        None,
        None,
        2,
        3,
        4,
        None,
    ]


def test_bytes_are_bounded_whatever_the_window_says() -> None:
    playlist = LivePlaylist(window=6, late=3, max_bytes=1000)

    def sizes() -> list[int]:
        return [len(playlist.get(index) or b"") for index in range(playlist.next_index)]

    for _ in range(10):
        playlist.append(segment(size=300))
        assert sum(sizes()) <= 1000
    assert len(playlist) == 3
    playlist.append(segment(size=5000))
    assert (len(playlist), sizes()[:-1], sizes()[-1]) == (1, [0] * 10, 5000)


def test_a_restart_goes_on_where_the_numbers_were() -> None:
    before = LivePlaylist(window=3)
    for number in range(7):
        before.append(segment(discontinuity=number % 2 == 0))
    after = LivePlaylist(
        window=3, first_index=before.next_index, first_discontinuity=before.next_discontinuity
    )
    assert after.append(segment(discontinuity=True)) == 7
    assert after.next_discontinuity == 5


@pytest.mark.parametrize(("seconds", "target"), [(1.0, 2), (2.4, 2), (2.5, 3), (7.49, 7), (20.0, 20)])
def test_the_target_duration_is_the_longest_rounded(seconds: float, target: int) -> None:
    playlist = LivePlaylist()
    for length in (2.0, seconds, 1.0):
        playlist.append(segment(length))
    assert m3u8.loads(playlist.render()).target_duration == target


@given(
    st.lists(st.tuples(st.integers(1, 30 * 90_000), st.booleans(), st.integers(0, 400)), max_size=40),
    st.integers(1, 8),
    st.integers(0, 4),
    st.integers(0, 2**40),
)
def test_numbers_only_grow_and_every_text_parses(
    appended: list[tuple[int, bool, int]], window: int, late: int, first: int
) -> None:
    playlist = LivePlaylist(window, late=late, first_index=first, first_discontinuity=7, max_bytes=3000)
    sequence, discontinuities, target = 0, 0, 0
    flags: dict[int, bool] = {}
    for number, (ticks, discontinuity, size) in enumerate(appended):
        flags[first + number] = discontinuity
        assert playlist.append(Segment(0, ticks, discontinuity, True, bytes(size), 1, 0.0)) == first + number
        parsed = m3u8.loads(playlist.render())
        assert 1 <= len(parsed.segments) <= window
        now_at = parsed.media_sequence or 0
        assert now_at >= sequence
        assert (parsed.discontinuity_sequence or 0) >= discontinuities
        assert parsed.target_duration >= target
        assert now_at + len(parsed.segments) == first + number + 1
        assert parsed.discontinuity_sequence == 7 + sum(flags[i] for i in flags if i < now_at)
        for index, entry in enumerate(parsed.segments, now_at):
            assert entry.uri == f"{index}.ts"
            assert entry.discontinuity == flags[index]
            assert math.floor(entry.duration + 0.5) <= parsed.target_duration
            assert playlist.get(index) is not None
        last = parsed.segments[-1].duration
        assert abs(Fraction(str(last)) - Fraction(ticks, 90_000)) <= Fraction(1, 1_000_000)
        sequence, discontinuities = now_at, parsed.discontinuity_sequence
        target = parsed.target_duration


@given(
    appended=st.lists(st.tuples(st.booleans(), st.integers(0, 40)), max_size=20),
    sizes=st.tuples(st.integers(1, 6), st.integers(1, 6)),
    late=st.tuples(st.integers(0, 3), st.integers(0, 3)),
    max_bytes=st.tuples(st.integers(1, 100), st.integers(1, 100)),
)
def test_another_playlist_with_other_limits_goes_on_without_going_back(
    appended: list[tuple[bool, int]],
    sizes: tuple[int, int],
    late: tuple[int, int],
    max_bytes: tuple[int, int],
) -> None:
    before, after = (
        LivePlaylist(size, late=late[n], max_bytes=max_bytes[n], first_index=41, first_discontinuity=7)
        for n, size in enumerate(sizes)
    )
    for discontinuity, size in appended:
        before.append(segment(2.0, discontinuity, size))
    shown = m3u8.loads(before.render())
    after.go_on_with(before.window())
    goes_on = m3u8.loads(after.render())
    assert after.next_index == before.next_index
    assert after.next_discontinuity == before.next_discontinuity
    assert (goes_on.media_sequence or 0) >= (shown.media_sequence or 0)
    assert (goes_on.discontinuity_sequence or 0) >= (shown.discontinuity_sequence or 0)
    assert len(goes_on.segments) >= min(1, len(shown.segments))
    after.append(segment(2.0, True))
    assert (m3u8.loads(after.render()).media_sequence or 0) >= (goes_on.media_sequence or 0)
