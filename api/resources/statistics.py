"""Daily statistics of the server, for administrators (docs/server.md#statistics)."""

from typing import Annotated

import msgspec
from quart import Response

from motorpool.actors.upkeep.statistics import STATISTICS, SaveNow
from motorpool.api.auth.rights import ADMINISTER
from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import Operations
from motorpool.api.engine.spans import Span
from motorpool.api.http.responses import as_json
from motorpool.storage import statistics
from motorpool.storage.records import Statistics

__all__ = ["OPERATIONS"]

OPERATIONS = Operations("statistics")


class StatisticsQuery(Span):
    """A span of time, both ends included."""

    refresh: Annotated[bool, msgspec.Meta(description="Taken for old clients; no effect.")] = False


@OPERATIONS.operation("GET", "/statistics", query=StatisticsQuery, answer=list[Statistics])
async def list_statistics(call: Call) -> Response:
    """The days last captured in a span of time, today as it stands; for administrators."""
    ADMINISTER.require(call.caller)
    query = call.query(StatisticsQuery)
    await call.context.system.ref(STATISTICS).ask(SaveNow())
    return as_json(await statistics.between(call.context.database, query.start, query.end))
