"""The positions inside a geofence, for queries and exports with `geofenceId` (docs/positions.md#queries)."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

import trio

from motorpool.actors.rules.geofence_index import IndexedGeofence, index_geofence
from motorpool.api.engine.call import Call
from motorpool.api.http.errors import BadRequest, ResourceNotFound
from motorpool.api.resources.linked_policy import may_see
from motorpool.storage import plain_tables
from motorpool.storage.records import Position


async def find_geofence(call: Call, geofence_id: int) -> IndexedGeofence:
    """Return a geofence that the caller may see.

    Raises:
        ResourceNotFound: there is none, or the caller has no access to it.
        BadRequest: its area is invalid, as those stored by an earlier release may be.
    """
    row = None
    if await may_see(call, plain_tables.GEOFENCES, geofence_id):
        row = await plain_tables.GEOFENCES.fetch(call.context.database, geofence_id)
    if row is None:
        raise ResourceNotFound("no such geofence")
    geofence = await trio.to_thread.run_sync(index_geofence, row)
    if geofence is None:
        raise BadRequest("geofenceId: the area of the geofence is invalid")
    return geofence


async def positions_inside(
    batches: AsyncGenerator[list[Position], None], geofence: IndexedGeofence
) -> AsyncGenerator[list[Position], None]:
    """Yield what of each batch lies inside the geofence; no list is empty.

    Closes `batches` when it is closed.
    """

    def inside(batch: list[Position]) -> list[Position]:
        return [p for p in batch if geofence.contains(p.latitude, p.longitude, p.altitude)]

    async with aclosing(batches):
        async for batch in batches:
            # In a thread: the area may have thousands of edges.
            if found := await trio.to_thread.run_sync(inside, batch):
                yield found
