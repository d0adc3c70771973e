"""Messages between media connections, streams and playbacks, and captures.

A publisher (the media connection) sends access units to the stream or playback of its channel; that makes
fragments of them, one for each segment or part, and sends these to its subscribers (captures).

They carry refs and media bytes, and stay on their node.
"""

from typing import Any

import msgspec

from motorpool.codecs.media.fragments import MediaFragment
from motorpool.codecs.media.units import AccessUnit
from motorpool.runtime import Ref, Request

__all__ = [
    "FragmentsReady",
    "Publish",
    "PublisherLeft",
    "PublisherMessage",
    "StreamEnded",
    "Subscribe",
    "UnitsPublished",
    "Unsubscribe",
]


class Publish(msgspec.Struct, Request[bool], frozen=True, gc=False):
    """A media connection of this channel asks to be the publisher; the newest wins."""

    connection: Ref[Any]
    is_retry: bool = False
    """It was refused or released before, and still sends: it is accepted only if the channel was requested
    since then, and nobody else publishes it."""


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


class Subscribe(msgspec.Struct, Request[None], frozen=True, gc=False):
    """Hand `subscriber` all fragments from now on: `FragmentsReady`, and one `StreamEnded` at the end.

    Answered once the taker is on the list. A live stream is held by its takers as by `videoStart`, and
    started if nobody has; a playback never is: a command starts it.
    """

    subscriber: Ref[Any]


class Unsubscribe(msgspec.Struct, frozen=True, gc=False):
    """`subscriber` wants no more; it is told the end, with what is still open."""

    subscriber: Ref[Any]
    reason: str
    """Comes back in `StreamEnded`."""


class FragmentsReady(msgspec.Struct, frozen=True, gc=False):
    """What came, in order, with sound that MP4 carries.

    A live stream waits for no taker: whose mailbox is full misses it. A playback waits, up to a limit.
    """

    fragments: tuple[MediaFragment, ...]


class StreamEnded(msgspec.Struct, frozen=True, gc=False):
    """No more comes; the taker is off the list. Offered again until there is room."""

    reason: str
    rest: MediaFragment | None = None
    """What had not become a cut yet; its sound as it came."""
