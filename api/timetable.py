"""The news that schedules or their calendars have changed, for the actors that watch them."""

from contextlib import suppress

from motorpool.actors.messages.scheduling import (
    TIMETABLE,
    CalendarsChanged,
    SchedulesChanged,
)
from motorpool.api.server_context import ServerContext
from motorpool.runtime import ActorError

__all__ = ["tell_calendars_changed", "tell_schedule_changed"]


async def tell_schedule_changed(context: ServerContext, schedule_id: int) -> None:
    """After the commit of a schedule's making, edit or removal: it is watched as it is now."""
    # Where they have crashed or the server stops: new ones read everything.
    with suppress(ActorError):
        await context.system.ref(TIMETABLE).ask(SchedulesChanged((schedule_id,)))


async def tell_calendars_changed(context: ServerContext, *calendar_ids: int) -> None:
    """After the commit: the edges of these calendars, or without any of all, are found anew."""
    with suppress(ActorError):
        await context.system.ref(TIMETABLE).ask(CalendarsChanged(calendar_ids))
