"""What serves a device at present: its row, the rules that follow from it, and its connections.

Part of the device's actor. A device has one connection that takes commands (`DeviceSession.connection`). It
may have others: of request-response protocols, for media and for files. All are closed when the device may no
longer report.
"""

from datetime import datetime

from motorpool.actors.devices.eligibility import may_report
from motorpool.actors.devices.protocol_attributes import attributes_of_protocols
from motorpool.actors.devices.rule_cache import RuleCache
from motorpool.actors.messages.downlink import Close, ConfigureDecoder, ConnectionMessage, StopServing
from motorpool.actors.messages.uplink import CheckExpiration, Connected, DeviceMessage
from motorpool.actors.rules.device_rules import UNCONFIGURED, DeviceRules
from motorpool.codecs.devices import CODECS
from motorpool.codecs.reports import Receipt
from motorpool.runtime import Context, Ref, Timer
from motorpool.storage.records import Device

REPLACED = "replaced by a newer connection of the same device"
BESIDE_SECONDS = 60.0
"""For so long a device that sends datagrams here is taken to keep its TCP connection to another server."""
CHANGED = "who may report as the device has changed"
REASON = "the device was deleted, renamed or disabled, or has expired"


_PROTOCOL_NEUTRAL = ConfigureDecoder("")
"""What a connection begins with."""
_NONE: frozenset[Ref[ConnectionMessage]] = frozenset()
"""Shared by the devices that have no others, which most have not: an empty set takes 216 bytes."""


