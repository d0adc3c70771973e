"""The devices that a connection reports for: who logs in, and what configures the codec for each.

Most connections have one device. A gateway reports for many in turn: a device that another one takes the
place of stays connected, so that it does not go offline between two messages and is not looked up again for
each.
"""

import logging
from collections.abc import Iterator
from zoneinfo import ZoneInfo

import msgspec

from motorpool.actors.devices.eligibility import may_report
from motorpool.actors.gateway.identity import IDENTIFICATION, Identify
from motorpool.actors.gateway.peer_socket import PeerSocket
from motorpool.actors.messages.counters import DEVICES_REFUSED
from motorpool.actors.messages.downlink import ConfigureDecoder, ConnectionMessage
from motorpool.actors.messages.uplink import (
    DEVICE,
    CheckRules,
    CodeIssued,
    Connected,
    DeviceMessage,
    Disconnected,
)
from motorpool.codecs.devices import DeviceCodec
from motorpool.codecs.reports import Login, Secret
from motorpool.runtime import ActorError, Context, Ref
from motorpool.storage.errors import StatementRejected, StorageError
from motorpool.storage.records import Device

IDENTIFY_SECONDS = 30.0
"""A connection is closed if its device was not looked up within this time."""
MAX_OTHERS = 255
"""Devices of one connection besides the present one; the one that was silent longest leaves for another."""
REFUSED = "not known, disabled or expired"
"""Why a device is refused."""

_NEUTRAL = ConfigureDecoder("")
"""The decoding of the protocol itself."""

UniqueIds = tuple[str, ...]
Served = tuple[Ref[DeviceMessage], Secret | None]
"""A device, and the secret with which it was accepted."""


