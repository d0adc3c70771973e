"""The devices of a user, with their status and last place (docs/reports.md#devices)."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from motorpool.actors.messages.directory import DIRECTORY, GetDeviceStatuses, GetLatestPositions
from motorpool.actors.reports.items import DeviceItem
from motorpool.actors.reports.names import in_words
from motorpool.actors.reports.sources import ReportQuery, Sources, Viewer, devices_of
from motorpool.storage.records import Device


async def devices(
    sources: Sources, viewer: Viewer, query: ReportQuery
) -> AsyncGenerator[tuple[Device, list[DeviceItem]], None]:
    """Yield each device, with its status and its latest position."""
    directory = sources.system.ref(DIRECTORY)
    async with aclosing(devices_of(sources, viewer, query)) as batches:
        async for rows in batches:
            ids = tuple(device.id for device in rows)
            live = await directory.ask(GetDeviceStatuses(ids))
            latest = {each.device_id: each for each in await directory.ask(GetLatestPositions(ids))}
            points = list(latest.values())
            words = await in_words(sources, viewer, points, [point.address for point in points])
            places = dict(zip(latest, words, strict=True))
            for device in rows:
                status, point = live.get(device.id, device), latest.get(device.id)
                item = DeviceItem(
                    device_id=device.id,
                    device_name=device.name,
                    unique_id=device.unique_id,
                    phone=device.phone,
                    model=device.model,
                    contact=device.contact,
                    status=status.status,
                    last_update=status.last_update,
                    latitude=point.latitude if point else None,
                    longitude=point.longitude if point else None,
                    address=point.address if point else None,
                    place=places.get(device.id),
                )
                yield device, [item]
