"""What the caller is in a company (docs/helpdesk.md#who-may-do-what)."""

import msgspec

from motorpool.api.engine.call import Call
from motorpool.api.http.errors import BadRequest
from motorpool.storage import companies
from motorpool.storage.companies import Standing
from motorpool.storage.queries import Queries

__all__ = ["no_company", "require_linked", "require_manager", "standing_of", "standings_of"]

_ADMINISTRATOR = Standing(linked=True, agent=True, manager=True)


def no_company() -> BadRequest:
    """Return the error for a company that does not exist, or that the caller is not linked to."""
    return BadRequest("no access to the company, or no such")


def require_linked(standing: Standing) -> None:
    """Raise BadRequest unless the caller may read what belongs to the company."""
    if not standing.linked:
        raise no_company()


def require_manager(standing: Standing) -> None:
    """Raise BadRequest unless the caller configures the company."""
    require_linked(standing)
    if not standing.manager:
        raise BadRequest("only managers of the company may do this")


async def standing_of(call: Call, company_id: int, queries: Queries | None = None) -> Standing:
    """Return what the caller is in a company, which need not exist if they are an administrator.

    Administrators may do everything; read-only users only read.
    """
    if call.caller.administrator:
        return _ADMINISTRATOR
    found = await companies.standing(queries or call.context.database, call.caller.id, company_id)
    return _restricted(call, found)


async def standings_of(call: Call, queries: Queries | None = None) -> dict[int, Standing]:
    """Return what the caller is in each company that they are linked to, by its id."""
    found = await companies.standings(queries or call.context.database, call.caller.id)
    if call.caller.administrator:
        return dict.fromkeys(found, _ADMINISTRATOR)
    return {company_id: _restricted(call, standing) for company_id, standing in found.items()}


def _restricted(call: Call, standing: Standing) -> Standing:
    if call.caller.readonly:
        return msgspec.structs.replace(standing, agent=False, manager=False)
    return standing
