"""What the vehicles of the caller did yesterday, and in the week before (docs/reports.md#overview)."""

from datetime import datetime, timedelta

import msgspec
from quart import Response

from motorpool.actors.reports.days import midnight_before
from motorpool.api.auth.rights import READ_HISTORY
from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import Operations
from motorpool.api.engine.spans import check_timezone
from motorpool.api.http.responses import as_json
from motorpool.api.resources.reports.requests import CallViewer
from motorpool.storage.reports.fleet_use import Use, read_use

OPERATIONS = Operations("reports")
_MIDDLE_OF_DAY = timedelta(hours=12)
_WEEK = timedelta(days=7)


class OverviewQuery(msgspec.Struct, kw_only=True, rename="camel"):
    """Whose midnights count."""

    timezone: str = ""
    """IANA name of the time zone where neither the user nor the server has one; without it UTC."""


class FleetUse(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What all vehicles did together, by their counters."""

    start_time: datetime
    """A local midnight."""
    end_time: datetime
    """A later one, excluded."""
    distance: float
    """Metres."""
    engine_hours: int
    """Milliseconds."""
    devices: int
    """Vehicles that drove."""


class Overview(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Yesterday, and the seven days before."""

    yesterday: FleetUse
    """Of the local day that is over."""
    week_before: FleetUse
    """Of all seven days together."""


@OPERATIONS.operation("GET", "/reports/overview", query=OverviewQuery, answer=Overview)
async def get_overview(call: Call) -> Response:
    """Get how far the caller's vehicles came yesterday and in the week before, and how long engines ran."""
    sent = call.query(OverviewQuery)
    READ_HISTORY.require(call.caller)
    check_timezone(sent.timezone)
    viewer = CallViewer(call, sent.timezone)
    zone = viewer.preferences.zone
    today = midnight_before(call.now, zone)
    # Days of a change of clocks are shorter or longer.
    yesterday = midnight_before(today - _MIDDLE_OF_DAY, zone)
    week = midnight_before(yesterday - _WEEK + _MIDDLE_OF_DAY, zone)
    device_ids = await viewer.select((), ())
    async with call.turn:
        before, last = await read_use(call.context.database, device_ids, (week, yesterday, today))
    return as_json(
        Overview(yesterday=_answer(last, yesterday, today), week_before=_answer(before, week, yesterday))
    )


def _answer(use: Use, start: datetime, end: datetime) -> FleetUse:
    return FleetUse(
        start_time=start,
        end_time=end,
        distance=use.metres,
        engine_hours=round(use.hours),
        devices=use.devices,
    )
