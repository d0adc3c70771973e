"""Branches of companies (docs/helpdesk.md#branches-teams-and-contacts)."""

from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import Operations
from motorpool.api.engine.resource import Resource
from motorpool.api.engine.resource_operations import add_resource_operations
from motorpool.api.resources.helpdesk.cleared_references import clear_references
from motorpool.api.resources.helpdesk.company_policy import (
    COMPANY_PARAMETERS,
    CompanyPolicy,
    reference_of,
    require_access,
)
from motorpool.storage import plain_tables
from motorpool.storage.database.queries import Queries
from motorpool.storage.helpdesk import company_tables
from motorpool.storage.helpdesk.helpdesk_records import Branch
from motorpool.storage.helpdesk.zone_pauses import BRANCH_ZONE

OPERATIONS = Operations("branches")


class BranchPolicy(CompanyPolicy[Branch]):
    """Checks the zone; deleted branches leave their tickets."""

    max_rows = 10_000

    audited_attributes = (BRANCH_ZONE,)

    async def prepare(self, call: Call, transaction: Queries, new: Branch, old: Branch | None) -> Branch:
        """Check the geofence of the branch."""
        new = await super().prepare(call, transaction, new, old)
        held = None if old is None else old.attributes.get(BRANCH_ZONE)
        geofence_id = reference_of(new, BRANCH_ZONE)
        place = f"attributes.{BRANCH_ZONE}"
        await require_access(call, transaction, plain_tables.GEOFENCES, place, geofence_id, held)
        return new

    async def delete(self, call: Call, transaction: Queries, old: Branch) -> None:
        """Delete; its tickets and contacts are then of no branch."""
        await clear_references(
            call, transaction, "branch_id", old.id, company_id=old.company_id, name=old.name
        )
        await super().delete(call, transaction, old)


BRANCHES = Resource(
    name="branch",
    path="branches",
    policy=BranchPolicy(company_tables.BRANCHES),
    parameters=COMPANY_PARAMETERS,
)
add_resource_operations(BRANCHES, OPERATIONS)
