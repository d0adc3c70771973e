"""Events of what a position says was recorded or answered (docs/events.md#events-of-positions)."""

from collections.abc import Sequence
from typing import Final

from motorpool.actors.rules.position_event import position_event
from motorpool.storage.records import Event, Position

MEDIA: Final = ("image", "video", "audio")
"""Attributes that name a file."""


def media_events(position: Position, known: Sequence[Event]) -> list[Event]:
    """Return an event for each file that the position names, unless it is among the `known` ones."""
    found: list[Event] = []
    for kind in MEDIA:
        name = position.attributes.get(kind)
        if isinstance(name, str) and name:
            attributes = {"media": kind, "file": name}
            if not any(event.type == "media" and event.attributes == attributes for event in known):
                found.append(position_event("media", position, attributes))
    return found


def result_events(position: Position, known: Sequence[Event]) -> list[Event]:
    """Return an event if the position has the result of a command, unless it is among the `known` ones."""
    result = position.attributes.get("result")
    if result is None or any(event.type == "commandResult" for event in known):
        return []
    return [position_event("commandResult", position, {"result": result})]
