"""The devices of a user, with their status and last place (docs/reports.md#devices)."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

import msgspec

from motorpool.actors.messages.directory import DIRECTORY, GetDeviceStatuses, GetLatestPositions
from motorpool.actors.reports.sources import ReportQuery, Sources, Viewer, devices_of
from motorpool.storage.records import Device, Position


class DeviceRow(msgspec.Struct, frozen=True):
    """A device as a workbook shows it."""

    device: Device
    position: Position | None


async def devices(
    sources: Sources, viewer: Viewer, query: ReportQuery
) -> AsyncGenerator[tuple[Device, list[DeviceRow]], None]:
    """Yield each device, with its status and its latest position."""
    directory = sources.system.ref(DIRECTORY)
    async with aclosing(devices_of(sources, viewer, query)) as batches:
        async for rows in batches:
            ids = tuple(device.id for device in rows)
            live = await directory.ask(GetDeviceStatuses(ids))
            places = {each.device_id: each for each in await directory.ask(GetLatestPositions(ids))}
            for device in rows:
                status = live.get(device.id)
                shown = device
                if status is not None:
                    shown = msgspec.structs.replace(
                        device, status=status.status, last_update=status.last_update
                    )
                yield device, [DeviceRow(shown, places.get(device.id))]
