"""What everything that takes pictures is told and tells: streams, playbacks, captures.

A publisher (the media connection) hands access units to the stream or playback of its channel; that passes
them on to takers (captures), who must not hold it up.
"""

from typing import Any

import msgspec

from motorpool.codecs.media.units import AccessUnit
from motorpool.runtime import Ref, Request

__all__ = [
    "LeaveUnits",
    "Publish",
    "PublisherLeft",
    "PublisherMessage",
    "StreamEnded",
    "TakeUnits",
    "UnitsPublished",
    "UnitsTaken",
]


class Publish(msgspec.Struct, Request[bool], frozen=True, gc=False):
    """A media connection of this channel asks to be the publisher; the newest wins."""

    connection: Ref[Any]


class UnitsPublished(msgspec.Struct, frozen=True, gc=False):
    """What one read of the publisher's connection brought."""

    connection: Ref[Any]
    units: list[AccessUnit]
    lossy: bool = False
    """Units before these were dropped on the way."""


class PublisherLeft(msgspec.Struct, frozen=True, gc=False):
    """The publisher's connection has ended."""

    connection: Ref[Any]


PublisherMessage = UnitsPublished | Publish | PublisherLeft
"""What a media connection tells the stream or playback of a channel."""


class TakeUnits(msgspec.Struct, Request[None], frozen=True, gc=False):
    """Hand `taker` all units from now on: `UnitsTaken`, and one `StreamEnded` at the end.

    Answered once the taker is on the list. A live stream is held by its takers as by `videoStart`, and
    started if nobody has; a playback never is: a command starts it.
    """

    taker: Ref[Any]


class LeaveUnits(msgspec.Struct, frozen=True, gc=False):
    """`taker` wants no more; it is told no end."""

    taker: Ref[Any]


class UnitsTaken(msgspec.Struct, frozen=True, gc=False):
    """What came, in order.

    A live stream waits for no taker: whose mailbox is full misses it. A playback waits, up to a limit.
    """

    units: list[AccessUnit]
    lossy: bool = False
    """Before these some were missed, or the terminal's clock goes on elsewhere (a seek, another speed, a new
    connection): a discontinuity, as the segmenter understands it."""


class StreamEnded(msgspec.Struct, frozen=True, gc=False):
    """No more comes; the taker is off the list. Offered again until there is room."""

    reason: str
