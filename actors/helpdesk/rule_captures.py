"""The capture that a rule asks for when it opens a ticket (docs/ticket-rules.md#video)."""

from datetime import datetime, timedelta

from motorpool.actors.helpdesk.ticket_rules import RuleCapture, TicketRule
from motorpool.storage.helpdesk.helpdesk_records import Ticket
from motorpool.storage.helpdesk.ticket_captures import TicketCapture
from motorpool.storage.records import Event

RECORDING_DELAY = timedelta(seconds=10)
"""After the end of the span: devices list a recording when they have closed its file."""
LIVE_PATIENCE = timedelta(seconds=60)
"""Later live video does not show what has happened."""


def capture_of(
    rule: TicketRule, wanted: RuleCapture, event: Event, ticket: Ticket, patience: timedelta, *, now: datetime
) -> TicketCapture:
    """Return the capture of a new ticket; one of a recording waits for its device as long as `patience`."""
    before, after = timedelta(seconds=wanted.before_seconds), timedelta(seconds=wanted.after_seconds)
    at = now if wanted.live else min(event.event_time, now)
    not_before = now if wanted.live else max(now, at + after + RECORDING_DELAY)
    return TicketCapture(
        company_id=ticket.company_id,
        ticket_id=ticket.id,
        device_id=event.device_id,
        channel=wanted.channel,
        begins=at - before,
        ends=at + after,
        not_before=not_before,
        expires=not_before + (LIVE_PATIENCE if wanted.live else patience),
        live=wanted.live,
        rule=rule.id,
        rule_name=rule.name,
        user_id=rule.user_id,
    )
