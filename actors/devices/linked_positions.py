"""The latest positions of the devices that are linked to one, for the rules that compare them."""

from collections.abc import Mapping, Sequence

from motorpool.actors.devices.directory import DIRECTORY, GetLatestPositions
from motorpool.actors.messages.uplink import DeviceMessage
from motorpool.runtime import Context
from motorpool.storage.records import Position

__all__ = ["LinkedPositions"]


class LinkedPositions:
    """Reads the table of the directory without waiting, and has it load what is missing."""

    __slots__ = ("_directory", "_latest")

    def __init__(self, latest: Mapping[int, Position | None], context: Context[DeviceMessage]) -> None:
        """`latest` is the table that the directory keeps."""
        self._latest = latest
        self._directory = context.system.ref(DIRECTORY)

    def of(self, device_ids: Sequence[int]) -> tuple[Position, ...] | None:
        """Return the latest positions of devices, of those that have one; None until they are loaded."""
        latest = self._latest
        missing = tuple(device_id for device_id in device_ids if device_id not in latest)
        if missing:
            self._directory.offer(GetLatestPositions(missing))
            return None
        found = (latest[device_id] for device_id in device_ids)
        return tuple(position for position in found if position is not None)
