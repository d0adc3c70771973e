"""Messages of the actor that stores events which come at an instant."""

import msgspec

from motorpool.actors.messages.changes import ApplyChanges
from motorpool.runtime import Kind


class InstantReached(msgspec.Struct, frozen=True, gc=False):
    """The next event is due; sent by the actor to itself."""


class ReloadDue(msgspec.Struct, frozen=True, gc=False):
    """Read the changed configuration; sent by the actor to itself."""


TimedEventsMessage = ApplyChanges | InstantReached | ReloadDue
TIMED_EVENTS: Kind[None, TimedEventsMessage] = Kind("timed_events")
