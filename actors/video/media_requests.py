"""Media connections that were requested from devices and have not arrived yet.

A media packet names a SIM and a channel and nothing else, and its SIM need not be the number the device
signs in with (docs/protocols/jt1078.md#media-connections): the open requests tell which device a
connection belongs to.
"""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, assert_never

import msgspec

from motorpool.codecs.channel_map import UNMAPPED, ChannelMap, parse_channel_map
from motorpool.codecs.errors import CodecError
from motorpool.runtime import Actor, Failure, Kind, Request
from motorpool.storage.database.database import Database
from motorpool.storage.devices import devices
from motorpool.storage.errors import StorageError
from motorpool.storage.records import Device

OPEN_SECONDS = 120.0
"""A request older than that is no reason to take an unknown SIM for its device."""
KEPT_REQUESTS = 10_000
SUFFIX_DIGITS = 10
"""Digits that must agree from the right where a SIM is truncated or padded."""


class MediaRequested(msgspec.Struct, frozen=True, gc=False):
    """A request to open a media connection is being sent to a device."""

    device_id: int
    unique_id: str
    attributes: Mapping[str, Any]
    kind: str
    """"live", "playback" or "talk"."""
    peer: str
    """The address of its command connection."""
    channels: ChannelMap = UNMAPPED


class PublisherDevice(msgspec.Struct, frozen=True, gc=False):
    """The device that a media connection belongs to."""

    device_id: int
    unique_id: str
    channels: ChannelMap = UNMAPPED


class IdentifyPublisher(msgspec.Struct, Request[PublisherDevice | None], frozen=True, gc=False):
    """Return the device that a media connection belongs to; None where it is unknown."""

    sim: str
    """Digits of the packet's SIM, as they stand."""
    peer: str
    kind: str


@dataclass(slots=True)
class _OpenRequest:
    at: float
    """When it was sent, in monotonic seconds."""
    message: MediaRequested
    is_answered_by_number: bool = False
    """Media with the device's number came: media without one is not this device's."""

    def answer(self, *, by_number: bool) -> PublisherDevice:
        """Return its device, for media that came with its number or without."""
        self.is_answered_by_number |= by_number
        return PublisherDevice(self.message.device_id, self.message.unique_id, self.message.channels)


MediaRequestsMessage = MediaRequested | IdentifyPublisher
MEDIA_REQUESTS: Kind[None, MediaRequestsMessage] = Kind("media_requests")


class MediaRequests(Actor[MediaRequestsMessage]):
    """Keeps the open requests, newest last."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._open: OrderedDict[tuple[int, str], _OpenRequest] = OrderedDict()
        self._named: dict[tuple[str, str], _OpenRequest] = {}
        """The same by the device's number."""

    def handle(self, message: MediaRequestsMessage) -> object:
        """Handle a message."""
        match message:
            case MediaRequested():
                return self._asked(message)
            case IdentifyPublisher():
                return self._find(message)
            case _:
                assert_never(message)

    def _asked(self, message: MediaRequested) -> None:
        key = (message.device_id, message.kind)
        self._forget(self._open.pop(key, None))
        entry = self._open[key] = _OpenRequest(self.context.clock.monotonic(), message)
        self._named[message.unique_id, message.kind] = entry
        if len(self._open) > KEPT_REQUESTS:
            self._forget(self._open.popitem(last=False)[1])

    def _forget(self, entry: _OpenRequest | None) -> None:
        if entry is not None:
            self._named.pop((entry.message.unique_id, entry.message.kind), None)

    def _find(self, message: IdentifyPublisher) -> object:
        """By the number itself among the open requests: who was asked to come needs no database."""
        oldest = self.context.clock.monotonic() - OPEN_SECONDS
        for number in (message.sim, message.sim.lstrip("0")):
            entry = self._named.get((number, message.kind))
            if entry is not None and entry.at >= oldest:
                return entry.answer(by_number=True)
        return self._look_up(message, oldest)

    async def _look_up(self, message: IdentifyPublisher, oldest: float) -> PublisherDevice | Failure | None:
        """By the number itself; then by its last digits, then by its address, among the open requests."""
        stripped = message.sim.lstrip("0")
        if stripped:
            try:
                device = await devices.by_unique_ids(self._database, (message.sim, stripped))
            except StorageError as error:
                return Failure(error)
            if device is not None:
                return PublisherDevice(device.id, device.unique_id, self._channels_of(device))
        pending = [
            entry
            for entry in self._open.values()
            if entry.at >= oldest and entry.message.kind == message.kind
        ]
        ending = [entry for entry in pending if stripped and _same_ending(stripped, entry.message.unique_id)]
        from_address = [
            entry
            for entry in pending
            if entry.message.peer == message.peer and not entry.is_answered_by_number
        ]
        found = ending if len(ending) == 1 else from_address
        if len(found) != 1:
            return None
        self.context.log.info("media SIM %s taken for %s", message.sim, found[0].message.unique_id)
        return found[0].answer(by_number=found is ending)

    def _channels_of(self, device: Device) -> ChannelMap:
        try:
            return parse_channel_map(device.attributes)
        except CodecError as error:
            self.context.log.warning("device %s: %s", device.unique_id, error)
            return UNMAPPED


def _same_ending(sim: str, unique_id: str) -> bool:
    digits = unique_id.lstrip("0")
    length = min(len(sim), len(digits))
    return length >= SUFFIX_DIGITS and sim[-length:] == digits[-length:]
