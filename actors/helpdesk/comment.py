"""Comments, by agents and by contacts (docs/tickets.md#comments)."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from motorpool.actors.helpdesk import service_levels
from motorpool.actors.helpdesk.draft import Draft
from motorpool.actors.helpdesk.facts import Author, Outcome, TicketFacts, TicketRefused, usable
from motorpool.actors.helpdesk.settle import settle_first
from motorpool.actors.helpdesk.status_moves import ENDED_KINDS, move_to, require_next
from motorpool.storage.helpdesk.helpdesk_records import TicketEvent, TicketStatus

REOPEN_DAYS = "reopenDays"
"""The attribute of a company: days within which a contact's comment reopens a resolved ticket."""
DEFAULT_REOPEN_DAYS = 14


def comment(
    facts: TicketFacts,
    author: Author,
    now: datetime,
    *,
    text: str,
    internal: bool = False,
    on_behalf_of_contact: bool = False,
    status_id: int = 0,
    evidence: Sequence[Mapping[str, Any]] = (),
) -> Outcome:
    """Return the ticket with a comment and evidence, and then moved to a status if one is given.

    Raises:
        TicketRefused: A rule forbids the comment or the status.
    """
    draft = Draft(facts, author, now)
    settle_first(draft)
    moves = bool(status_id) and status_id != draft.ticket.status_id
    status = usable("status", status_id, draft.setup.statuses) if moves else None
    add_comment(
        draft,
        text,
        internal=internal,
        on_behalf_of_contact=on_behalf_of_contact,
        moves_status=status is None,
    )
    for each in evidence:
        draft.enter("evidence", internal=internal, attributes=each)
    if status is not None:
        require_next(draft, status)
        move_to(draft, status)
    return draft.finish()


def add_comment(
    draft: Draft,
    text: str,
    *,
    internal: bool = False,
    on_behalf_of_contact: bool = False,
    attributes: Mapping[str, Any] | None = None,
    moves_status: bool = True,
) -> TicketEvent:
    """Add a comment. One of the contact may move the status, unless the request names a status itself."""
    author = draft.author
    if internal and on_behalf_of_contact:
        raise TicketRefused("internal: words of the contact are public")
    by_contact = not internal and (on_behalf_of_contact or (author.kind == "user" and not author.is_agent))
    noted = dict(attributes or {})
    if by_contact and moves_status:
        noted |= _why_status_stays(draft)
    entry = draft.enter(
        "comment",
        text=text,
        internal=internal,
        author=Author("contact", author.user_id, attributes=author.attributes) if by_contact else author,
        contact_id=draft.ticket.contact_id if on_behalf_of_contact else 0,
        attributes=noted,
    )
    draft.set(comment_count=draft.ticket.comment_count + 1)
    if by_contact:
        draft.set(last_contact_at=draft.now)
    elif not internal and author.is_agent:
        _respond(draft)
    draft.add_message("ticket.noted" if internal else "ticket.commented", entry)
    if by_contact and moves_status:
        following = _status_after_contact(draft)
        if following is not None:
            move_to(draft, following, {"reason": "contactComment"})
    return entry


def _respond(draft: Draft) -> None:
    """A public comment of an agent: the first one is the first response, unless the ticket is cancelled."""
    draft.set(last_agent_at=draft.now)
    if draft.ticket.first_response_at is None and draft.ticket.status_kind != "cancelled":
        draft.set(first_response_at=draft.now)
        first, _ = draft.clocks
        draft.first_response = service_levels.complete(draft.first_response, first, draft.now)
        draft.enter("firstResponse")


def _status_after_contact(draft: Draft) -> TicketStatus | None:
    """Return the status that a comment of the contact moves the ticket to."""
    if draft.ticket.status_kind not in {"pending", "resolved"}:
        return None
    return draft.setup.first_status("open", after=draft.status)


def _why_status_stays(draft: Draft) -> dict[str, str]:
    """Check that the contact may still write; return what the entry says where the status cannot move."""
    ticket = draft.ticket
    if ticket.status_kind in ENDED_KINDS or _is_too_late(draft):
        raise TicketRefused("ticket is closed; open a new one with parentId")
    if ticket.status_kind in {"pending", "resolved"} and _status_after_contact(draft) is None:
        return {"reason": "no open status may follow"}
    return {}


def _is_too_late(draft: Draft) -> bool:
    """Whether a resolved ticket is not reopened by the contact any more."""
    ticket = draft.ticket
    if ticket.status_kind != "resolved" or ticket.resolved_at is None:
        return False
    days = draft.setup.days(REOPEN_DAYS, DEFAULT_REOPEN_DAYS)
    return draft.now > ticket.resolved_at + timedelta(days=days)
