"""Messages between media connections, streams and playbacks, and captures.

A publisher (the media connection) sends access units to the stream or playback of its channel; that makes
fragments of them, one for each segment or part, and sends these to its subscribers (captures).

They carry refs and media bytes.
"""

import msgspec

from motorpool.actors.messages.downlink import ConnectionMessage
from motorpool.codecs.media.fragments import MediaFragment
from motorpool.codecs.media.units import AccessUnit
from motorpool.runtime import NodeLocal, Ref, Request

SERVER_STOPPED = "the server was stopped"
"""Why subscriptions and captures end then."""
MOVED = "the device has moved to another server"
"""Why they end where no other server goes on with them."""


class Publish(msgspec.Struct, Request[bool], NodeLocal, frozen=True, gc=False):
    """A media connection asks to be the publisher of the channel; the newest wins."""

    connection: Ref[ConnectionMessage]
    is_retry: bool = False
    """It was refused or released before, and still sends: it is accepted only if the channel was requested
    since then, and nobody else publishes it."""


class UnitsPublished(msgspec.Struct, NodeLocal, frozen=True, gc=False):
    """What one read of the publisher's connection brought."""

    connection: Ref[ConnectionMessage]
    units: list[AccessUnit]
    lossy: bool = False
    """Units before these were dropped, as the mailbox was full."""


class PublisherLeft(msgspec.Struct, NodeLocal, frozen=True, gc=False):
    """The publisher's connection has ended."""

    connection: Ref[ConnectionMessage]


PublisherMessage = UnitsPublished | Publish | PublisherLeft
"""What a media connection sends to the stream or playback of a channel."""


class Subscribe(msgspec.Struct, Request[None], NodeLocal, frozen=True, gc=False):
    """Send `subscriber` all fragments from now on: `FragmentsReady`, and one `StreamEnded` at the end.

    Answered once it is subscribed. Subscribers hold a live stream as `videoStart` does, and start it if
    nobody has; a playback is only started by a command.
    """

    subscriber: "Ref[SubscriberMessage]"


class Unsubscribe(msgspec.Struct, NodeLocal, frozen=True, gc=False):
    """End a subscription; `StreamEnded` brings what is still open."""

    subscriber: "Ref[SubscriberMessage]"
    reason: str
    """Returned in `StreamEnded`."""


class FragmentsReady(msgspec.Struct, NodeLocal, frozen=True, gc=False):
    """Fragments in order, their audio as AAC.

    A live stream does not wait for a subscriber: one whose mailbox is full misses them. A playback waits, up
    to `subscribers.WAIT_SECONDS`.
    """

    fragments: tuple[MediaFragment, ...]


class StreamEnded(msgspec.Struct, NodeLocal, frozen=True, gc=False):
    """The subscription has ended. Sent again until the mailbox has room."""

    reason: str
    rest: MediaFragment | None = None
    """What was still open, with its audio as it came."""
    interrupted: bool = False
    """It has ended because the server does."""
    moved: bool = False
    """The stream goes on at another server, which goes on with captures as well."""


class StreamReplaced(msgspec.Struct, NodeLocal, frozen=True, gc=False):
    """The subscription goes on with the playback that it was meant for.

    What came before was of another one.
    """


SubscriberMessage = FragmentsReady | StreamEnded | StreamReplaced
"""What a subscriber receives."""
