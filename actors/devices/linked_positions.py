"""The latest positions of the devices that are linked to one, for the rules that compare them."""

from collections.abc import Mapping, Sequence

from motorpool.actors.messages.directory import DIRECTORY, GetLatestPositions
from motorpool.actors.messages.uplink import DeviceMessage
from motorpool.runtime import Context
from motorpool.storage.records import Position


def linked_positions(
    device_ids: Sequence[int], latest: Mapping[int, Position | None], context: Context[DeviceMessage]
) -> tuple[Position, ...] | None:
    """Return the latest positions of devices, of those that have one; None until they are loaded.

    `latest` is the table that the directory keeps: it is read without waiting, and the directory loads what
    is missing.
    """
    missing = tuple(device_id for device_id in device_ids if device_id not in latest)
    if missing:
        context.system.ref(DIRECTORY).offer(GetLatestPositions(missing))
        return None
    found = (latest[device_id] for device_id in device_ids)
    return tuple(position for position in found if position is not None)
