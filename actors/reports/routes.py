"""Positions in a span of time: the route, and the route with what happened on it (docs/reports.md#route)."""

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from typing import Literal, NamedTuple

from motorpool.actors.reports.events import events_of
from motorpool.actors.reports.names import visible_ids
from motorpool.actors.reports.sources import ReportQuery, Sources, Viewer, devices_of
from motorpool.actors.words.cameras import names_cameras
from motorpool.storage.devices import camera_names, positions
from motorpool.storage.devices.camera_names import CameraNames
from motorpool.storage.records import Device, Position
from motorpool.storage.reports import report_rows

POSITIONS = 1000
"""Positions of events that are read at once."""


async def route(
    sources: Sources, viewer: Viewer, query: ReportQuery
) -> AsyncGenerator[tuple[Device, list[Position]], None]:
    """Yield the positions of each device by fix time, some at a time."""
    async with aclosing(devices_of(sources, viewer, query, batch=1)) as devices:
        async for (device,) in devices:
            batches = positions.stream_between(sources.database, device.id, query.start, query.end)
            async with aclosing(batches):
                async for found in batches:
                    yield device, found


class RouteRow(NamedTuple):
    """A position as a workbook shows it."""

    position: Position
    cameras: CameraNames
    """Of its device."""


async def route_rows(sources: Sources, viewer: Viewer, found: Sequence[Position]) -> list[RouteRow]:
    """Add to positions of one batch the names of the cameras that they mention."""
    del viewer
    filmed = {each.device_id for each in found if names_cameras(each.attributes)}
    names = await camera_names.names_of(sources.database, filmed)
    return [RouteRow(each, names[each.device_id]) for each in found]


class CombinedPart(NamedTuple):
    """Some elements of one list of a `CombinedItem`; the lists come in the order of its fields."""

    device: Device
    field: Literal["route", "events", "positions"]
    elements: Sequence[object]


async def combined(
    sources: Sources, viewer: Viewer, query: ReportQuery
) -> AsyncGenerator[CombinedPart, None]:
    """Yield for each device its route, then its events with positions, then these positions.

    Events `deviceMoving` are left out. All devices appear, also those without positions.
    """
    visible = await visible_ids(sources.database, viewer.user)
    async with aclosing(devices_of(sources, viewer, query, batch=1)) as devices:
        async for (device,) in devices:
            yield CombinedPart(device, "route", ())
            async with aclosing(
                report_rows.pages_of_route(sources.database, device.id, query.start, query.end)
            ) as pages:
                async for points in pages:
                    yield CombinedPart(device, "route", points)
            ids: set[int] = set()
            async with aclosing(events_of(sources, visible, (device.id,), query)) as parts:
                async for found in parts:
                    shown = [event for event in found if event.position_id and event.type != "deviceMoving"]
                    ids.update(event.position_id for event in shown)
                    yield CombinedPart(device, "events", shown)
            for part in batched(sorted(ids), POSITIONS):
                places = await positions.TABLE.fetch_many(sources.database, part)
                yield CombinedPart(
                    device, "positions", [each for each in places if each.device_id == device.id]
                )


def batched(ids: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    """Yield the ids some at a time."""
    return (ids[begin : begin + size] for begin in range(0, len(ids), size))
