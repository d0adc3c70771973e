"""What is added to a ticket as evidence: events of its device, and what they leave behind."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from motorpool.actors.helpdesk.comment import add_comment
from motorpool.actors.helpdesk.draft import Draft
from motorpool.actors.helpdesk.facts import Author, Outcome, TicketFacts
from motorpool.actors.helpdesk.settle import settle_first


def add_evidence(
    facts: TicketFacts,
    author: Author,
    now: datetime,
    attributes: Mapping[str, Any] | None,
    *,
    internal: bool = True,
    note: str = "",
    note_attributes: Mapping[str, Any] | None = None,
) -> Outcome:
    """Return the ticket with an entry `evidence`, and then with an internal comment.

    Without `attributes` there is no entry, without `note` no comment. `internal` hides the entry from all but
    agents. No clock and no status changes.
    """
    draft = Draft(facts, author, now)
    settle_first(draft)
    if attributes is not None:
        draft.add_message("ticket.noted", draft.enter("evidence", internal=internal, attributes=attributes))
    if note:
        add_comment(draft, note, internal=True, attributes=note_attributes)
    return draft.finish()
