"""The shape of every device codec."""

import abc
from collections.abc import Callable, Sequence
from datetime import datetime, tzinfo
from typing import ClassVar

from motorpool.codecs.reports import DeviceCommand, EncodedCommand, Receipt, Report


class DeviceCodec(abc.ABC):
    """One peer's stream of bytes, both ways; made anew for each connection (or datagram peer).

    Holds what the protocol needs between messages and nothing else: no socket, no clock, no device.
    """

    name: ClassVar[str]
    """The protocol's name in settings and positions: "jt808"."""
    port: ClassVar[int]
    """Its usual port."""
    commands: ClassVar[frozenset[str]]
    """Command types that `encode` knows."""
    request_response: ClassVar[bool] = False
    """True where the peer speaks first and is answered once (HTTP): commands wait in the queue for its next
    message, and its leaving says nothing about the device's status."""

    utc_now: Callable[[], datetime] | None = None
    """The injected wall clock, for devices that ask for the time; set by the connection. Without it they are
    told that this is not supported."""

    @abc.abstractmethod
    def receive(self, data: bytes) -> list[Report]:
        """All messages that are complete with these bytes, in order; what is left waits for more.

        A bad frame becomes `FrameRejected` and the stream goes on behind it.

        Raises:
            CodecError: the stream cannot go on; the connection is to be closed.
        """

    @abc.abstractmethod
    def acknowledge(self, receipts: Sequence[Receipt]) -> bytes:
        """The answers to messages that were stored or taken note of, joined; may be empty."""

    @abc.abstractmethod
    def refuse(self, receipt: Receipt | None) -> bytes:
        """The protocol's own answer to a device that is not known; empty where there is none."""

    def tick(self, now: float) -> bytes:
        """Told the monotonic time in seconds every few seconds: what to send because nothing came."""
        return b""

    def set_timezone(self, zone: tzinfo | None) -> None:  # noqa: B027 - most protocols write UTC and need none
        """Set the zone of the device's clock (attribute `decoder.timezone`); None: the protocol's own."""

    def deliver(self, command: str) -> None:
        """Keep a queued command's text for the next answer (`request_response` codecs only)."""
        raise NotImplementedError(self.name, command)

    @abc.abstractmethod
    def encode(self, command: DeviceCommand) -> EncodedCommand:
        """The bytes of a command.

        Raises:
            UnsupportedCommand: no such command here, or an attribute that cannot be encoded.
        """

    @property
    def closing(self) -> bool:
        """True once the peer has its last answer: the connection is to be closed when that is sent."""
        return False

    @property
    @abc.abstractmethod
    def buffered(self) -> int:
        """Bytes held back for incomplete messages; bounded by the codec."""
