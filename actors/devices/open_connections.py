"""Whether a device may report, and the connections that end when it may not.

Part of the device's actor. A device has one connection that takes commands (`DeviceSession.connection`), and
others: those of request-response protocols, of its media and of its files.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from motorpool.actors.devices.device_session import DeviceSession
from motorpool.actors.devices.eligibility import may_report
from motorpool.actors.devices.protocol_attributes import attributes_of_protocols
from motorpool.actors.messages.downlink import Close, ConfigureDecoder, ConnectionMessage, StopServing
from motorpool.actors.messages.uplink import CheckExpiration, Connected, DeviceMessage
from motorpool.codecs.reports import Receipt
from motorpool.runtime import Context, Ref, Timer
from motorpool.storage.records import Device

REPLACED = "replaced by a newer connection of the same device"
REASON = "the device was deleted, renamed or disabled, or has expired"


_PROTOCOL_NEUTRAL = ConfigureDecoder("")
"""What a connection begins with."""
_NONE: frozenset[Ref[ConnectionMessage]] = frozenset()
"""Shared by the devices that have no others, which most have not: an empty set takes 216 bytes."""


class OpenConnections:
    """The connections of one device, as long as it may report."""

    __slots__ = ("_context", "_others", "_sent", "_session", "_timer", "inherited", "is_served", "timezone")

    def __init__(self, session: DeviceSession, context: Context[DeviceMessage]) -> None:
        self._session = session
        self._context = context
        self._others: frozenset[Ref[ConnectionMessage]] = _NONE
        self._timer: Timer | None = None
        self._sent = _PROTOCOL_NEUTRAL
        """What was last sent to the connection."""
        self.inherited: Mapping[str, Any] = {}
        """Attributes of protocols of the device's groups, the server and the configuration."""
        self.timezone = ""
        """Name of the time zone of the device's clock; empty for the protocol's own."""
        self.is_served = False
        """Whether the device exists and may report, as of the row last read."""

    @property
    def any_open(self) -> bool:
        """Whether any connection is open."""
        return bool(self._others) or self._session.connection is not None

    def row_read(self, old: Device | None, now: datetime) -> bool:
        """Follow a row that was just read, in place of `old`; return whether the connections were closed."""
        row = self._session.row
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self.is_served = row is not None and may_report(row, now)
        is_renamed = row is not None and old is not None and row.unique_id != old.unique_id
        is_ended = not self.is_served or is_renamed
        if is_ended:
            self._close_all()
        if self.is_served and row is not None and row.expiration_time is not None:
            self._timer = self._context.at(row.expiration_time, CheckExpiration())
        return is_ended

    def connect(self, message: Connected) -> None:
        """Take the connection as the one that takes commands, and close an older one."""
        session, older = self._session, self._session.connection
        session.connection, session.peer = message.connection, message.peer
        session.local_host = message.local_host
        self._sent = _PROTOCOL_NEUTRAL
        if older is not None and older != message.connection:
            older.offer(Close(REPLACED))
        self.configure()

    def replaced(self) -> bool:
        """Close the connection that takes commands, if there is one; return whether there was."""
        older, self._session.connection = self._session.connection, None
        if older is not None:
            older.offer(Close(REPLACED))
        return older is not None

    def configure(self) -> None:
        """Send the connection what affects decoding if it changed; empty values restore the protocol's
        own.
        """
        session = self._session
        if session.connection is None:
            return
        row = session.row
        model = (row.model or "") if row is not None else ""
        attributes = self.inherited
        if row is not None and row.attributes and (own := attributes_of_protocols(row.attributes)):
            attributes = {**attributes, **own}
        if self._sent is _PROTOCOL_NEUTRAL and not (self.timezone or model or attributes):
            return
        wanted = ConfigureDecoder(self.timezone, model, attributes, row.id if row is not None else 0)
        if wanted != self._sent:
            self._sent = wanted
            session.connection.offer(wanted)

    def attach(self, connection: Ref[ConnectionMessage], unique_ids: tuple[str, ...]) -> bool:
        """Add a connection besides the one that takes commands; close it if it may not serve the device."""
        if not self.may_serve(unique_ids):
            self.refuse(connection)
            return False
        self._others |= {connection}
        return True

    def may_serve(self, unique_ids: tuple[str, ...]) -> bool:
        """Whether a connection that was identified by these names may serve the device.

        The device may have been renamed since it was looked up.
        """
        row = self._session.row
        return self.is_served and row is not None and row.unique_id in unique_ids

    def detach(self, connection: Ref[ConnectionMessage]) -> None:
        """Remove a connection that has ended."""
        if connection in self._others:
            self._others = (self._others - {connection}) or _NONE

    def refuse(self, connection: Ref[ConnectionMessage], receipt: Receipt | None = None) -> None:
        """Close a connection whose message is not accepted; `receipt` is that of the message."""
        self.detach(connection)
        connection.offer(StopServing(REASON, receipt))

    def _close_all(self) -> None:
        session = self._session
        connections = self._others
        if session.connection is not None:
            connections |= {session.connection}
        self._others, session.connection = _NONE, None
        for connection in connections:
            connection.offer(StopServing(REASON))
