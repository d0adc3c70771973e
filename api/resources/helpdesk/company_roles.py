"""What the caller is in which company (docs/helpdesk.md#who-may-do-what)."""

from typing import Literal

import msgspec
from quart import Response

from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import Operations
from motorpool.api.http.responses import as_json
from motorpool.api.resources.helpdesk.caller_membership import memberships_of
from motorpool.storage.helpdesk.companies import Membership

OPERATIONS = Operations("companies")

Role = Literal["administrator", "manager", "agent", "linked"]


class CompanyRole(msgspec.Struct, frozen=True, rename="camel"):
    """What the caller is in a company."""

    company_id: int
    """The company."""
    role: Role
    """What they may do in it: `administrator`, `manager`, `agent`, or `linked` and no more."""


@OPERATIONS.operation("GET", "/companies/roles", answer=list[CompanyRole])
async def list_company_roles(call: Call) -> Response:
    """The companies that the caller is linked to, and what the caller may do in each."""
    found = await memberships_of(call)
    administrator = call.caller.administrator
    return as_json(
        [
            CompanyRole(company_id, "administrator" if administrator else _role_of(membership))
            for company_id, membership in sorted(found.items())
        ]
    )


def _role_of(membership: Membership) -> Role:
    if membership.manager:
        return "manager"
    return "agent" if membership.agent else "linked"
