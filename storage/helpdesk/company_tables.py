"""Tables of companies and of what belongs to them, visible to the users linked to the company."""

from typing import Any, TypeVar

import msgspec

from motorpool.storage.accounts import links
from motorpool.storage.database.conditions import Condition
from motorpool.storage.database.tables import Table
from motorpool.storage.helpdesk import helpdesk_records as records

R = TypeVar("R", bound=msgspec.Struct)


def access_by_company(user_id: int) -> Condition:
    """Return the condition for rows of the companies that a user is linked to."""
    return Condition("company_id in (select company_id from user_company where user_id = {0})", (user_id,))


COMPANIES = Table(
    "companies",
    records.Company,
    keywords=("name", "unique_id"),
    access=links.access_by_link(links.USER_COMPANY),
    secrets=frozenset({"attributes"}),
)


def _table(
    name: str, record: type[R], *, keywords: tuple[str, ...] = ("name",), sort: str = "name"
) -> Table[R]:
    """Return a table of what companies configure."""
    immutable = frozenset({"company_id"})
    return Table(name, record, sort, keywords, access=access_by_company, immutable=immutable)


BRANCHES = _table("branches", records.Branch, keywords=("name", "unique_id"))
TEAMS = _table("teams", records.Team, keywords=("name", "unique_id"))
CONTACTS = _table("contacts", records.Contact, keywords=("name", "email", "phone", "unique_id"))
CATEGORIES = _table("ticket_categories", records.TicketCategory)
PRIORITIES = _table("ticket_priorities", records.TicketPriority, sort="level")
STATUSES = _table("ticket_statuses", records.TicketStatus, sort="sort_order")
CONFIGURED: tuple[Table[Any], ...] = (CATEGORIES, STATUSES, PRIORITIES, CONTACTS, TEAMS, BRANCHES)
"""All that companies configure; a table comes before those that its rows refer to."""
