"""Companies, what they configure, and their tickets (docs/helpdesk.md)."""

from motorpool.api.engine.operations import Operation
from motorpool.api.resources.helpdesk import (
    branches,
    categories,
    companies,
    company_webhooks,
    contacts,
    defaults,
    priorities,
    statuses,
    teams,
    ticket_lists,
    ticket_reading,
    ticket_statistics,
    ticket_work,
    tickets,
)

__all__ = ["OPERATIONS"]

OPERATIONS: tuple[Operation, ...] = (
    *companies.OPERATIONS,
    *company_webhooks.OPERATIONS,
    *branches.OPERATIONS,
    *teams.OPERATIONS,
    *contacts.OPERATIONS,
    *categories.OPERATIONS,
    *priorities.OPERATIONS,
    *statuses.OPERATIONS,
    *defaults.OPERATIONS,
    *ticket_lists.OPERATIONS,
    *ticket_reading.OPERATIONS,
    *ticket_statistics.OPERATIONS,
    *tickets.OPERATIONS,
    *ticket_work.OPERATIONS,
)
