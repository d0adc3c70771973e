"""The devices that a connection reports for: logins, look-ups, refusals, gateways."""

import logging
from zoneinfo import ZoneInfo

import msgspec

from motorpool.actors.devices.eligibility import may_report
from motorpool.actors.gateway.base_connection import BaseConnection
from motorpool.actors.gateway.gateway_devices import GatewayDevices
from motorpool.actors.gateway.identity import IDENTIFICATION, Identify
from motorpool.actors.gateway.peer_socket import PeerSocket
from motorpool.actors.gateway.recorder import Tap
from motorpool.actors.messages.counters import DEVICES_REFUSED
from motorpool.actors.messages.downlink import NOT_KNOWN, ConfigureDecoder
from motorpool.actors.messages.uplink import DEVICE, Connected, DeviceMessage, Disconnected
from motorpool.codecs import reports as kinds
from motorpool.codecs.devices import DeviceCodec
from motorpool.codecs.reports import Receipt, Report
from motorpool.runtime import ActorError, Ref
from motorpool.storage.errors import StatementRejected, StorageError

IDENTIFY_SECONDS = 30.0
"""A connection is closed if its device was not looked up within this time."""
REFUSALS = 3
"""Messages of an unknown device that are refused before its connection is closed."""

REFUSED = "not known, disabled or expired"
"""Why a device is refused."""

_NEUTRAL = ConfigureDecoder("")
"""The decoding of the protocol itself."""


