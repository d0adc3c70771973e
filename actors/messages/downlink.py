"""What a connection is told: the way down to a device."""

import msgspec

from motorpool.codecs.reports import DeviceCommand, Receipt
from motorpool.runtime import Kind, NodeLocal, Request

__all__ = [
    "CONNECTION",
    "AcknowledgeStored",
    "Close",
    "ConfigureDecoder",
    "ConnectionMessage",
    "DeliverInResponse",
    "EncodingRefused",
    "Reannounce",
    "Transmit",
    "TransmitOutcome",
    "Transmitted",
]


class AcknowledgeStored(msgspec.Struct, NodeLocal, frozen=True, gc=False):
    """What these receipts stand for is committed: acknowledge it."""

    receipts: tuple[Receipt, ...]


class DeliverInResponse(msgspec.Struct, NodeLocal, frozen=True, gc=False):
    """A queued command's text for the next answer of a request-and-response protocol."""

    text: str


class Reannounce(msgspec.Struct, NodeLocal, frozen=True, gc=False):
    """Tell the device once more that you are its connection."""


class ConfigureDecoder(msgspec.Struct, NodeLocal, frozen=True, gc=False):
    """What the operator set for this device that changes how it is read."""

    timezone: str
    """Zone name of the device's clock; empty for the protocol's own."""


class Close(msgspec.Struct, NodeLocal, frozen=True, gc=False):
    """End the connection."""

    reason: str
    channel: int | None = None
    """Of a media connection let go of this channel alone, and end with the last; None: end at once."""


class Transmitted(msgspec.Struct, frozen=True, gc=False):
    """The command's bytes are on their way."""

    reference: int | None


class EncodingRefused(msgspec.Struct, frozen=True, gc=False):
    """The codec cannot say this."""

    reason: str


TransmitOutcome = Transmitted | EncodingRefused


class Transmit(msgspec.Struct, Request[TransmitOutcome], NodeLocal, frozen=True, gc=False):
    """Encode a command and send it."""

    command: DeviceCommand


class CheckDeadlines(msgspec.Struct, frozen=True, gc=False):
    """Time to look at deadlines; told by the connection to itself."""


ConnectionMessage = (
    AcknowledgeStored | DeliverInResponse | Reannounce | ConfigureDecoder | Close | Transmit | CheckDeadlines
)
CONNECTION: Kind[int, ConnectionMessage] = Kind("connection")
