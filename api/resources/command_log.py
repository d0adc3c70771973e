"""The log of commands (docs/commands.md#log)."""

import msgspec
from quart import Response

from motorpool.api.command_masking import shown_to
from motorpool.api.engine.batches import slices_of
from motorpool.api.engine.call import Call
from motorpool.api.engine.list_parameters import Id, PageSize
from motorpool.api.engine.operations import Operations
from motorpool.api.engine.spans import Instant
from motorpool.api.http.responses import as_json_array
from motorpool.api.resources.reports.requests import CallViewer
from motorpool.storage.devices import command_log
from motorpool.storage.devices.command_log import LoggedCommand, State

OPERATIONS = Operations("commands")

NAMES = {
    "device_id": "deviceId",
    "user_id": "userId",
    "start": "from",
    "end": "to",
    "before_id": "beforeId",
}


class LogQuery(msgspec.Struct, frozen=True, kw_only=True, rename=NAMES):
    """Which commands; both ends of the span are included."""

    device_id: tuple[Id, ...] = ()
    """Commands to these devices; devices not visible to the caller are left out."""
    user_id: Id | None = None
    """Commands that this user sent, or that were sent with their rights."""
    state: tuple[State, ...] = ()
    """Commands in one of these states; none: all."""
    start: Instant | None = None
    """Commands of this instant or later."""
    end: Instant | None = None
    """Commands of this instant or earlier."""
    limit: PageSize = 100
    """Maximum number of commands; 0 is 1000."""
    before_id: Id = 2**63 - 1
    """Leave out commands whose id is not smaller: for the next page."""


@OPERATIONS.operation("GET", "/commands/log", query=LogQuery, answer=list[LoggedCommand], errors=(400,))
async def list_logged_commands(call: Call) -> Response:
    """The commands that were sent or queued by hand, by schedules and by notifications, the newest first.

    What viewers ask of cameras is not among them.
    """
    viewer = CallViewer(call)
    query = call.query(LogQuery)
    device_ids = await viewer.select(query.device_id, ())
    async with call.turn:
        found = await command_log.newest(
            call.context.database,
            device_ids=device_ids,
            user_id=query.user_id,
            states=query.state,
            start=query.start,
            end=query.end,
            before_id=query.before_id,
            limit=query.limit,
        )
    visible = set(await viewer.still_visible(sorted({each.device_id for each in found})))
    shown = [shown_to(call.caller, each) for each in found if each.device_id in visible]
    return await as_json_array(call.in_turns(slices_of(shown)))