class IdentifiedConnection(BaseConnection[Report]):
    """A connection with the device that it reports for, and the others of a gateway."""

    __slots__ = (
        "_codec",
        "_configuration",
        "_device",
        "_gateway",
        "_refusals",
        "_unique_ids",
        "_was_identified",
    )

    def __init__(
        self, socket: PeerSocket, codec: DeviceCodec, *, idle_seconds: float, tap: Tap | None
    ) -> None:
        super().__init__(socket, idle_seconds=idle_seconds, tap=tap)
        self._codec = codec
        self._device: Ref[DeviceMessage] | None = None
        """The device of the latest login; None before it is known."""
        self._unique_ids: tuple[str, ...] = ()
        self._configuration = _NEUTRAL
        """What the codec is configured for."""
        self._gateway: GatewayDevices | None = None
        """Made with the second device: most connections have one."""
        self._was_identified = False
        self._refusals = 0

    @property
    def _log_name(self) -> str:
        return self._codec.name

    @property
    def _is_identified(self) -> bool:
        return self._device is not None

    async def _identify(self, login: kinds.Login) -> None:
        if self._device is not None and login.unique_ids == self._unique_ids:
            if login.receipt is not None:
                self._acknowledge((login.receipt,))
            return
        if self._switch_device(login):
            return
        try:
            device = await self.context.system.ref(IDENTIFICATION).ask(
                Identify(login.unique_ids), seconds=IDENTIFY_SECONDS
            )
        except StatementRejected:
            device = None  # no device can have such an identity
        except (StorageError, ActorError) as error:
            self._socket.close(f"cannot be looked up now: {error}")
            return
        if device is None or not may_report(device, self.context.clock.now()):
            self._refuse(login.receipt, login.unique_ids)
            return
        # A peer can log in again and again under names of one device.
        line = ("%s device %s from %s", self._codec.name, device.unique_id, self._socket.peer)
        if self._was_identified:
            self._log_peer(logging.INFO, *line)
        else:
            self._was_identified = True
            self.context.log.info(*line)
        self._socket.guard.traffic.identify(self._ref, device.id, login.unique_ids[0])
        self._unique_ids = login.unique_ids
        self._device = actor = self.context.system.ref(DEVICE, device.id)
        self._refusals = 0
        if self._gateway is not None:
            self._gateway.forget(actor)
            self._apply(self._gateway.configuration_of(actor))
        try:
            # What follows is not decoded before: an actor that is being loaded takes some milliseconds.
            await actor.ask(self._connected(), seconds=IDENTIFY_SECONDS)
        except ActorError as error:
            self._socket.close(f"cannot be served now: {error}")
            return
        if self._device != actor:  # it may not report any more
            self._refuse(login.receipt)
        elif login.receipt is not None:
            self._acknowledge((login.receipt,))

    def _switch_device(self, login: kinds.Login) -> bool:
        """Set the present device aside; go on with the one that logs in if the connection had it before."""
        if self._device is None and self._gateway is None:
            return False
        gateway = self._open_gateway()
        if self._device is not None:
            left = gateway.set_aside(self._unique_ids, self._device)
            if left is not None:
                left.offer(Disconnected(self._ref))
        self._device = gateway.take(login.unique_ids)
        if self._device is None:
            self._unique_ids = ()
            return False
        self._unique_ids = login.unique_ids
        self._refusals = 0
        self._apply(gateway.configuration_of(self._device))
        if login.receipt is not None:
            self._acknowledge((login.receipt,))
        return True

    def _open_gateway(self) -> GatewayDevices:
        """Return the devices of this connection; from now on each has its own configuration."""
        if self._gateway is None:
            self._gateway = GatewayDevices()
            self._codec.on_login = self._follow_login
            if self._device is not None:
                present = msgspec.structs.replace(self._configuration, device_id=self._device.key)
                self._gateway.configure(present)
        return self._gateway

    def _follow_login(self, unique_ids: tuple[str, ...]) -> None:
        """Configure the codec for a device whose message it is about to decode."""
        gateway = self._open_gateway()
        device = self._device if unique_ids == self._unique_ids else gateway.find(unique_ids)
        self._apply(gateway.configuration_of(device) if device is not None else _NEUTRAL)

    def _connected(self, unique_ids: tuple[str, ...] = ()) -> Connected:
        socket = self._socket
        unique_ids = unique_ids or self._unique_ids
        return Connected(self._ref, self._codec.name, socket.peer, socket.local_host, unique_ids)

    def _announce(self) -> None:
        if self._device is not None:
            self._device.offer(self._connected())
        for unique_ids, device in self._gateway or ():
            device.offer(self._connected(unique_ids))

    def _refuse(self, receipt: Receipt | None, unique_ids: tuple[str, ...] = ()) -> None:
        self._socket.send(self._codec.refuse(receipt))
        if self._codec.closing:
            self._socket.close("refused")
        if unique_ids:
            self._socket.guard.traffic.identify(self._ref, 0, unique_ids[0], REFUSED)
            DEVICES_REFUSED.labels(self._codec.name).inc()
            text = "refused the %s device %s from %s: %s"
            self._log_peer(logging.WARNING, text, self._codec.name, unique_ids[0], self._socket.peer, REFUSED)
        self._count_refusal()

    def _count_refusal(self) -> None:
        self._refusals += 1
        # An address that sends datagrams costs nothing to serve again.
        if self._refusals >= REFUSALS or self._socket.is_datagram:
            self._socket.close(NOT_KNOWN)

    def _detach(self) -> None:
        """Leave the present device."""
        if self._device is not None:
            self._device.offer(Disconnected(self._ref))
            self._device = None
            self._unique_ids = ()

    def _configure(self, wanted: ConfigureDecoder) -> None:
        if self._gateway is not None:
            self._gateway.configure(wanted)
            if self._device is None or wanted.device_id not in (0, self._device.key):
                return
        self._apply(wanted)

    def _apply(self, wanted: ConfigureDecoder) -> None:
        """Configure the codec for a device."""
        self._configuration = wanted
        self._codec.on_login = self._follow_login
        self._codec.configure(wanted.model, wanted.attributes)
        try:
            zone = ZoneInfo(wanted.timezone) if wanted.timezone else None
        except (KeyError, ValueError, OSError):  # unknown; malformed; names a directory
            self.context.log.warning("decoder.timezone %r is not a time zone", wanted.timezone)
        else:
            self._codec.set_timezone(zone)

    def _acknowledge(self, receipts: tuple[Receipt, ...]) -> None:
        codec = self._codec
        if self._socket.is_datagram:
            for receipt in receipts:
                self._socket.send(codec.acknowledge((receipt,)))
        else:
            self._socket.send(codec.acknowledge(receipts))
        if codec.closing:
            self._socket.close("the device asked to close after the answer")
