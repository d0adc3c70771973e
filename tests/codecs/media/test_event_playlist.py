import math
from datetime import UTC, datetime

import m3u8
import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.codecs.media.event_playlist import EventPlaylist


def test_a_growing_recording_is_an_event_and_ends_with_endlist() -> None:
    playlist = EventPlaylist(prefix="playback/", first_index=41, first_discontinuity=3)
    assert playlist.append(2.0, discontinuity=True) == 41
    assert playlist.append(2.04) == 42
    growing = [
        "#EXTM3U",
        "#EXT-X-VERSION:3",
        "#EXT-X-TARGETDURATION:2",
        "#EXT-X-MEDIA-SEQUENCE:41",
        "#EXT-X-DISCONTINUITY-SEQUENCE:3",
        "#EXT-X-PLAYLIST-TYPE:EVENT",
        "#EXT-X-DISCONTINUITY",
        "#EXTINF:2.000000,",
        "playback/41.ts",
        "#EXTINF:2.040000,",
        "playback/42.ts",
    ]
    assert playlist.render().splitlines() == growing
    playlist.end()
    assert playlist.render().splitlines() == [*growing, "#EXT-X-ENDLIST"]
    with pytest.raises(ValueError, match="ended"):
        playlist.append(1.0)


def test_the_time_of_a_segment_in_the_recording_precedes_it_in_milliseconds() -> None:
    playlist = EventPlaylist()
    noon = datetime(2026, 5, 1, 12, tzinfo=UTC)
    playlist.append(2.0, recorded_at=noon)
    playlist.append(2.0, discontinuity=True, recorded_at=noon.replace(microsecond=250_999))
    playlist.append(2.0)
    assert playlist.render().splitlines()[-9:] == [
        "#EXT-X-PROGRAM-DATE-TIME:2026-05-01T12:00:00.000+00:00",
        "#EXTINF:2.000000,",
        "0.ts",
        "#EXT-X-DISCONTINUITY",
        "#EXT-X-PROGRAM-DATE-TIME:2026-05-01T12:00:00.250+00:00",
        "#EXTINF:2.000000,",
        "1.ts",
        "#EXTINF:2.000000,",
        "2.ts",
    ]


def test_without_its_beginning_it_is_no_event_any_more() -> None:
    playlist = EventPlaylist(first_discontinuity=3)
    for discontinuity in (True, False, True, False):
        playlist.append(1.5, discontinuity=discontinuity)
    playlist.drop_before(0)
    assert "PLAYLIST-TYPE:EVENT" in playlist.render()
    playlist.drop_before(2)
    parsed = m3u8.loads(playlist.render())
    assert (parsed.playlist_type, parsed.media_sequence, parsed.discontinuity_sequence) == (None, 2, 4)
    assert [entry.uri for entry in parsed.segments] == ["2.ts", "3.ts"]
    assert [index in playlist for index in range(-1, 6)] == [False, False, False, True, True, False, False]
    assert playlist.seconds == 3.0
    assert (1 in playlist, 2 in playlist) == (False, True)
    assert (playlist.next_index, playlist.next_discontinuity) == (4, 5)


def test_an_empty_playlist_is_one_too_and_may_end() -> None:
    playlist = EventPlaylist(target_seconds=3.5, first_index=7)
    parsed = m3u8.loads(playlist.render())
    assert (len(parsed.segments), parsed.target_duration, parsed.media_sequence) == (0, 4, 7)
    playlist.drop_before(9)
    assert (m3u8.loads(playlist.render()).media_sequence, playlist.next_index) == (7, 7)
    playlist.end()
    assert m3u8.loads(playlist.render()).is_endlist


def test_the_text_is_made_once_for_all_readers() -> None:
    playlist = EventPlaylist()
    playlist.append(2.0)
    text = playlist.render()
    assert playlist.render() is text
    playlist.append(2.0)
    assert playlist.render() != text


appended = st.tuples(st.just("append"), st.integers(1, 30 * 90_000), st.booleans())
dropped = st.tuples(st.just("drop"), st.integers(0, 60), st.booleans())


@given(st.lists(appended | dropped, max_size=60), st.integers(0, 2**40), st.integers(0, 5000))
def test_numbers_only_grow_every_text_parses_and_endlist_is_final(
    steps: list[tuple[str, int, bool]], first: int, first_discontinuity: int
) -> None:
    playlist = EventPlaylist(
        prefix="playback/", first_index=first, first_discontinuity=first_discontinuity, target_seconds=1.0
    )
    told: dict[int, tuple[float, bool]] = {}
    sequence = target = 0
    whole = True
    for kind, number, flag in steps:
        if kind == "append":
            index = playlist.append(number / 90_000, discontinuity=flag)
            assert index == first + len(told)
            told[index] = (number / 90_000, flag)
        else:
            whole = whole and min(number, len(told)) <= 0
            playlist.drop_before(first + number)
        parsed = m3u8.loads(playlist.render())
        assert not parsed.is_endlist
        assert (parsed.playlist_type == "event") is whole
        now_at = parsed.media_sequence or 0
        assert now_at >= sequence
        assert now_at + len(parsed.segments) == first + len(told) == playlist.next_index
        gone = sum(flagged for index, (_, flagged) in told.items() if index < now_at)
        assert parsed.discontinuity_sequence == first_discontinuity + gone
        assert parsed.target_duration >= target
        for index, entry in enumerate(parsed.segments, now_at):
            seconds, flagged = told[index]
            assert (entry.uri, entry.discontinuity) == (f"playback/{index}.ts", flagged)
            assert abs(entry.duration - seconds) < 1e-6
            assert math.floor(entry.duration + 0.5) <= parsed.target_duration
        sequence, target = now_at, parsed.target_duration
    playlist.end()
    last = m3u8.loads(playlist.render())
    assert last.is_endlist
    assert playlist.render().endswith("#EXT-X-ENDLIST\n")
    assert playlist.next_discontinuity == first_discontinuity + sum(flag for _, flag in told.values())
