"""Contacts of companies: the people on whose behalf tickets are handled
(docs/helpdesk.md#branches-teams-and-contacts).
"""

from motorpool.api.engine.call import Call
from motorpool.api.engine.list_parameters import ListParameters
from motorpool.api.http.errors import BadRequest
from motorpool.api.resources.helpdesk.company_policy import CompanyPolicy, company_resource, narrowed
from motorpool.api.resources.linked_policy import may_see_user
from motorpool.codecs.calendars.time_zones import find_zone
from motorpool.storage import plain_tables
from motorpool.storage.accounts import users
from motorpool.storage.database.conditions import Condition
from motorpool.storage.database.queries import Queries
from motorpool.storage.database.tables import ListQuery
from motorpool.storage.helpdesk import companies, company_tables
from motorpool.storage.helpdesk.helpdesk_records import Contact


class ContactPolicy(CompanyPolicy[Contact]):
    """Agents write them as well."""

    max_rows = 100_000
    cleared = "contact_id"
    agents_write = True

    def __init__(self) -> None:
        super().__init__(
            company_tables.CONTACTS,
            own={"branch_id": company_tables.BRANCHES},
            references={"driver_id": plain_tables.DRIVERS},
        )

    async def list_query(self, call: Call, parameters: ListParameters) -> ListQuery:
        """Add the filters `branchId` and `uniqueId`."""
        query = await super().list_query(call, parameters)
        if parameters.branch_id is not None:
            query = narrowed(query, Condition("coalesce(branch_id, 0) = {0}", (parameters.branch_id,)))
        if parameters.unique_id:
            query = narrowed(query, Condition("unique_id = any({0}::text[])", (list(parameters.unique_id),)))
        return query

    async def validate(self, sent: Contact) -> Contact:
        """Check the time zone."""
        if sent.timezone and find_zone(sent.timezone) is None:
            raise BadRequest("timezone: not a known time zone, see GET /server/timezones")
        return sent

    async def prepare(self, call: Call, transaction: Queries, new: Contact, old: Contact | None) -> Contact:
        """Also check the user: linked to the company, or managed by the caller."""
        new = await super().prepare(call, transaction, new, old)
        if new.user_id and (old is None or new.user_id != old.user_id):
            linked = (await companies.membership(transaction, new.user_id, new.company_id)).linked
            may_see = linked or await may_see_user(call, transaction, new.user_id)
            if not may_see or await users.TABLE.fetch(transaction, new.user_id) is None:
                raise BadRequest("userId: no access to it, or no such")
        return new


CONTACTS, OPERATIONS = company_resource(
    "contact", "contacts", ContactPolicy(), parameters=frozenset({"branch_id", "unique_id"})
)
