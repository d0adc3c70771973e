"""The devices that one connection reports for in turn, as gateways do.

A device that another one takes the place of stays connected, so that it does not go offline between two
messages and is not looked up again for each.
"""

from collections import OrderedDict
from collections.abc import Iterator

from motorpool.actors.messages.downlink import ConfigureDecoder
from motorpool.actors.messages.uplink import DeviceMessage
from motorpool.runtime import Ref

MAX_OTHERS = 255
"""Devices of one connection besides the present one; the one that was silent longest leaves for another."""

UniqueIds = tuple[str, ...]


class GatewayDevices:
    """The devices of a connection besides the present one, and what configures decoding for each."""

    __slots__ = ("_configured", "_others")

    def __init__(self) -> None:
        self._others: OrderedDict[UniqueIds, Ref[DeviceMessage]] = OrderedDict()
        self._configured: dict[object, ConfigureDecoder] = {}
        """By the key of the device."""

    def __iter__(self) -> Iterator[tuple[UniqueIds, Ref[DeviceMessage]]]:
        """Iterate over identities and devices."""
        return iter(tuple(self._others.items()))

    def set_aside(self, unique_ids: UniqueIds, device: Ref[DeviceMessage]) -> Ref[DeviceMessage] | None:
        """Keep the device that was the present one; return another that leaves, if there are too many."""
        self._others[unique_ids] = device
        if len(self._others) <= MAX_OTHERS:
            return None
        _, left = self._others.popitem(last=False)
        self._configured.pop(left.key, None)
        return left

    def take(self, unique_ids: UniqueIds) -> Ref[DeviceMessage] | None:
        """Remove and return the device with this identity; None if it is not one of them."""
        return self._others.pop(unique_ids, None)

    def find(self, unique_ids: UniqueIds) -> Ref[DeviceMessage] | None:
        """Return the device with this identity; None if it is not one of them."""
        return self._others.get(unique_ids)

    def forget(self, device: Ref[DeviceMessage]) -> None:
        """Remove a device under whatever identity."""
        for unique_ids, other in self:
            if other == device:
                del self._others[unique_ids]

    def configure(self, wanted: ConfigureDecoder) -> None:
        """Note what a device wants."""
        self._configured[wanted.device_id] = wanted

    def configuration_of(self, device: Ref[DeviceMessage]) -> ConfigureDecoder:
        """Return what a device wants; the protocol's own where it has said nothing."""
        return self._configured.get(device.key) or ConfigureDecoder("")
