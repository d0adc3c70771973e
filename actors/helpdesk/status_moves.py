"""A move of a ticket from one status to another: instants, pauses, clocks (docs/tickets.md#statuses)."""

from collections.abc import Mapping
from typing import Any

import msgspec

from motorpool.actors.helpdesk import service_levels
from motorpool.actors.helpdesk.draft import Draft
from motorpool.actors.helpdesk.escalation import note_terms
from motorpool.actors.helpdesk.facts import LIVE_KINDS, FieldChange, TicketRefused, may_follow
from motorpool.actors.helpdesk.zone_pause import end_zone_pause
from motorpool.storage.helpdesk.helpdesk_records import TicketPause, TicketStatus

MAX_PAUSES = 1000
"""Pauses of a ticket from which on it is only closed or cancelled: each change reads all of them."""

DONE_KINDS = frozenset({"resolved", "closed"})
ENDED_KINDS = frozenset({"closed", "cancelled"})
AUTHOR_KEYS = frozenset({"userName", "byUserId", "requestId"})
"""Attributes of entries in the history that name their author."""
RUNNING_KINDS = frozenset({"new", "open"})
"""Kinds in which the resolution clock runs."""


def require_next(draft: Draft, status: TicketStatus) -> None:
    """Raise TicketRefused if the workflow does not allow this status after the present one.

    Nor is a ticket with too many pauses moved, except that it is closed or cancelled, once.
    """
    present = draft.status
    if len(draft.pauses) >= MAX_PAUSES and (present.kind in ENDED_KINDS or status.kind not in ENDED_KINDS):
        raise TicketRefused(
            f"the ticket was paused {MAX_PAUSES} times; close it and open a new one with parentId"
        )
    if may_follow(present, status.id):
        return
    if not present.attributes["next"]:
        raise TicketRefused(f"status {present.name} is final")
    raise TicketRefused(f"status {present.id} cannot move to {status.id}")


def move_to(draft: Draft, status: TicketStatus, attributes: Mapping[str, Any] | None = None) -> None:
    """Move to another status, whatever the workflow says.

    `attributes` are the client's. They go into the history, but do not say who did it.
    """
    old = draft.status
    before, after = old.kind, status.kind
    names = {"fromName": old.name, "toName": status.name, "fromKind": before, "toKind": after}
    change = FieldChange("statusId", old.id, status.id)
    sent = {key: value for key, value in (attributes or {}).items() if key not in AUTHOR_KEYS}
    entry = draft.enter("statusChanged", change=change, attributes={**sent, **names})
    draft.set(status_id=status.id, status_kind=after, status_changed_at=draft.now)
    is_reopened = before not in LIVE_KINDS and after in LIVE_KINDS
    if after in DONE_KINDS and draft.ticket.resolved_at is None:
        _resolve(draft, responds=after == "resolved" or before in LIVE_KINDS)
    _set_instants(draft, before, after)
    _pause_or_resume(draft, before, status)
    if after not in LIVE_KINDS:
        end_zone_pause(draft)
    if is_reopened:
        draft.set(
            resolved_at=None,
            closed_at=None,
            reopened_at=draft.now,
            reopen_count=draft.ticket.reopen_count + 1,
        )
        draft.enter("reopened")
    _move_clocks(draft, is_reopened=is_reopened)
    kind_change = () if before == after else (FieldChange("statusKind", before, after),)
    draft.add_message("ticket.status_changed", entry, change, *kind_change)


def _resolve(draft: Draft, *, responds: bool) -> None:
    """Stop the clocks. Who resolves a ticket without a response has responded."""
    first, resolution = draft.clocks
    if responds and draft.ticket.first_response_at is None:
        draft.set(first_response_at=draft.now)
        draft.first_response = service_levels.complete(draft.first_response, first, draft.now)
        draft.enter("firstResponse", attributes={"reason": "resolved"})
    draft.resolution = service_levels.complete(draft.resolution, resolution, draft.now)


def _set_instants(draft: Draft, before: str, after: str) -> None:
    if after in DONE_KINDS:
        draft.set(resolved_at=draft.ticket.resolved_at or draft.now)
    if after in ENDED_KINDS:
        keeps = before == after and draft.ticket.closed_at is not None
        draft.set(closed_at=draft.ticket.closed_at if keeps else draft.now)
    elif after == "resolved":
        draft.set(closed_at=None)


def _pause_or_resume(draft: Draft, before: str, status: TicketStatus) -> None:
    """End the pause of the previous status, and begin the pause of the new one."""
    for index, pause in enumerate(draft.pauses):
        if pause.ends is None and pause.reason == before:
            draft.pauses[index] = msgspec.structs.replace(pause, ends=max(pause.begins, draft.now))
    if status.kind not in RUNNING_KINDS:
        draft.pauses.append(TicketPause(draft.now, None, status.id, status.kind))
    if (before == "pending") != (status.kind == "pending"):
        draft.enter("slaPaused" if status.kind == "pending" else "slaResumed")


def _move_clocks(draft: Draft, *, is_reopened: bool) -> None:
    first, resolution = draft.clocks
    moved = service_levels.move(draft.first_response, first, draft.now)
    draft.first_response = note_terms(draft, "firstResponseDue", draft.first_response, moved)
    change = service_levels.reopen if is_reopened else service_levels.move
    moved = change(draft.resolution, resolution, draft.now)
    draft.resolution = note_terms(draft, "resolutionDue", draft.resolution, moved)
