"""Moving a ticket through the workflow (docs/tickets.md#workflow)."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from motorpool.actors.helpdesk.comment import add_comment
from motorpool.actors.helpdesk.draft import Draft
from motorpool.actors.helpdesk.facts import Author, Outcome, TicketFacts, usable
from motorpool.actors.helpdesk.settle import settle_first
from motorpool.actors.helpdesk.status_moves import move_to, require_next


def transition(
    facts: TicketFacts,
    author: Author,
    now: datetime,
    *,
    status_id: int,
    comment: str = "",
    internal: bool = False,
    attributes: Mapping[str, Any] | None = None,
) -> Outcome:
    """Return the ticket with the comment, if there is one, and then in another status.

    Without a comment the present status changes nothing. `attributes` go into the history.

    Raises:
        TicketRefused: There is no such status, or it may not follow the present one.
    """
    draft = Draft(facts, author, now)
    if status_id == draft.ticket.status_id and not comment:
        return draft.finish()
    settle_first(draft)
    if status_id != draft.ticket.status_id:
        status = usable("status", status_id, draft.setup.statuses)
        require_next(draft, status)
    if comment:
        add_comment(draft, comment, internal=internal, moves_status=False)
    if status_id != draft.ticket.status_id:
        move_to(draft, status, attributes)
    return draft.finish()
