"""Calendars: iCalendar text that was read before it is kept (open-details 15)."""

import base64
import binascii

import trio

from motorpool.api.engine.call import Call
from motorpool.api.engine.family import USUAL, Family, serve_family
from motorpool.api.engine.operations import Operations
from motorpool.api.engine.plain import Plain
from motorpool.api.errors import BadRequest
from motorpool.codecs.calendars import CalendarError, find_zone, read_calendar
from motorpool.storage import families, links
from motorpool.storage.records import Calendar

__all__ = ["OPERATIONS"]

OPERATIONS = Operations("calendars")

TIME_ZONE = "timezone"
"""The attribute that says where floating times and whole days are at home (decisions 28)."""


class CalendarConduct(Plain[Calendar]):
    """The text is kept as it was sent, to the byte: clients edit it by line number."""

    def __init__(self) -> None:
        super().__init__(
            families.CALENDARS,
            links.USER_CALENDAR,
            user_id_expands=True,
            needed=("name", "data"),
            verbatim=("data",),
        )
        # The largest take a second or two: one at a time, and other requests go on meanwhile.
        self._one = trio.CapacityLimiter(1)

    async def check(self, sent: Calendar) -> Calendar:
        """Refuse what cannot be read, and say where."""
        try:
            # Some encoders break lines; that alone is let pass beside the standard alphabet.
            text = base64.b64decode("".join(sent.data.split()), validate=True)
        except (binascii.Error, ValueError):
            raise BadRequest("data: not base64 of the standard alphabet") from None
        try:
            await trio.to_thread.run_sync(read_calendar, text, limiter=self._one)
        except CalendarError as error:
            raise BadRequest(f"data: {error}") from None
        zone = sent.attributes.get(TIME_ZONE)
        if zone is not None and (not isinstance(zone, str) or find_zone(zone) is None):
            raise BadRequest(f"attributes.{TIME_ZONE}: no time zone that is known")
        return sent

    async def written(self, call: Call, number: int, new: Calendar | None, old: Calendar | None) -> None:
        """Devices lose a calendar that is gone."""
        del number, old
        if new is None:
            call.house.devices.clear()


CALENDARS = Family(
    name="calendar",
    path="calendars",
    shape=Calendar,
    table=families.CALENDARS,
    conduct=CalendarConduct(),
    parameters=USUAL,
)
serve_family(CALENDARS, OPERATIONS)
