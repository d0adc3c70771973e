"""Due times of a ticket computed again, when its priority or a calendar was edited."""

from datetime import datetime

from motorpool.actors.tickets.draft import Draft
from motorpool.actors.tickets.escalation import change_terms
from motorpool.actors.tickets.facts import SYSTEM, Outcome, TicketFacts
from motorpool.actors.tickets.settle import settle_first

__all__ = ["recalculate"]


def recalculate(facts: TicketFacts, now: datetime, *, reason: str = "calendar") -> Outcome:
    """Return the ticket with its open due times by the present priority and business hours.

    What fell due before is settled first, by the due times that were promised. `reason` is "priority" or
    "calendar", for the history.
    """
    draft = Draft(facts, SYSTEM, now)
    settle_first(draft, reason=reason)
    change_terms(draft, reason)
    return draft.finish()
