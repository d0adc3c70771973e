"""Links of users to companies and teams: who may make them, and what follows from them
(docs/helpdesk.md#links).
"""

from collections.abc import Collection, Sequence

from motorpool.actors.messages.changes import LinkChanged
from motorpool.api.engine.audit import record_action
from motorpool.api.engine.call import Call
from motorpool.api.http.errors import BadRequest
from motorpool.api.resources.helpdesk.caller_membership import memberships_of
from motorpool.storage.accounts import links
from motorpool.storage.accounts.links import LinkType
from motorpool.storage.database.conditions import Condition
from motorpool.storage.database.queries import Queries
from motorpool.storage.database.tables import ListQuery
from motorpool.storage.helpdesk import companies, company_tables, teams

MEMBERSHIPS = (links.USER_COMPANY, links.USER_TEAM)
"""The links that only managers of the company and administrators make and end."""


async def managed(call: Call, transaction: Queries, pair: LinkType, ids: Collection[int]) -> set[int]:
    """Return which of these companies, or teams, the caller manages, and lock their configuration."""
    if pair is links.USER_COMPANY:
        known = Condition("id = any({0}::bigint[])", (list(ids),))
        found = await company_tables.COMPANIES.ids(transaction, ListQuery(conditions=(known,)))
        company_of = {company_id: company_id for company_id in found}
    else:
        company_of = await teams.companies_of(transaction, ids)
    if not call.caller.administrator:
        memberships = await memberships_of(call, transaction)
        company_of = {
            number: company_id
            for number, company_id in company_of.items()
            if company_id in memberships and memberships[company_id].manager
        }
    for company_id in sorted(set(company_of.values())):
        await companies.lock_configuration(transaction, company_id)
    return set(company_of)


async def change_links(
    call: Call, transaction: Queries, pair: LinkType, pairs: Sequence[tuple[int, int]], *, add: bool
) -> list[LinkChanged]:
    """Add or remove links with their audit rows; return the facts to publish after the commit.

    Members of a team become linked to its company; who is no longer linked to a company leaves its teams.

    Raises:
        BadRequest: The last manager of a company would leave it.
    """
    await (links.add_many if add else links.remove_many)(transaction, pair, pairs)
    if pair is links.USER_COMPANY and not add and not call.caller.administrator:
        left_by_caller = sorted({company_id for user_id, company_id in pairs if user_id == call.caller.id})
        if await companies.without_manager(transaction, left_by_caller):
            raise BadRequest("the last manager of a company cannot leave it")
    for owner_id, property_id in pairs:
        await record_action(
            call,
            transaction,
            "link" if add else "unlink",
            pair.property,
            property_id,
            attributes={"ownerType": pair.owner, "ownerId": owner_id},
        )
    facts = [LinkChanged(pair.owner, owner, pair.property, owned) for owner, owned in pairs]
    if pair is links.USER_TEAM and add:
        missing = await teams.missing_company_links(transaction, pairs)
        if missing:
            facts += await change_links(call, transaction, links.USER_COMPANY, missing, add=True)
    if pair is links.USER_COMPANY and not add:
        left = await teams.memberships_in(transaction, pairs)
        if left:
            facts += await change_links(call, transaction, links.USER_TEAM, left, add=False)
    return facts
