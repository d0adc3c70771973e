"""The contract of a device codec.

A codec is one peer's stream of bytes in both directions. It holds what the protocol needs between messages
and nothing else: no socket, no clock, no device. The connection (`actors/gateway/device_connection.py`) feeds
it and sends what it returns:

* `receive(bytes)` returns reports (`codecs/reports.py`) in the order of the stream. The first report of a
  peer other than `FrameRejected` and `ImmediateReply` is a `Login` (or `AlarmFilesAnnounced`, for a
  connection that only uploads); another `Login` follows whenever the identity changes. A bad frame becomes
  `FrameRejected` and the stream goes on after it.
* A report may carry a receipt, an opaque value of the codec's own. Each receipt returns at most once: through
  `acknowledge` after everything up to that report is committed, or through `refuse` where the device is not
  served. Both return the bytes of the answers. Answers that depend on nothing are `ImmediateReply`.
* `encode(command)` returns a command as bytes and the reference that the device repeats in its answer, which
  arrives as `CommandResult`. With `request_response` the text waits in `deliver` for the next answer.
* Errors: for any input whatever `receive` and `encode` raise only `CodecError`, out of `receive` only where
  the stream cannot go on, out of `encode` only `UnsupportedCommand`. The other methods raise nothing.
* Limits: `buffered` is bounded by the codec, whatever the peer sends. Bytes that wait for more are held by a
  framer of `codecs/devices/framing/`; the check byte or CRC is computed by `codecs/checksums.py`.
* Tolerance: a frame with a wrong check value is decoded after `accept_checksum_error`, unless the
  protocol's page says that it is dropped. A well-formed message that the codec does not know becomes
  `UnknownMessage`.

ARCHITECTURE.md says what it takes to add one.
"""

import abc
import secrets
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, tzinfo
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import msgspec

from motorpool.codecs.errors import ChecksumError, UnsupportedCommand
from motorpool.codecs.reports import DeviceCommand, EncodedCommand, Heartbeat, PositionReport, Receipt, Report

_BOOLEANS = {"true": True, "false": False}


