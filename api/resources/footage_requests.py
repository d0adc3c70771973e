"""Footage requests: what users want of the recordings of vehicles that may be offline (docs/video.md)."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Annotated
from urllib.parse import quote

import msgspec
from quart import Response

from motorpool.actors.messages.footage import FOOTAGE_REQUESTS, FootageRequestsChanged
from motorpool.api.access import may_see_device
from motorpool.api.auth.rights import CAPTURE_VIDEO, READ_HISTORY, SEND_UNSAVED_COMMANDS
from motorpool.api.engine.audit import record_action
from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import NO_CONTENT, Operations
from motorpool.api.engine.spans import Instant
from motorpool.api.history import require_history
from motorpool.api.http.errors import BadRequest, ResourceNotFound
from motorpool.api.http.responses import as_json, no_content
from motorpool.api.json import extended
from motorpool.codecs.channel_map import CHANNELS
from motorpool.storage.database.queries import Queries
from motorpool.storage.video import footage_requests
from motorpool.storage.video.footage_requests import FootageRequest, Status

OPERATIONS = Operations("media")

MAX_SPAN = timedelta(hours=4)
DEFAULT_WAIT = timedelta(days=7)
MAX_WAIT = timedelta(days=30)
MAX_ID = 2**63 - 1
"""What an id may be in the database."""


class Footage(msgspec.Struct, frozen=True, rename="camel"):
    """A footage request and what became of it."""

    id: int
    device_id: int
    """The device whose recording is wanted."""
    channel: int
    start_time: datetime
    """Start of the span that is wanted."""
    end_time: datetime
    """Its end."""
    user_id: int
    """Who wants it, and whose rights it is fetched with."""
    created: datetime
    """When it was asked for."""
    until: datetime
    """When it is given up unless it has been begun."""
    status: Status
    """WAITING, FETCHING, COMPLETE, FAILED or EXPIRED."""
    reason: str | None
    """Why it could not be begun last, or how it has ended."""
    capture_id: str | None
    """The capture."""
    file_name: str | None
    """The file of the capture."""
    url: str | None
    """Where the file can be fetched unless it was removed; null until it is complete."""


class NewFootage(msgspec.Struct, frozen=True, rename="camel"):
    """What is wanted."""

    device_id: int
    """The device whose recording is wanted."""
    channel: int
    start_time: Instant
    """Start of the span that is wanted."""
    end_time: Instant
    """Its end, which must have passed; at most four hours after the start."""
    until: Instant | None = None
    """When it is given up, at most 30 days ahead; without it in 7 days."""


class FootageQuery(msgspec.Struct, rename="camel"):
    """Which device's footage requests to list."""

    device_id: Annotated[int, msgspec.Meta(ge=1)] | None = None


@OPERATIONS.operation("GET", "/footagerequests", query=FootageQuery, answer=list[Footage], errors=(400, 404))
async def list_footage_requests(call: Call) -> Response:
    """The footage requests for a device, or without `deviceId` one's own; newest first."""
    device_id = call.query(FootageQuery).device_id
    if device_id is None:
        READ_HISTORY.require(call.caller)
        found = await footage_requests.of_user(call.context.database, call.caller.id)
        found = [request for request in found if await may_see_device(call, request.device_id)]
    else:
        await require_history(call, device_id)
        found = await footage_requests.of_device(call.context.database, device_id)
    return as_json(await _shown(call, found))


@OPERATIONS.operation("POST", "/footagerequests", body=NewFootage, answer=Footage, errors=(404,))
async def create_footage_request(call: Call) -> Response:
    """Have a span of a recording fetched once the device is online; it ends as a capture.

    At most four hours that have passed, and for at most 30 days (7 without `until`). It is tried with the
    rights that its user has at that moment.
    """
    CAPTURE_VIDEO.require(call.caller)
    SEND_UNSAVED_COMMANDS.require(call.caller)
    sent = await call.body(NewFootage)
    await require_history(call, sent.device_id)
    until = sent.until or call.now + DEFAULT_WAIT
    if sent.channel not in CHANNELS:
        raise BadRequest("channel: cameras have the numbers 1 to 31")
    if not timedelta(0) < sent.end_time - sent.start_time <= MAX_SPAN:
        raise BadRequest("startTime, endTime: a span of at most 4 hours, and its end after its start")
    if sent.end_time > call.now:
        raise BadRequest("endTime: has not passed yet")
    if not call.now < until <= call.now + MAX_WAIT:
        raise BadRequest("until: within the next 30 days")
    wanted = extended(FootageRequest, sent, user_id=call.caller.id, created=call.now, until=until)
    async with call.context.database.transaction() as transaction:
        stored = await footage_requests.add(transaction, wanted)
        if isinstance(stored, str):
            raise BadRequest(stored)
        await _audit(call, transaction, "create", stored)
    call.context.system.ref(FOOTAGE_REQUESTS).offer(FootageRequestsChanged())
    return as_json((await _shown(call, [stored]))[0])


@OPERATIONS.operation("GET", "/footagerequests/{id}", answer=Footage, errors=(400,))
async def get_footage_request(call: Call) -> Response:
    """One footage request."""
    return as_json((await _shown(call, [await _find(call, call.context.database)]))[0])


@OPERATIONS.operation("DELETE", "/footagerequests/{id}", answers={204: NO_CONTENT}, errors=(400,))
async def delete_footage_request(call: Call) -> Response:
    """Take a footage request back; what is being fetched ends, and what has arrived is kept as a capture.

    For its user and for administrators.
    """
    async with call.context.database.transaction() as transaction:
        found = await _find(call, transaction, lock=True)
        if found.user_id != call.caller.id and not call.caller.administrator:
            raise BadRequest(
                "only its user and administrators may take a footage request back", is_refusal=True
            )
        CAPTURE_VIDEO.require(call.caller)
        await footage_requests.delete(transaction, found.id)
        await _audit(call, transaction, "remove", found)
    call.context.system.ref(FOOTAGE_REQUESTS).offer(FootageRequestsChanged())
    return no_content()


async def _find(call: Call, q: Queries, *, lock: bool = False) -> FootageRequest:
    READ_HISTORY.require(call.caller)
    found = await footage_requests.fetch(q, call.id, lock=lock) if call.id <= MAX_ID else None
    if found is None or not await may_see_device(call, found.device_id):
        raise ResourceNotFound("no such footage request")
    return found


async def _audit(call: Call, transaction: Queries, action: str, request: FootageRequest) -> None:
    await record_action(
        call,
        transaction,
        action,
        "footageRequest",
        request.id,
        attributes={
            "deviceId": request.device_id,
            "channel": request.channel,
            "startTime": request.start_time,
            "endTime": request.end_time,
        },
    )


async def _shown(call: Call, found: Sequence[FootageRequest]) -> list[Footage]:
    """Add where the files are: in the folder of the name that their device has now."""
    rows = await call.context.devices.get_many({request.device_id for request in found})
    shown = []
    for request in found:
        url = None
        if request.status == "COMPLETE" and request.file_name and request.device_id in rows:
            unique_id = rows[request.device_id].record.unique_id
            url = f"/api/media/{quote(unique_id, safe='')}/{request.file_name}"
        shown.append(extended(Footage, request, url=url))
    return shown
