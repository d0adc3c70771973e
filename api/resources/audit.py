"""The audit log, for administrators (docs/server.md#audit)."""

from quart import Response

from motorpool.api.auth.rights import READ_AUDIT
from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import Operations
from motorpool.api.engine.spans import Span
from motorpool.api.http.responses import as_json_array
from motorpool.storage.accounts import audit
from motorpool.storage.records import AuditAction

OPERATIONS = Operations("audit")


@OPERATIONS.operation("GET", "/audit", query=Span, answer=list[AuditAction])
async def list_audit(call: Call) -> Response:
    """What was done in a span of time, in order; for administrators."""
    READ_AUDIT.require(call.caller)
    query = call.query(Span)
    found = audit.stream_between(call.context.database, query.start, query.end)
    return await as_json_array(call.in_turns(found))
