"""Daily statistics of the server, for administrators (docs/server.md#statistics)."""

import msgspec
from quart import Response

from motorpool.actors.upkeep.statistics import STATISTICS, UnsavedDay, UnsavedDays
from motorpool.api.auth.rights import ADMINISTER
from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import Operations
from motorpool.api.engine.spans import Span
from motorpool.api.http.responses import as_json
from motorpool.storage.database.queries import Queries
from motorpool.storage.records import Statistics
from motorpool.storage.upkeep import statistics

OPERATIONS = Operations("statistics")


class StatisticsQuery(Span):
    """A span of time, both ends included."""

    refresh: bool = False
    """Taken for old clients; no effect."""


@OPERATIONS.operation("GET", "/statistics", query=StatisticsQuery, answer=list[Statistics])
async def list_statistics(call: Call) -> Response:
    """The days last captured in a span of time, today as it stands; for administrators."""
    ADMINISTER.require(call.caller)
    query = call.query(StatisticsQuery)
    database = call.context.database
    unsaved = await call.context.system.ref(STATISTICS).ask(UnsavedDays())
    days = await statistics.rows(
        database, query.start, query.end, without={day.saver: day.date for day in unsaved}
    )
    for day in unsaved:
        days[day.date] = await _with_unsaved(database, days.get(day.date, Statistics()), day)
    found = [day for day in days.values() if query.start <= day.capture_time <= query.end]
    return as_json(sorted(found, key=lambda day: day.capture_time))


async def _with_unsaved(q: Queries, stored: Statistics, unsaved: UnsavedDay) -> Statistics:
    """Return the row of a day, which has what others counted, with what is in memory."""
    active = await statistics.distinct(q, unsaved.date, unsaved.users, unsaved.devices)
    return msgspec.structs.replace(
        stored,
        capture_time=max(stored.capture_time, unsaved.captured),
        active_users=active.users,
        active_devices=active.devices,
        protocols=active.protocols,
        **{name: getattr(stored, name) + count for name, count in unsaved.counts.items()},
    )
