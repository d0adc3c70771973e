"""Priorities of tickets and their service levels (docs/helpdesk.md#priorities)."""

from motorpool.actors.helpdesk.business_calendars import HOLIDAYS
from motorpool.actors.helpdesk.escalation import ESCALATE_PRIORITY, ESCALATE_TEAM
from motorpool.actors.messages.changes import TicketPriorityChanged
from motorpool.api.engine.call import Call
from motorpool.api.http.errors import BadRequest
from motorpool.api.resources.helpdesk.company_policy import (
    CompanyPolicy,
    company_resource,
    reference_of,
    whole_number,
)
from motorpool.storage import plain_tables
from motorpool.storage.database.queries import Queries
from motorpool.storage.helpdesk import company_tables, configuration_uses, ticket_setups
from motorpool.storage.helpdesk.helpdesk_records import TicketPriority

MAX_MINUTES = 525_600
"""A year."""


class PriorityPolicy(CompanyPolicy[TicketPriority]):
    """Refuses cycles of escalation, and the deletion of what tickets use."""

    max_rows = 200
    counted = "priority_id"
    privileged = ("level", "first_response_minutes", "resolution_minutes", "calendar_id", "disabled")
    audited_attributes = ticket_setups.PRIORITY_KEYS

    def __init__(self) -> None:
        super().__init__(
            company_tables.PRIORITIES,
            own={ESCALATE_TEAM: company_tables.TEAMS, ESCALATE_PRIORITY: company_tables.PRIORITIES},
            accessed={"calendar_id": plain_tables.CALENDARS, HOLIDAYS: plain_tables.CALENDARS},
            required=("level",),
        )

    async def validate(self, sent: TicketPriority) -> TicketPriority:
        """Check the numbers."""
        if not sent.level:
            raise BadRequest("level: needed")
        for key in (ESCALATE_TEAM, ESCALATE_PRIORITY, HOLIDAYS):
            reference_of(sent, key)
        whole_number(sent, "maxPauseMinutes", MAX_MINUTES)
        whole_number(sent, "warnPercent", 100)
        if not isinstance(sent.attributes.get("pauseFirstResponse", False), bool):
            raise BadRequest("attributes.pauseFirstResponse: not true or false")
        return sent

    async def prepare(
        self, call: Call, transaction: Queries, new: TicketPriority, old: TicketPriority | None
    ) -> TicketPriority:
        """Check that tickets cannot escalate in a circle."""
        new = await super().prepare(call, transaction, new, old)
        next_id = reference_of(new, ESCALATE_PRIORITY)
        if old is not None and next_id and next_id != old.attributes.get(ESCALATE_PRIORITY):
            if next_id == new.id:
                raise BadRequest(f"attributes.{ESCALATE_PRIORITY}: the priority itself")
            if await configuration_uses.escalates_to(transaction, next_id, new.id):
                raise BadRequest(f"attributes.{ESCALATE_PRIORITY}: it escalates back to this priority")
        return new

    async def delete(self, call: Call, transaction: Queries, old: TicketPriority) -> None:
        """Delete; nothing escalates to it any more, and categories lose it."""
        await super().delete(call, transaction, old)
        await configuration_uses.forget_escalation(transaction, old.company_id, ESCALATE_PRIORITY, old.id)


PRIORITIES, OPERATIONS = company_resource(
    "ticketPriority", "ticketpriorities", PriorityPolicy(), change=TicketPriorityChanged
)
