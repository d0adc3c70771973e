"""Commands that are sent to a device as text messages (SMS), apart from its connection."""

import msgspec

from motorpool.actors.messages.uplink import CommandOutcome
from motorpool.runtime import Deferred, Kind, NodeLocal


class SendText(msgspec.Struct, NodeLocal, frozen=True, gc=False):
    """Send a text message, at most once; the outcome is the answer of `reply`."""

    phone: str
    text: str
    user_id: int
    """Whose message it is, for the limits."""
    reply: Deferred[CommandOutcome]


TEXT_CHANNEL: Kind[None, SendText] = Kind("text_channel")
