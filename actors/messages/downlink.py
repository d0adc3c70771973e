"""Messages to a connection: what to send to its device, and how to decode what the device sends."""

from collections.abc import Mapping
from typing import Any

import msgspec

from motorpool.codecs.reports import DeviceCommand, Receipt
from motorpool.runtime import Kind, NodeLocal, Request


class AcknowledgeStored(msgspec.Struct, NodeLocal, frozen=True, gc=False):
    """Acknowledge the messages of these receipts: they are committed."""

    receipts: tuple[Receipt, ...]


class DeliverInResponse(msgspec.Struct, NodeLocal, frozen=True, gc=False):
    """Put the text of a queued command into the next answer of a request-response protocol."""

    text: str


class Reannounce(msgspec.Struct, NodeLocal, frozen=True, gc=False):
    """Send the device actor `Connected` again."""


class ConfigureDecoder(msgspec.Struct, NodeLocal, frozen=True, gc=False):
    """Apply what the device's row holds that affects decoding and the encoding of commands."""

    timezone: str
    """Time zone name of the device's clock; empty for the protocol's default."""
    model: str = ""
    """The device's model."""
    attributes: Mapping[str, Any] = {}
    """The attributes that belong to a protocol, such as `h02.ack`, and `devicePassword`: of the device, else
    of its groups, the server or the configuration."""
    device_id: int = 0
    """The device, of those that the connection reports for; 0: the present one."""


class Close(msgspec.Struct, NodeLocal, frozen=True, gc=False):
    """Close the connection."""

    reason: str
    channel: int | None = None
    """For a media connection: stop serving this channel only, and close after the last. None: close now."""


class Depart(msgspec.Struct, Request[bool], NodeLocal, frozen=True, gc=False):
    """The server leaves: close the connection once what the device has sent is acknowledged.

    Answered with whether it will be: media connections stay.
    """

    staying: frozenset[int] = frozenset()
    """Devices whose connections stay for now."""
    only: frozenset[int] | None = None
    """If set, connections of all other devices stay as well."""


class Settle(msgspec.Struct, frozen=True, gc=False):
    """The connection's own timer: have what was read stored, and close then."""


class Settled(msgspec.Struct, NodeLocal, frozen=True, gc=False):
    """All that this device has sent on the connection is stored, and acknowledged."""

    device_id: int


class StopServing(msgspec.Struct, NodeLocal, frozen=True, gc=False):
    """The device may not report any more: refuse what it sends, and close the connection."""

    reason: str
    receipt: Receipt | None = None
    """The message that is to be refused first; None if there is none."""


class Transmitted(msgspec.Struct, frozen=True, gc=False):
    """The encoded command was passed to the socket."""

    reference: int | None
    """The number that the device repeats in its answer, if the protocol has one."""


class EncodingRefused(msgspec.Struct, frozen=True, gc=False):
    """The codec cannot encode the command."""

    reason: str


TransmitOutcome = Transmitted | EncodingRefused


class Transmit(msgspec.Struct, Request[TransmitOutcome], NodeLocal, frozen=True, gc=False):
    """Encode a command and send it."""

    command: DeviceCommand


class CheckDeadlines(msgspec.Struct, frozen=True, gc=False):
    """The tick of all connections, and a timer of some: check the connection's deadlines."""


ConnectionMessage = (
    AcknowledgeStored
    | DeliverInResponse
    | Reannounce
    | ConfigureDecoder
    | Close
    | Depart
    | Settle
    | Settled
    | StopServing
    | Transmit
    | CheckDeadlines
)
NOT_KNOWN = "not a known device"
"""Why a connection is closed whose device is not registered, disabled or expired."""
CONNECTION: Kind[int, ConnectionMessage] = Kind("connection")
