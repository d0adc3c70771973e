"""The audit log, for administrators (docs/server.md#audit)."""

from typing import Annotated

import msgspec
from quart import Response

from motorpool.api.auth.rights import READ_AUDIT
from motorpool.api.engine.call import Call
from motorpool.api.engine.list_parameters import MAX_PAGE, Id
from motorpool.api.engine.operations import Operations
from motorpool.api.engine.spans import Span
from motorpool.api.http.errors import BadRequest
from motorpool.api.http.responses import as_json, as_json_array
from motorpool.storage.accounts import audit
from motorpool.storage.records import AuditAction

OPERATIONS = Operations("audit")

Word = Annotated[str, msgspec.Meta(max_length=64)]
MOST_TYPES = 20
"""Types of actions that one request may name."""
NAMES = {
    "start": "from",
    "end": "to",
    "user_id": "userId",
    "action_type": "actionType",
    "object_type": "objectType",
    "object_id": "objectId",
    "before_id": "beforeId",
}


class AuditQuery(Span, kw_only=True, rename=NAMES):
    """Which actions; both ends of the span are included."""

    user_id: Id | None = None
    """Actions of this user; 0: of nobody who is known."""
    action_type: tuple[Word, ...] = ()
    """Actions of one of these types, at most 20; none: all."""
    object_type: Word | None = None
    """Actions on objects of this type."""
    object_id: Id | None = None
    """Actions on the object of this id; with `objectType`."""
    limit: Annotated[int, msgspec.Meta(ge=0, le=MAX_PAGE)] | None = None
    """At most this many actions, the newest first; 0 is 1000. Without it all are listed, the oldest first."""
    before_id: Id | None = None
    """Leave out this action and newer ones: for the next page; with `limit`."""


@OPERATIONS.operation("GET", "/audit", query=AuditQuery, answer=list[AuditAction])
async def list_audit(call: Call) -> Response:
    """What was done in a span of time; for administrators.

    All of it comes in the order of time; with `limit` the newest first, page by page, by who did
    what to what.
    """
    READ_AUDIT.require(call.caller)
    query = call.query(AuditQuery)
    database = call.context.database
    if query.limit is None:
        given = (query.user_id, query.object_type, query.object_id, query.before_id)
        if query.action_type or any(each is not None for each in given):
            raise BadRequest("limit: is needed with what the actions are chosen by")
        return await as_json_array(call.in_turns(audit.stream_between(database, query.start, query.end)))
    if len(query.action_type) > MOST_TYPES:
        raise BadRequest(f"actionType: at most {MOST_TYPES} types")
    if query.object_id is not None and query.object_type is None:
        raise BadRequest("objectId: needs objectType")
    before = None
    if query.before_id is not None:
        time = await audit.action_time(database, query.before_id)
        if time is None:
            # It was too old meanwhile, and so is all before it.
            return as_json([])
        before = (time, query.before_id)
    async with call.turn:
        found = await audit.newest(
            database,
            query.start,
            query.end,
            before=before,
            user_id=query.user_id,
            action_types=query.action_type,
            object_type=query.object_type,
            object_id=query.object_id,
            limit=query.limit or MAX_PAGE,
        )
    return as_json(found)
