"""Runs stored positions through the rules that make events once more (docs/replay.md)."""

from collections.abc import Iterator
from typing import Final, NamedTuple

import msgspec

from motorpool.actors.rules.device_rules import DeviceRules
from motorpool.actors.rules.event_rules import FoldState, events_of, events_of_implausible
from motorpool.actors.rules.event_types import EVENT_TYPES
from motorpool.actors.rules.fold import is_latest
from motorpool.storage.records import Event, Position

REPLAYED: Final = frozenset(EVENT_TYPES) - {
    # Not of positions.
    "deviceOnline",
    "deviceUnknown",
    "deviceOffline",
    "deviceInactive",
    "deviceLoginRefused",
    "driverHoursWarning",
    "driverHoursExceeded",
    "queuedCommandSent",
    "queuedCommandFailed",
    # Of what the device sent with the position, whatever is configured.
    "commandResult",
    "media",
    # Of where other devices were at the time.
    "proximityEnter",
    "proximityExit",
    "unaccompaniedMotion",
}
"""Types of events that stored positions and what is configured determine."""


class Replayed(NamedTuple):
    """An event that the rules made."""

    event: Event
    """With the id of its position."""
    is_dated_back: bool
    """Whether its position and time are those of an earlier position, or may be."""


class Replay:
    """Takes the positions of one device in the order in which they were stored, that of their ids."""

    def __init__(self, state: FoldState, rules: DeviceRules) -> None:
        """`state` is that after the positions before the first."""
        self._state = state
        self._rules = rules

    def events(self, position: Position) -> Iterator[Replayed]:
        """Yield the events of the next position whose types are REPLAYED."""
        state = self._state
        if "implausible" in position.attributes:
            found = events_of_implausible(position, state, self._rules)
        elif is_latest(position, state.latest):
            found = events_of(position, state, self._rules, linked=None)
        else:
            return
        self._state = found.state
        dated_back = {id(event): point for event, point in found.dated_back}
        for event in found.events:
            if event.type in REPLAYED:
                point = dated_back.get(id(event))
                number = position.id if point is None else point.position_id
                yield Replayed(msgspec.structs.replace(event, position_id=number), point is not None)
