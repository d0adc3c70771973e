"""Events of files and results that a position names."""

from datetime import UTC, datetime

from motorpool.actors.rules.media_events import media_events, result_events
from motorpool.storage.records import Event, Position

NOON = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)


def position(**attributes):
    return Position(device_id=7, device_time=NOON, attributes=attributes)


def event(kind, **attributes):
    return Event(type=kind, event_time=NOON, device_id=7, attributes=attributes)


def test_each_file_is_an_event():
    both = position(audio="b.wav", image="a.jpg")
    image, audio = event("media", media="image", file="a.jpg"), event("media", media="audio", file="b.wav")
    assert media_events(both, ()) == [image, audio]
    assert media_events(both, (image,)) == [audio]
    assert media_events(position(image="", video=3), ()) == []


def test_a_result_is_an_event():
    assert result_events(position(result="ok"), ()) == [event("commandResult", result="ok")]
    assert result_events(position(result="ok"), (event("commandResult", result="ok"),)) == []
    assert result_events(position(), ()) == []
