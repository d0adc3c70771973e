import msgspec
import pytest

from motorpool.codecs.media.muxer import Segment
from motorpool.codecs.media.parts import Part
from motorpool.codecs.media.playlist import LivePlaylist
from motorpool.codecs.media.playlist_window import PlaylistWindow, is_readable


@pytest.fixture
def window() -> PlaylistWindow:
    playlist = LivePlaylist(first_index=7, first_discontinuity=2)
    for number in range(3):
        playlist.append(
            Segment(number * 180_000, (number + 1) * 180_000, number == 1, True, b"\x47" * 9, 50, 0.0)
        )
    return playlist.window()


def received(window: PlaylistWindow) -> PlaylistWindow:
    return msgspec.msgpack.decode(msgspec.msgpack.encode(window), type=PlaylistWindow)


def test_a_playlist_goes_on_with_the_window_of_another(window: PlaylistWindow) -> None:
    kept = received(window)
    assert is_readable(kept)
    playlist = LivePlaylist(first_index=10)
    playlist.go_on_with(kept)
    assert [
        line for line in playlist.render().splitlines() if line.startswith("#EXT-X-") or line[0] != "#"
    ] == [
        "#EXT-X-MEDIA-SEQUENCE:7",
        "#EXT-X-DISCONTINUITY-SEQUENCE:2",
        "#EXT-X-VERSION:3",
        "#EXT-X-TARGETDURATION:2",
        "7.ts",
        "#EXT-X-DISCONTINUITY",
        "8.ts",
        "9.ts",
    ]
    assert playlist.next_index == 10


@pytest.mark.parametrize(
    "changes",
    [{"next_index": -1}, {"first_discontinuity": -7}, {"target_duration": -1}, {"target_duration": 10**9}],
    ids=str,
)
def test_numbers_that_no_playlist_has_are_not_decoded(
    window: PlaylistWindow, changes: dict[str, int]
) -> None:
    with pytest.raises(msgspec.ValidationError):
        received(msgspec.structs.replace(window, **changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"suffix": "ogg"},
        {"start": 200_000, "end": 100_000},
        {"parts": (Part(0, 10, 2.0, independent=True),)},
        {"parts": (Part(-1, 5, 2.0, independent=True),)},
        {"parts": (Part(5, 3, 2.0, independent=True),)},
    ],
    ids=str,
)
def test_a_segment_that_cannot_be_is_not_readable(window: PlaylistWindow, changes: dict[str, object]) -> None:
    first, *others = window.segments
    segments = (msgspec.structs.replace(first, **changes), *others)
    assert not is_readable(received(msgspec.structs.replace(window, segments=segments)))


def test_fewer_numbers_than_segments_are_not_readable(window: PlaylistWindow) -> None:
    assert not is_readable(received(msgspec.structs.replace(window, next_index=2)))
