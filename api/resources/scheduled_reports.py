"""Scheduled reports: mail the link of a report when a calendar event ends (docs/scheduled-reports.md)."""

import msgspec

from motorpool.actors.mailings.scheduled_options import read_options
from motorpool.actors.messages.changes import ScheduledReportChanged
from motorpool.actors.reports.columns import SCHEDULED
from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import Operations
from motorpool.api.engine.resource import Resource
from motorpool.api.engine.resource_operations import add_resource_operations
from motorpool.api.http.errors import BadRequest
from motorpool.api.resources.linked_policy import LinkedPolicy
from motorpool.storage import plain_tables
from motorpool.storage.accounts import links
from motorpool.storage.database.queries import Queries
from motorpool.storage.records import ScheduledReport
from motorpool.storage.reports import scheduled_reports

OPERATIONS = Operations("reports")


class ScheduledReportPolicy(LinkedPolicy[ScheduledReport]):
    """Starts to watch the calendar in the transaction of the change that requires it."""

    def __init__(self) -> None:
        super().__init__(
            scheduled_reports.TABLE,
            links.USER_REPORT,
            references={"calendar_id": plain_tables.CALENDARS},
            user_id_expands=True,
            required=("type", "calendar_id"),
        )

    async def validate(self, sent: ScheduledReport) -> ScheduledReport:
        """Refuse a report of an unknown type, without a calendar, or with wrong options."""
        if sent.type not in SCHEDULED:
            raise BadRequest(f"type: not one of {', '.join(SCHEDULED)}")
        if not sent.calendar_id:
            raise BadRequest("calendarId: needed")
        try:
            options = read_options(sent.attributes)
        except msgspec.ValidationError as error:
            raise BadRequest(f"attributes: {error}") from None
        if missing := options.missing(sent.type):
            raise BadRequest(f"attributes: a report of type {sent.type} needs {missing}")
        return sent

    async def insert(self, call: Call, transaction: Queries, new: ScheduledReport) -> ScheduledReport:
        """Store the record; events that ended before are ignored."""
        stored = await super().insert(call, transaction, new)
        await scheduled_reports.WATCHED.watch_from(transaction, stored.id, call.now)
        return stored

    async def update(
        self, call: Call, transaction: Queries, new: ScheduledReport, old: ScheduledReport
    ) -> ScheduledReport | None:
        """Store the record; of another calendar, events that ended before are ignored."""
        stored = await super().update(call, transaction, new, old)
        if stored is not None and stored.calendar_id != old.calendar_id:
            await scheduled_reports.WATCHED.watch_from(transaction, stored.id, call.now)
        return stored


SCHEDULED_REPORTS = Resource(
    name="report",
    path="reports",
    change=ScheduledReportChanged,
    policy=ScheduledReportPolicy(),
)
add_resource_operations(SCHEDULED_REPORTS, OPERATIONS)
