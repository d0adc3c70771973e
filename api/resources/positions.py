"""Positions: latest, by time span or by id, and their deletion (docs/positions.md#queries,
docs/decisions/0017).
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing

import msgspec
from quart import Response

from motorpool.actors.change_feed import publish_changes
from motorpool.actors.messages.changes import PositionsDeleted
from motorpool.actors.messages.directory import DIRECTORY, GetLatestPositions
from motorpool.api.access import (
    may_see_device,
    require_device_for_change,
    visible_device_ids,
)
from motorpool.api.auth.rights import DELETE_POSITIONS
from motorpool.api.engine.audit import record_action
from motorpool.api.engine.batches import Batches, BatchSize
from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import NO_CONTENT, Operations
from motorpool.api.engine.spans import Instant, Span
from motorpool.api.history import readable_positions, require_history
from motorpool.api.http.errors import BadRequest, ResourceNotFound
from motorpool.api.http.responses import as_json, as_json_array, no_content
from motorpool.api.resources.geofence_filter import find_geofence, positions_inside
from motorpool.storage.devices import positions
from motorpool.storage.records import Position

OPERATIONS = Operations("positions")

BATCH = 1000


class PositionQuery(
    msgspec.Struct,
    rename={"device_id": "deviceId", "start": "from", "end": "to", "geofence_id": "geofenceId"},
):
    """Without parameters: the latest of all one's devices."""

    device_id: int | None = None
    """Needs `from` and `to`."""
    start: Instant | None = None
    end: Instant | None = None
    geofence_id: int | None = None
    """Only those inside it; with a device and a span."""
    id: tuple[int, ...] = ()
    """These positions, in this order."""


class SpanQuery(Span, rename="camel", kw_only=True):
    """A device and a span of fix times, both ends included."""

    device_id: int


@OPERATIONS.operation("GET", "/positions", query=PositionQuery, answer=list[Position], errors=(404,))
async def list_positions(call: Call) -> Response:
    """The latest positions, or the positions of a device in a span, or the positions with given ids."""
    query = call.query(PositionQuery)
    if query.id:
        return as_json(await _by_ids(call, query.id))
    if query.geofence_id is not None and (query.device_id is None or query.start is None):
        raise BadRequest("geofenceId: needs deviceId, from and to")
    if query.device_id is None:
        if query.start is not None or query.end is not None:
            raise BadRequest("deviceId: needed with from and to")
        return await as_json_array(call.in_turns(_latest(call)))
    if query.start is None or query.end is None:
        raise BadRequest("deviceId: needs from and to")
    await require_history(call, query.device_id)
    geofence = None if query.geofence_id is None else await find_geofence(call, query.geofence_id)
    database, most = call.context.database, call.context.settings.positions.most
    span = (query.device_id, query.start, query.end)
    if most and await positions.count_between(database, *span, limit=most + 1) > most:
        raise BadRequest(f"the span holds more than {most} positions; ask for a shorter one")
    size = BatchSize()
    found = positions.stream_between(database, *span, batch=lambda: size.records)
    if geofence is not None:
        found = positions_inside(found, geofence)
    return await as_json_array(call.in_turns(_encoded(found, size)))


@OPERATIONS.operation("DELETE", "/positions", query=SpanQuery, answers={204: NO_CONTENT})
async def delete_positions(call: Call) -> Response:
    """Delete a device's positions in a span."""
    query = call.query(SpanQuery)
    DELETE_POSITIONS.require(call.caller)
    await require_device_for_change(call, query.device_id)
    async with call.context.database.transaction() as transaction:
        await positions.delete_between(transaction, query.device_id, query.start, query.end)
        await record_action(call, transaction, "remove", "position", attributes={"deviceId": query.device_id})
    await publish_changes(call.context.system, PositionsDeleted(query.device_id))
    return no_content()


@OPERATIONS.operation("DELETE", "/positions/{id}", answers={204: NO_CONTENT}, errors=(400,))
async def delete_position(call: Call) -> Response:
    """Delete one position."""
    DELETE_POSITIONS.require(call.caller)
    found = await positions.TABLE.fetch_many(call.context.database, [call.id])
    if not found or not await may_see_device(call, found[0].device_id):
        raise ResourceNotFound("no such position")
    async with call.context.database.transaction() as transaction:
        await positions.delete(transaction, call.id)
        await record_action(call, transaction, "remove", "position", call.id)
    await publish_changes(call.context.system, PositionsDeleted(found[0].device_id))
    return no_content()


async def _encoded(batches: AsyncGenerator[list[Position], None], size: BatchSize) -> Batches:
    async with aclosing(batches):
        async for batch in batches:
            yield size.encode(batch, len(batch))


async def _latest(call: Call) -> AsyncGenerator[list[msgspec.Raw], None]:
    """Yield the latest positions of all visible devices, in batches."""
    ids = sorted(await visible_device_ids(call.context, call.caller))
    directory = call.context.system.ref(DIRECTORY)
    for start in range(0, len(ids), BATCH):
        latest = await directory.ask(GetLatestPositions(tuple(ids[start : start + BATCH])))
        yield call.context.position_json.encode_all(latest)


async def _by_ids(call: Call, ids: tuple[int, ...]) -> list[Position]:
    visible = await readable_positions(call, ids)
    if any(number not in visible for number in ids):
        raise ResourceNotFound("no such position")
    return [visible[number] for number in ids]
