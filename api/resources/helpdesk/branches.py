"""Branches of companies (docs/helpdesk.md#branches-teams-and-contacts)."""

from motorpool.api.engine.operations import Operations
from motorpool.api.engine.resource import Resource
from motorpool.api.engine.resource_operations import add_resource_operations
from motorpool.api.resources.helpdesk.company_policy import COMPANY_PARAMETERS, CompanyPolicy
from motorpool.storage import plain_tables
from motorpool.storage.helpdesk import company_tables
from motorpool.storage.helpdesk.helpdesk_records import Branch
from motorpool.storage.helpdesk.zone_pauses import BRANCH_ZONE

OPERATIONS = Operations("branches")


class BranchPolicy(CompanyPolicy[Branch]):
    """Deleted branches leave their tickets and contacts."""

    max_rows = 10_000
    cleared = "branch_id"
    audited_attributes = (BRANCH_ZONE,)


BRANCHES = Resource(
    name="branch",
    path="branches",
    policy=BranchPolicy(company_tables.BRANCHES, accessed={BRANCH_ZONE: plain_tables.GEOFENCES}),
    parameters=COMPANY_PARAMETERS,
)
add_resource_operations(BRANCHES, OPERATIONS)
