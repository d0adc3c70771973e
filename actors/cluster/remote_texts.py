"""The texts that servers of a cluster send each other of their devices: JSON, of limited length."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Literal, TypeVar

import msgspec

from motorpool.actors.messages.remote import DeviceUpdate, RemoteEvent, RemoteText
from motorpool.actors.messages.topics import WebEvent
from motorpool.storage.cluster.broadcast import arrays

T = TypeVar("T")

_HEAD_BYTES = 60
"""Around the array of a text."""
USERS = 200
"""Users of one event in a text; of more, it is sent several times."""
MESSAGE_CHARACTERS = 500
"""Length to which the message of an event that is too long for a text is cut."""

_MALFORMED = (msgspec.DecodeError, RecursionError)
_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(RemoteText)


class _Parts(msgspec.Struct):
    server: int
    devices: tuple[msgspec.Raw, ...] = ()
    events: tuple[msgspec.Raw, ...] = ()
    reviews: tuple[int, ...] = ()
    commands: tuple[int, ...] = ()


def encode_text(text: RemoteText) -> str:
    """Return a text without devices and events."""
    return _encoder.encode(text).decode()


def encode_devices(server: int, updates: Iterable[DeviceUpdate], max_bytes: int) -> list[str]:
    """Return texts with these updates. Of a position that is too long for a text the id is sent."""
    room = _room(max_bytes)
    return _texts(server, "devices", (_device(each, room) for each in updates), max_bytes)


def encode_events(server: int, events: Iterable[WebEvent], max_bytes: int) -> list[str]:
    """Return texts with these events, shortened where they are too long."""
    room = _room(max_bytes)
    parts = (item for each in events for item in _event_parts(each, room))
    return _texts(server, "events", parts, max_bytes)


def encode_ids(
    server: int, key: Literal["reviews", "commands"], ids: Iterable[int], max_bytes: int
) -> list[str]:
    """Return texts with these ids of events or commands, under their key."""
    return _texts(server, key, (b"%d" % each for each in ids), max_bytes)


def decode_text(text: str) -> RemoteText:
    """Return the updates that another server has sent, without malformed ones, as of another release."""
    with suppress(*_MALFORMED):
        found = _decoder.decode(text)
        if all(map(_has_zones, found.devices)) and all(map(_has_zone, found.events)):
            return found
    try:
        parts = msgspec.json.decode(text, type=_Parts)
    except _MALFORMED:
        return RemoteText(0)
    return RemoteText(
        parts.server,
        devices=tuple(filter(_has_zones, _valid(parts.devices, DeviceUpdate))),
        events=tuple(filter(_has_zone, _valid(parts.events, RemoteEvent))),
        reviews=parts.reviews,
        commands=parts.commands,
    )


def _texts(server: int, name: str, items: Iterable[bytes], max_bytes: int) -> list[str]:
    room = max_bytes - _HEAD_BYTES
    return [f'{{"server":{server},"{name}":{array}}}' for array in arrays(items, room)]


def _room(max_bytes: int) -> int:
    """Return the bytes that one item may have."""
    return max_bytes - _HEAD_BYTES - 2


def _device(update: DeviceUpdate, room: int) -> bytes:
    # What PostgreSQL cannot store is not encoded here either: the row is read.
    with suppress(ValueError, TypeError, OverflowError, RecursionError):
        encoded = _encoder.encode(update)
        if len(encoded) <= room:
            return encoded
    assert update.position is not None
    return _encoder.encode(msgspec.structs.replace(update, position=None, position_id=update.position.id))


def _event_parts(event: WebEvent, room: int) -> Iterator[bytes]:
    users = sorted(event.user_ids)
    for start in range(0, len(users), USERS):
        yield _event(tuple(users[start : start + USERS]), event, room)


def _event(users: tuple[int, ...], event: WebEvent, room: int) -> bytes:
    with suppress(ValueError, TypeError, OverflowError, RecursionError):
        encoded = _encoder.encode(RemoteEvent(users, event.event))
        if len(encoded) <= room:
            return encoded
    message = str(event.event.attributes.get("message", ""))[:MESSAGE_CHARACTERS]
    message = message.encode(errors="replace").decode()
    short = msgspec.structs.replace(event.event, attributes={"message": message})
    return _encoder.encode(RemoteEvent(users, short))


def _valid(items: Iterable[msgspec.Raw], kind: type[T]) -> Iterator[T]:
    for item in items:
        with suppress(*_MALFORMED):
            yield msgspec.json.decode(item, type=kind)


def _has_zones(update: DeviceUpdate) -> bool:
    """Whether the times of its position can be compared with others."""
    position = update.position
    return position is None or (
        position.server_time.tzinfo is not None
        and position.device_time.tzinfo is not None
        and position.fix_time.tzinfo is not None
    )


def _has_zone(event: RemoteEvent) -> bool:
    return event.event.event_time.tzinfo is not None
