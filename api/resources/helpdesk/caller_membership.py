"""What the caller is in a company (docs/helpdesk.md#who-may-do-what)."""

import msgspec

from motorpool.api.engine.call import Call
from motorpool.api.http.errors import BadRequest
from motorpool.storage.database.queries import Queries
from motorpool.storage.helpdesk import companies
from motorpool.storage.helpdesk.companies import Membership

_ADMINISTRATOR = Membership(linked=True, agent=True, manager=True)


def no_company() -> BadRequest:
    """Return the error for a company that does not exist, or that the caller is not linked to."""
    return BadRequest("no access to the company, or no such", is_refusal=True)


def require_linked(membership: Membership) -> None:
    """Raise BadRequest unless the caller may read what belongs to the company."""
    if not membership.linked:
        raise no_company()


def require_manager(membership: Membership) -> None:
    """Raise BadRequest unless the caller configures the company."""
    require_linked(membership)
    if not membership.manager:
        raise BadRequest("only managers of the company may do this", is_refusal=True)


async def membership_of(call: Call, company_id: int, queries: Queries | None = None) -> Membership:
    """Return what the caller is in a company, which need not exist if they are an administrator.

    Administrators may do everything; read-only users only read.
    """
    if call.caller.administrator:
        return _ADMINISTRATOR
    found = await companies.membership(queries or call.context.database, call.caller.id, company_id)
    return _restricted(call, found)


async def memberships_of(call: Call, queries: Queries | None = None) -> dict[int, Membership]:
    """Return what the caller is in each company that they are linked to, by its id."""
    found = await companies.memberships(queries or call.context.database, call.caller.id)
    if call.caller.administrator:
        return dict.fromkeys(found, _ADMINISTRATOR)
    return {company_id: _restricted(call, membership) for company_id, membership in found.items()}


def _restricted(call: Call, membership: Membership) -> Membership:
    if call.caller.readonly:
        return msgspec.structs.replace(membership, agent=False, manager=False)
    return membership
