"""Categories of tickets, which are a tree (docs/helpdesk.md#categories)."""

from motorpool.api.engine.call import Call
from motorpool.api.http.errors import BadRequest
from motorpool.api.resources.helpdesk.company_policy import (
    CompanyPolicy,
    company_resource,
    reference_of,
    require_access,
)
from motorpool.storage import plain_tables
from motorpool.storage.database.queries import Queries
from motorpool.storage.helpdesk import company_tables, configuration_uses
from motorpool.storage.helpdesk.helpdesk_records import TicketCategory
from motorpool.storage.helpdesk.zone_pauses import BRANCH, CATEGORY_ZONE


class CategoryPolicy(CompanyPolicy[TicketCategory]):
    """Refuses cycles. Categories below a deleted one become roots."""

    max_rows = 2000
    counted = "category_id"
    audited_attributes = (CATEGORY_ZONE,)

    async def prepare(
        self, call: Call, transaction: Queries, new: TicketCategory, old: TicketCategory | None
    ) -> TicketCategory:
        """Check that the category is not its own ancestor, and the zone."""
        new = await super().prepare(call, transaction, new, old)
        held = None if old is None else old.attributes.get(CATEGORY_ZONE)
        place = f"attributes.{CATEGORY_ZONE}"
        if new.attributes.get(CATEGORY_ZONE) != BRANCH:
            geofence_id = reference_of(new, CATEGORY_ZONE)
            await require_access(call, transaction, plain_tables.GEOFENCES, place, geofence_id, held)
        moved = old is not None and new.parent_id and new.parent_id != old.parent_id
        if moved and await configuration_uses.category_lies_in(transaction, new.parent_id, new.id):
            raise BadRequest("parentId: the category would lie below itself")
        return new


CATEGORIES, OPERATIONS = company_resource(
    "ticketCategory",
    "ticketcategories",
    CategoryPolicy(
        company_tables.CATEGORIES,
        own={
            "parent_id": company_tables.CATEGORIES,
            "team_id": company_tables.TEAMS,
            "priority_id": company_tables.PRIORITIES,
        },
    ),
)
