"""A player's requests and their times, by RFC 8216 6.3.3 and 6.3.4."""

from motorpool.bench.viewer import Viewer, listed_segments, target_duration


def playlist(first: int, count: int = 6, target: int = 2) -> str:
    entries = "".join(f"#EXTINF:2.0,\n{index}.ts\n" for index in range(first, first + count))
    return f"#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:{target}\n{entries}"


def play(viewer: Viewer, now: float) -> list[str]:
    """Everything the viewer wants now, given at once."""
    asked = []
    while viewer.wants_segment:
        asked.append(viewer.request())
        viewer.take_segment(now)
    return asked


def test_a_player_begins_three_segments_before_the_end_and_wants_each_once() -> None:
    viewer = Viewer("/api/stream/7/1", 5.0)
    assert (viewer.due, viewer.request()) == (5.0, "/api/stream/7/1/live.m3u8")
    viewer.take_playlist(playlist(10), 5.0)
    assert play(viewer, 5.1) == [f"/api/stream/7/1/{index}.ts" for index in (13, 14, 15)]
    viewer.take_playlist(playlist(11), 7.0)
    assert play(viewer, 7.1) == ["/api/stream/7/1/16.ts"]
    assert viewer.request() == "/api/stream/7/1/live.m3u8"


def test_a_changed_playlist_is_read_again_after_a_target_duration_another_after_half_of_it() -> None:
    viewer = Viewer("", 0.0)
    viewer.take_playlist(playlist(0), 10.0)
    assert viewer.due == 10.0  # its segments at once
    play(viewer, 10.1)
    assert viewer.due == 12.0
    viewer.take_playlist(playlist(0), 12.0)
    assert viewer.due == 13.0
    viewer.take_playlist(playlist(0, target=4), 13.0)
    assert viewer.due == 15.0


def test_an_empty_playlist_is_no_beginning() -> None:
    viewer = Viewer("", 0.0)
    viewer.take_playlist(playlist(0, 0), 1.0)
    assert (viewer.wants_segment, viewer.due) == (False, 2.0)
    viewer.take_playlist(playlist(0, 1), 2.0)
    assert play(viewer, 2.1) == ["/0.ts"]
    assert viewer.missed == 0


def test_segments_that_left_the_window_are_counted() -> None:
    viewer = Viewer("", 0.0)
    viewer.take_playlist(playlist(0), 0.0)
    play(viewer, 0.1)
    viewer.take_playlist(playlist(9), 20.0)
    assert viewer.missed == 3
    viewer.skip_segment()
    assert viewer.missed == 4
    assert viewer.request() == "/10.ts"


def test_what_comes_after_all_was_shown_is_a_stall() -> None:
    viewer = Viewer("", 0.0)
    viewer.take_playlist(playlist(0), 0.0)
    play(viewer, 1.0)  # six seconds to show, from 1.0 to 7.0
    viewer.take_playlist(playlist(1), 6.0)
    play(viewer, 6.9)
    assert viewer.stalls == 0
    viewer.take_playlist(playlist(2), 9.0)
    play(viewer, 9.5)
    assert viewer.stalls == 1
    viewer.take_playlist(playlist(3), 11.0)
    play(viewer, 11.4)  # shown until 11.5 since the stall
    assert viewer.stalls == 1


def test_a_playlist_is_read_without_its_library() -> None:
    text = "#EXTM3U\n#EXT-X-VERSION:3\n#EXTINF:2.04,\n17.ts\n#EXT-X-DISCONTINUITY\n#EXTINF:1.96,\n18.ts\n"
    assert listed_segments(text) == [(17, 2.04), (18, 1.96)]
    assert listed_segments("#EXTM3U\n") == []
    assert target_duration("#EXTM3U\n#EXT-X-TARGETDURATION:3\n#EXTINF:2.9,\n") == 3
    assert target_duration("#EXTM3U\n") == 1
