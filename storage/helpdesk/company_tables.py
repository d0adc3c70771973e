"""Tables of companies and of what belongs to them, visible to the users linked to the company."""

from motorpool.storage.accounts import links
from motorpool.storage.database.conditions import Condition
from motorpool.storage.database.tables import Table
from motorpool.storage.helpdesk.helpdesk_records import (
    Branch,
    Company,
    Contact,
    Team,
    TicketCategory,
    TicketPriority,
    TicketStatus,
)


def access_by_company(user_id: int) -> Condition:
    """Return the condition for rows of the companies that a user is linked to."""
    return Condition("company_id in (select company_id from user_company where user_id = {0})", (user_id,))


COMPANIES = Table(
    "companies",
    Company,
    keywords=("name", "unique_id"),
    access=links.access_by_link(links.USER_COMPANY),
)
BRANCHES = Table(
    "branches",
    Branch,
    keywords=("name", "unique_id"),
    access=access_by_company,
    immutable=frozenset({"company_id"}),
)
TEAMS = Table(
    "teams",
    Team,
    keywords=("name", "unique_id"),
    access=access_by_company,
    immutable=frozenset({"company_id"}),
)
CONTACTS = Table(
    "contacts",
    Contact,
    keywords=("name", "email", "phone", "unique_id"),
    access=access_by_company,
    immutable=frozenset({"company_id"}),
)
CATEGORIES = Table(
    "ticket_categories", TicketCategory, access=access_by_company, immutable=frozenset({"company_id"})
)
PRIORITIES = Table(
    "ticket_priorities",
    TicketPriority,
    sort="level",
    access=access_by_company,
    immutable=frozenset({"company_id"}),
)
STATUSES = Table(
    "ticket_statuses",
    TicketStatus,
    sort="sort_order",
    access=access_by_company,
    immutable=frozenset({"company_id"}),
)