class DeviceSession:
    """Row, rules and connections of one device. The parts of its actor read them; the methods change them."""

    __slots__ = (
        "_beside",
        "_beside_since",
        "_generation",
        "_others",
        "_rules",
        "_sent",
        "_timer",
        "connection",
        "context",
        "device_id",
        "is_datagram",
        "is_served",
        "local_host",
        "peer",
        "protocol",
        "row",
        "rule_cache",
    )

    def __init__(self, device_id: int, context: Context[DeviceMessage], rule_cache: RuleCache) -> None:
        self.device_id = device_id
        self.context = context
        """That of the device's actor."""
        self.rule_cache = rule_cache
        self._rules = UNCONFIGURED
        self._generation = -1
        """Generation of the rule cache when the rules were last asked for."""
        self._others = _NONE
        self._beside: Ref[ConnectionMessage] | None = None
        """The address that last sent datagrams while there was a TCP connection; it takes no commands."""
        self._beside_since = 0.0
        """When it did so first, in monotonic seconds."""
        self._timer: Timer | None = None
        self._sent = _PROTOCOL_NEUTRAL
        """What was last sent to the connection, and to the address beside it."""
        self.row: Device | None = None
        """None if there is no such device."""
        self.is_served = False
        """Whether the device exists and may report, as of the row last read."""
        self.connection: Ref[ConnectionMessage] | None = None
        """The one that takes commands."""
        self.is_datagram = False
        """Whether that is an address that sends datagrams."""
        self.protocol = ""
        """Protocol of the latest login or report; empty if unknown. Set with each report that is stored."""
        self.peer = ""
        """Address from which the device is connected."""
        self.local_host = ""
        """The server's address to which the device connected."""

    @property
    def any_open(self) -> bool:
        """Whether any connection is open."""
        return bool(self._others) or self.connection is not None or self._beside is not None

    # The row and its rules

    def follow_row(self, row: Device | None, now: datetime) -> bool:
        """Take the row that was just read; return whether it ended the right to report."""
        old, self.row = self.row, row
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self.is_served = row is not None and may_report(row, now)
        is_renamed = row is not None and old is not None and row.unique_id != old.unique_id
        is_ended = not self.is_served or is_renamed
        if is_ended:
            self._close_all()
        if self.is_served and row is not None and row.expiration_time is not None:
            self._timer = self.context.at(row.expiration_time, CheckExpiration())
        self._refresh_rules()
        return is_ended

    def current_rules(self) -> DeviceRules:
        """Return the rules; where they have changed, the connection is told what affects decoding."""
        if self.rule_cache.generation != self._generation:
            self._refresh_rules()
        return self._rules

    def _refresh_rules(self) -> None:
        """Ask for the rules anew: the row or something else that they are made of has changed."""
        self._generation = self.rule_cache.generation
        before = self._rules.identity
        self._rules = UNCONFIGURED if self.row is None else self.rule_cache.rules_of(self.row)
        if self._rules.identity != before:
            self.have_all_log_in_again()
        self._configure()

    # Connections

    def may_serve(self, unique_ids: tuple[str, ...]) -> bool:
        """Whether a connection that was identified by these names may serve the device.

        The device may have been renamed since it was looked up.
        """
        return self.is_served and self.row is not None and self.row.unique_id in unique_ids

    def connect(self, message: Connected) -> bool:
        """Take a connection that has logged in; return whether it takes commands from now on.

        It takes the place of an older one, unless its protocol only answers requests, or it sends datagrams
        and the older one is a TCP connection: source addresses are forged easily.
        """
        older = self.connection
        self.protocol = message.protocol
        self.current_rules()
        if CODECS[message.protocol].request_response:
            self._others |= {message.connection}
            return False
        if message.is_datagram and not self.is_datagram and older not in (None, message.connection):
            self.connect_beside(message)
            return False
        self.connection, self.is_datagram = message.connection, message.is_datagram
        self.peer, self.local_host = message.peer, message.local_host
        if self._beside == message.connection:
            self._beside = None
        if older is not None and older != message.connection:
            older.offer(Close(REPLACED))
        self._sent = _PROTOCOL_NEUTRAL
        self._configure()
        return True

    def connect_beside(self, message: Connected) -> None:
        """Take an address that sends datagrams beside a TCP connection, here or to another server."""
        older, self._beside = self._beside, message.connection
        if older is not None and older != message.connection:
            older.offer(Close(REPLACED))
        self._beside_since = self.context.clock.monotonic()
        if self.connection is None:
            self._sent = _PROTOCOL_NEUTRAL
            self._configure()
        elif self._sent is not _PROTOCOL_NEUTRAL:
            message.connection.offer(self._sent)

    def is_beside(self, connection: Ref[ConnectionMessage]) -> bool:
        """Whether an address was found lately to be beside a TCP connection to another server."""
        lately = self.context.clock.monotonic() - BESIDE_SECONDS
        return connection == self._beside and self.connection is None and self._beside_since > lately

    def disconnect(self, connection: Ref[ConnectionMessage]) -> bool:
        """Remove a connection that has ended; return whether it was the one that takes commands."""
        self.detach(connection)
        if self.connection != connection:
            return False
        self.connection = None
        return True

    def close_replaced(self) -> bool:
        """Close the connection that takes commands, if there is one; return whether there was."""
        older, self.connection = self.connection, None
        if older is not None:
            older.offer(Close(REPLACED))
        return older is not None

    def attach(self, connection: Ref[ConnectionMessage], unique_ids: tuple[str, ...]) -> bool:
        """Add a connection besides the one that takes commands; close it if it may not serve the device."""
        if not self.may_serve(unique_ids):
            self.refuse(connection)
            return False
        self._others |= {connection}
        return True

    def detach(self, connection: Ref[ConnectionMessage]) -> None:
        """Remove a connection besides the one that takes commands, which has ended."""
        if connection == self._beside:
            self._beside = None
        if connection in self._others:
            self._others = (self._others - {connection}) or _NONE

    def refuse(self, connection: Ref[ConnectionMessage], receipt: Receipt | None = None) -> None:
        """Close a connection whose message is not accepted; `receipt` is the message's receipt."""
        self.detach(connection)
        connection.offer(StopServing(REASON, receipt))

    def _configure(self) -> None:
        """Send what affects decoding if it changed; empty values restore the protocol's own."""
        if self.connection is None and self._beside is None:
            return
        row, rules = self.row, self._rules
        timezone = rules.settings.decoder_timezone or ""
        model = (row.model or "") if row is not None else ""
        attributes = rules.protocol_attributes
        if row is not None and row.attributes and (own := attributes_of_protocols(row.attributes)):
            attributes = {**attributes, **own}
        if self._sent is _PROTOCOL_NEUTRAL and not (timezone or model or attributes):
            return
        wanted = ConfigureDecoder(timezone, model, attributes, row.id if row is not None else 0)
        if wanted != self._sent:
            self._sent = wanted
            for connection in (self.connection, self._beside):
                if connection is not None:
                    connection.offer(wanted)

    def have_all_log_in_again(self) -> None:
        """Close all connections: what was compared when they logged in has changed."""
        for connection in self._all():
            connection.offer(Close(CHANGED))

    def _close_all(self) -> None:
        connections = self._all()
        self._others, self.connection, self._beside = _NONE, None, None
        for connection in connections:
            connection.offer(StopServing(REASON))

    def _all(self) -> list[Ref[ConnectionMessage]]:
        """Return all connections."""
        return [
            *self._others,
            *(each for each in (self.connection, self._beside) if each is not None),
        ]