class ConnectionDevices:
    """The present device, the others of a gateway, and the codec that decodes for each."""

    __slots__ = (
        "_codec",
        "_configuration",
        "_configurations",
        "_context",
        "_others",
        "_ref",
        "_secret",
        "_socket",
        "_was_identified",
        "present",
        "unique_ids",
    )

    def __init__(
        self,
        context: Context[ConnectionMessage],
        ref: Ref[ConnectionMessage],
        socket: PeerSocket,
        codec: DeviceCodec,
    ) -> None:
        """`ref` is the connection's own."""
        self._context = context
        self._ref = ref
        self._socket = socket
        self._codec = codec
        self.present: Ref[DeviceMessage] | None = None
        """The device of the latest login; None before it is known."""
        self.unique_ids: UniqueIds = ()
        """The identities of that login."""
        self._secret: Secret | None = None
        """What that login has presented."""
        self._configuration = _NEUTRAL
        """What the codec is configured for."""
        self._others: dict[UniqueIds, Served] | None = None
        """Devices behind a gateway, the longest silent first; None until a second device logs in."""
        self._configurations: dict[object, ConfigureDecoder]
        """What each device of a gateway wants, by its key; made with `_others`."""
        self._was_identified = False

    @property
    def shown(self) -> tuple[int, str]:
        """Id and identity of the present device, for the log of traffic; 0 and empty if there is none."""
        if self.present is None:
            return 0, ""
        assert isinstance(self.present.key, int)
        return self.present.key, self.unique_ids[0]

    def __iter__(self) -> Iterator[tuple[UniqueIds, Served]]:
        """Iterate over the identities of all devices with what is known of them, the present one first."""
        if self.present is not None:
            yield self.unique_ids, (self.present, self._secret)
        yield from tuple((self._others or {}).items())

    async def log_in(self, login: Login) -> bool:
        """Make the device that logs in the present one; return whether the login is accepted.

        A device that only gets a code is not present yet. If it cannot be looked up or asked now, close the
        socket.
        """
        unique_ids = login.unique_ids
        is_present = self.present is not None and unique_ids == self.unique_ids
        if is_present and self._was_accepted(login, self._secret):
            return True
        if self._switch(login):
            return True
        context, socket = self._context, self._socket
        try:
            device = await context.system.ref(IDENTIFICATION).ask(
                Identify(unique_ids), seconds=IDENTIFY_SECONDS
            )
        except StatementRejected:
            device = None  # no device can have such an identity
        except (StorageError, ActorError) as error:
            socket.send(self._codec.give_up())
            socket.close(f"cannot be looked up now: {error}")
            return False
        if device is None or not may_report(device, context.clock.now()):
            self._log_refusal(login, 0, REFUSED)
            return False
        return await self._ask(device, login)

    async def _ask(self, device: Device, login: Login) -> bool:
        """Ask a device whether it accepts the login."""
        context, socket = self._context, self._socket
        self.present = actor = context.system.ref(DEVICE, device.id)
        self.unique_ids, self._secret = login.unique_ids, login.secret
        if self._others is not None:
            self._others = {ids: other for ids, other in self._others.items() if other[0] != actor}
            self._apply(self._configurations.get(actor.key, _NEUTRAL))
        try:
            # What follows is not decoded before: an actor that is being loaded takes some milliseconds.
            answer = await actor.ask(
                self._connected(login.unique_ids, login.secret, login=login), seconds=IDENTIFY_SECONDS
            )
        except (StorageError, ActorError) as error:
            socket.send(self._codec.give_up())
            socket.close(f"cannot be served now: {error}")
            return False
        if answer is not None:
            if self.present == actor:
                self.forget()
            actor.offer(Disconnected(self._ref))  # it may have served the device before
            if isinstance(answer, CodeIssued):
                self._codec.issue_code(answer.code.text)
                return True
            self._log_refusal(login, device.id, answer.reason)
            return False
        line = ("%s device %s from %s", self._codec.name, device.unique_id, socket.peer)
        if self._was_identified:
            # A peer can log in again and again under names of one device.
            socket.log(context, logging.INFO, *line)
        else:
            self._was_identified = True
            context.log.info(*line)
        socket.guard.traffic.identify(self._ref, device.id, login.unique_ids[0])
        return self.present == actor  # else it may not report any more

    def _log_refusal(self, login: Login, device_id: int, reason: str) -> None:
        """Tell of a login that was refused; `device_id` is 0 where there is no such device."""
        socket, name, unique_id = self._socket, self._codec.name, login.unique_ids[0]
        problem = f"refused: {reason}" if device_id else reason
        socket.guard.traffic.identify(self._ref, device_id, unique_id, problem)
        DEVICES_REFUSED.labels(name).inc()
        text = "refused the %s device %s from %s: %s"
        socket.log(self._context, logging.WARNING, text, name, unique_id, socket.peer, reason)

    def _switch(self, login: Login) -> bool:
        """Set the present device aside; go on with the one that logs in if the connection had it before."""
        if self.present is None and self._others is None:
            return False
        others = self._open_gateway()
        if self.present is not None:
            others[self.unique_ids] = self.present, self._secret
            if len(others) > MAX_OTHERS:
                left, _ = others.pop(next(iter(others)))
                self._configurations.pop(left.key, None)
                left.offer(Disconnected(self._ref))
        self.forget()
        found = others.get(login.unique_ids)
        if found is None or not self._was_accepted(login, found[1]):
            return False
        del others[login.unique_ids]
        self.unique_ids = login.unique_ids
        self.present, self._secret = found
        self._apply(self._configurations.get(self.present.key, _NEUTRAL))
        return True

    def _was_accepted(self, login: Login, secret: Secret | None) -> bool:
        """Whether a login needs no answer of its device, which was accepted with this secret before.

        If there was none, the device needs none. A connection of requests may be that of a proxy for several
        peers, who have to prove themselves each.
        """
        if secret is None or (login.secret == secret and not login.wants_code):
            return True
        return login.secret is None and not (login.wants_code or self._codec.request_response)

    def _open_gateway(self) -> dict[UniqueIds, Served]:
        """Return the other devices of this connection; from now on each has its own configuration."""
        if self._others is None:
            self._others, self._configurations = {}, {}
            self._codec.on_login = self._follow_login
            if self.present is not None:
                configuration = msgspec.structs.replace(self._configuration, device_id=self.present.key)
                self._configurations[self.present.key] = configuration
        return self._others

    def _follow_login(self, unique_ids: UniqueIds) -> None:
        """Configure the codec for a device whose message it is about to decode."""
        if self._others is None and unique_ids == self.unique_ids:
            return
        others = self._open_gateway()
        found = (self.present, None) if unique_ids == self.unique_ids else others.get(unique_ids)
        device = None if found is None else found[0]
        self._apply(_NEUTRAL if device is None else self._configurations.get(device.key, _NEUTRAL))

    def configure(self, wanted: ConfigureDecoder) -> None:
        """Note what a device wants, and follow it if that is the present one."""
        if self._others is not None:
            self._configurations[wanted.device_id] = wanted
            if self.present is None or wanted.device_id not in (0, self.present.key):
                return
        self._apply(wanted)

    def adopt(self, codec: DeviceCodec) -> None:
        """Go on with another codec of the same protocol, configured as the one before."""
        self._codec = codec
        self._apply(self._configuration)

    def _apply(self, wanted: ConfigureDecoder) -> None:
        self._configuration = wanted
        self._codec.on_login = self._follow_login
        self._codec.configure(wanted.model, wanted.attributes)
        try:
            zone = ZoneInfo(wanted.timezone) if wanted.timezone else None
        except (KeyError, ValueError, OSError):  # unknown; malformed; names a directory
            self._context.log.warning("decoder.timezone %r is not a time zone", wanted.timezone)
        else:
            self._codec.set_timezone(zone)

    def announce(self) -> None:
        """Tell all devices again that they are connected."""
        for unique_ids, (device, secret) in self:
            device.offer(self._connected(unique_ids, secret, is_repeated=True))

    def check_rules(self) -> None:
        """Have all devices configure decoding anew before the next message: groups may have changed."""
        for _, (device, _) in self:
            device.offer(CheckRules())

    def log_out(self) -> None:
        """Leave the present device."""
        if self.present is not None:
            self.present.offer(Disconnected(self._ref))
            self.forget()

    def forget(self) -> None:
        """Report for the present device no more, as it has asked for."""
        self.present, self.unique_ids, self._secret = None, (), None

    def leave(self) -> None:
        """Leave all devices: the connection has ended."""
        for _, (device, _) in self:
            device.offer(Disconnected(self._ref))

    def _connected(
        self,
        unique_ids: UniqueIds,
        secret: Secret | None,
        *,
        login: Login | None = None,
        is_repeated: bool = False,
    ) -> Connected:
        socket = self._socket
        return Connected(
            self._ref,
            self._codec.name,
            socket.peer,
            socket.local_host,
            unique_ids,
            socket.is_datagram,
            secret,
            {} if login is None else login.attributes,
            login is not None and login.wants_code,
            is_repeated,
        )