class DeviceCodec(abc.ABC):
    """One peer's stream, both ways; created for each connection, or for each datagram peer."""

    name: ClassVar[str]
    """The protocol's name in settings and positions: "jt808"."""
    port: ClassVar[int]
    """Its usual port."""
    transport: ClassVar[Literal["tcp", "http"]] = "tcp"
    """How devices reach the port; default: "tcp"."""
    udp: ClassVar[bool] = False
    """Whether devices may send datagrams to the same port as well; default: false."""
    identity: ClassVar[Literal["phone", "text"]] = "text"
    """What devices call themselves: a telephone number of up to 20 digits, or any text. Default: "text"."""
    commands: ClassVar[frozenset[str]]
    """Command types of the API that `encode` supports."""
    models: ClassVar[tuple[str, ...]] = ()
    """Values of a device's `model` with which messages are read or written differently, as the console offers
    them. Default: none."""
    request_response: ClassVar[bool] = False
    """True where the peer speaks first and is answered once (HTTP): commands wait for its next message, and
    the end of its connection does not change the device's status. Default: false."""

    carries_secret: ClassVar[bool] = False
    """Whether a `Login` of the protocol may have a secret. Default: false."""

    server_key: bytes = secrets.token_bytes(32)
    """Secret of the server, from which a codec derives what a peer must repeat and cannot guess; set by the
    connection before the first `receive`. Default: random, the same for all codecs of the process."""

    utc_now: Callable[[], datetime] | None = None
    """The wall clock, for devices that ask for the time; set by the connection before the first `receive`.
    Without it such requests are answered as not supported."""

    on_login: Callable[[tuple[str, ...]], None] | None = None
    """Called with the unique ids of a `Login` before anything else of its message is decoded; may call
    `configure` and `set_timezone`. Set by connections that report for several devices."""

    strict_checksums: bool = False
    """Whether frames with a wrong check value are dropped where they could be decoded all the same; set by
    the connection."""

    keeps_unknown: bool = False
    """Whether parts of messages that the codec does not understand become attributes in hexadecimal digits,
    for protocols that say so; set by the connection. Default: false."""

    checksum_errors: int = 0
    """Frames with a wrong check value that were decoded all the same; counted and reset by the connection."""

    model: str = ""
    """The device's `model`, upper-case: for protocols whose layouts differ by model without saying so. Set by
    `configure`."""

    options: Mapping[str, Any] = MappingProxyType({})
    """The attributes that begin with the protocol's name and a point, without that: `ack` for `h02.ack`; of
    the device, else of its groups, the server or the configuration. Texts that say a boolean are one. Set by
    `configure`."""

    password: str = ""
    """The device's attribute `devicePassword`, for commands. Set by `configure`."""

    @abc.abstractmethod
    def receive(self, data: bytes) -> list[Report]:
        """Return the reports of all messages that are complete with these bytes; the rest is held back.

        Raises:
            CodecError: the stream cannot go on; the connection is to be closed.
        """

    def receive_datagram(self, data: bytes) -> list[Report]:
        """Return the reports of one datagram, whose end ends its last frame; for protocols with `udp`.

        A codec serves one address then, and answers with datagrams of their own. Default: `receive`.

        Raises:
            CodecError: nothing of it can be read.
        """
        return self.receive(data)

    def accept_checksum_error(self) -> None:
        """Count a frame whose check value is wrong.

        Raises:
            ChecksumError: such frames are to be dropped.
        """
        if self.strict_checksums:
            raise ChecksumError("wrong check value")
        self.checksum_errors += 1

    def reseal(self, message: bytes) -> bytes:
        """Return a message of the device with the check value that its other bytes ask for.

        Protocols with check values have their own: `explanation.py` changes bytes. What is no frame is
        returned as it is. Default: the message.
        """
        return message

    def configure(self, model: str, attributes: Mapping[str, Any]) -> None:
        """Follow the device's model and attributes, from the next message on; called when they change."""
        prefix = f"{self.name}."
        self.model = model.upper()
        self.options = {
            key.removeprefix(prefix): _typed(value)
            for key, value in attributes.items()
            if key.startswith(prefix)
        }
        self.password = str(attributes.get("devicePassword") or "")

    def issue_code(self, code: str) -> None:  # noqa: B027 - few protocols have registrations
        """Have the next answer to a `Login` with `wants_code` hold this code, instead of the usual one."""

    @abc.abstractmethod
    def acknowledge(self, receipts: Sequence[Receipt]) -> bytes:
        """Return the joined answers to messages that were stored or noted; may be empty."""

    @abc.abstractmethod
    def refuse(self, receipt: Receipt | None) -> bytes:
        """Return the protocol's answer to a device that is not served; empty where there is none."""

    def give_up(self) -> bytes:
        """Return the answers to what was received, where the protocol can say that it has to be sent again.

        The device cannot be served now. Default: nothing.
        """
        return b""

    def tick(self, now: float) -> bytes:
        """Return what is due by time, such as requests for lost packets; called every few seconds.

        `now` is the monotonic time in seconds.
        """
        return b""

    def set_timezone(self, zone: tzinfo | None) -> None:  # noqa: B027 - most protocols write UTC and need none
        """Set the zone of the device's clock (attribute `decoder.timezone`); None: the protocol's own."""

    def deliver(self, command: str) -> None:
        """Hold a queued command's text for the next answer; for `request_response` codecs.

        Raises:
            UnsupportedCommand: the protocol is not one of those.
        """
        raise UnsupportedCommand(f"{self.name} sends commands at once: {command[:40]!r} cannot be queued")

    @abc.abstractmethod
    def encode(self, command: DeviceCommand) -> EncodedCommand:
        """Return the bytes of a command.

        Raises:
            UnsupportedCommand: the protocol has no such command, or an attribute cannot be encoded.
        """

    @property
    def closing(self) -> bool:
        """Whether the peer has its last answer: the connection is to be closed once that is sent."""
        return False

    @property
    @abc.abstractmethod
    def buffered(self) -> int:
        """Bytes held for incomplete messages; bounded, whatever the peer sends."""


def add_positions(positions: list[PositionReport], receipt: Receipt, reports: list[Report]) -> None:
    """Append positions, of which the last has the receipt of them all; without any a heartbeat has it."""
    if positions:
        positions[-1] = msgspec.structs.replace(positions[-1], receipt=receipt)
        reports += positions
    else:
        reports.append(Heartbeat(receipt))


def _typed(value: object) -> object:
    """Return the boolean that a text says, or the value."""
    return _BOOLEANS.get(value.strip().lower(), value) if isinstance(value, str) else value
