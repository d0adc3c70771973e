"""Branches of companies (docs/helpdesk.md#branches-teams-and-contacts)."""

from motorpool.api.resources.helpdesk.company_policy import CompanyPolicy, company_resource
from motorpool.storage import plain_tables
from motorpool.storage.helpdesk import company_tables
from motorpool.storage.helpdesk.helpdesk_records import Branch
from motorpool.storage.helpdesk.zone_pauses import BRANCH_ZONE


class BranchPolicy(CompanyPolicy[Branch]):
    """Deleted branches leave their tickets and contacts."""

    max_rows = 10_000
    cleared = "branch_id"
    audited_attributes = (BRANCH_ZONE,)


BRANCHES, OPERATIONS = company_resource(
    "branch",
    "branches",
    BranchPolicy(company_tables.BRANCHES, accessed={BRANCH_ZONE: plain_tables.GEOFENCES}),
)
