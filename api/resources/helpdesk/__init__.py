"""Companies, what they configure, and their tickets (docs/helpdesk.md)."""

from motorpool.api.engine.operations import Operation
from motorpool.api.resources.helpdesk import (
    branches,
    categories,
    companies,
    contacts,
    defaults,
    priorities,
    statuses,
    teams,
)

__all__ = ["OPERATIONS"]

OPERATIONS: tuple[Operation, ...] = (
    *companies.OPERATIONS,
    *branches.OPERATIONS,
    *teams.OPERATIONS,
    *contacts.OPERATIONS,
    *categories.OPERATIONS,
    *priorities.OPERATIONS,
    *statuses.OPERATIONS,
    *defaults.OPERATIONS,
)
