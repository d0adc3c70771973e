"""Applies what has fallen due on a ticket: warnings, breaches with their escalation, the automatic close
(docs/tickets.md#what-falls-due).
"""

from datetime import datetime, timedelta
from typing import Any

from motorpool.actors.helpdesk import service_levels
from motorpool.actors.helpdesk.draft import Draft, auto_close_at
from motorpool.actors.helpdesk.escalation import escalate, note_settled
from motorpool.actors.helpdesk.facts import SYSTEM, Breach, FieldChange, Notice, Outcome, TicketFacts
from motorpool.actors.helpdesk.service_levels import Occurrence
from motorpool.actors.helpdesk.status_moves import move_to
from motorpool.actors.helpdesk.times import format_seconds

LATE = timedelta(minutes=1)
"""Whatever is found this long after it was due is marked as late: no server was running."""


def settle(facts: TicketFacts, now: datetime, *, reason: str = "") -> Outcome:
    """Apply what fell due until now to the ticket; the outcome has no entries if nothing did.

    If the priority or the business hours were edited, the open due times are computed anew. `reason` names
    the edit in the history, "priority" or "calendar"; by default what the levels show.
    """
    draft = Draft(facts, SYSTEM, now)
    settle_first(draft, reason=reason)
    return draft.finish()


def settle_first(draft: Draft, *, reason: str = "") -> None:
    """Bring a ticket up to the present, before anything is changed: acts count from when they are done."""
    author, draft.author = draft.author, SYSTEM
    while found := _settle_levels(draft, reason):
        breached = {occurrence.target for occurrence in found if occurrence.is_breach}
        for occurrence in found:
            if occurrence.is_breach:
                _breach(draft, occurrence)
            else:
                _warn(draft, occurrence, is_moot=occurrence.target in breached)
        if any(occurrence.is_breach for occurrence in found) and draft.ticket.escalated_at is None:
            # The new priority may have a warning that is due already.
            escalate(draft)
    closes = auto_close_at(draft.ticket, draft.setup)
    if closes is not None and closes <= draft.now:
        status = draft.setup.first_status("closed", after=draft.status)
        assert status is not None
        move_to(draft, status, {"reason": "autoClose"})
    draft.author = author


def _settle_levels(draft: Draft, reason: str) -> tuple[Occurrence, ...]:
    levels = draft.first_response, draft.resolution
    (first_response, resolution), found = service_levels.settle(levels, draft.clocks, draft.now)
    draft.first_response = note_settled(
        draft, "firstResponseDue", draft.first_response, first_response, reason
    )
    draft.resolution = note_settled(draft, "resolutionDue", draft.resolution, resolution, reason)
    return found


def _breach(draft: Draft, occurrence: Occurrence) -> None:
    attributes: dict[str, Any] = {
        "target": occurrence.target,
        "due": format_seconds(occurrence.at),
        "detectedAt": format_seconds(draft.now),
    }
    if draft.now - occurrence.at >= LATE:
        attributes["late"] = True
    entry = draft.enter("slaBreached", event_time=occurrence.at, attributes=attributes)
    draft.breaches.append(Breach(occurrence.target, occurrence.at))
    change = FieldChange(f"{occurrence.target}Breached", before=False, after=True)
    draft.add_message("ticket.sla_breached", entry, change)
    if draft.ticket.assignee_id:
        draft.notices.append(Notice("ticketBreached", draft.ticket.assignee_id))


def _warn(draft: Draft, occurrence: Occurrence, *, is_moot: bool) -> None:
    """Warn of a target; of one that has been breached meanwhile nobody needs to be."""
    draft.breaches.append(Breach(f"{occurrence.target} warning", occurrence.at))
    if is_moot:
        return
    level = draft.first_response if occurrence.target == "firstResponse" else draft.resolution
    due = level.due
    attributes = {"target": occurrence.target, "due": format_seconds(due) if due else None}
    entry = draft.enter("slaWarning", event_time=occurrence.at, attributes=attributes)
    draft.add_message("ticket.sla_warning", entry)
