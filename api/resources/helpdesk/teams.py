"""Teams of companies and their members (docs/helpdesk.md#branches-teams-and-contacts)."""

from quart import Response

from motorpool.actors.change_feed import publish_changes
from motorpool.actors.helpdesk.escalation import ESCALATE_TEAM
from motorpool.api.auth.rights import LINK
from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import NO_CONTENT
from motorpool.api.engine.resource_operations import fetch_readable
from motorpool.api.http.errors import BadRequest, ResourceNotFound
from motorpool.api.http.responses import as_json, no_content
from motorpool.api.resources.helpdesk.company_policy import CompanyPolicy, company_resource
from motorpool.api.resources.helpdesk.memberships import change_links, managed
from motorpool.api.resources.linked_policy import may_see_user
from motorpool.storage.accounts import links, users
from motorpool.storage.database.queries import Queries
from motorpool.storage.helpdesk import company_tables, configuration_uses, teams
from motorpool.storage.helpdesk.helpdesk_records import Team, TeamMember


class TeamPolicy(CompanyPolicy[Team]):
    """Deleted teams leave their tickets."""

    max_rows = 500
    cleared = "team_id"
    privileged = ("disabled",)

    async def delete(self, call: Call, transaction: Queries, old: Team) -> None:
        """Delete; its tickets and categories are then of no team, and nothing escalates to it any more."""
        await super().delete(call, transaction, old)
        await configuration_uses.forget_escalation(transaction, old.company_id, ESCALATE_TEAM, old.id)


TEAMS, OPERATIONS = company_resource("team", "teams", TeamPolicy(company_tables.TEAMS))


@OPERATIONS.operation("GET", "/teams/{id}/members", answer=list[TeamMember], errors=(400,))
async def list_team_members(call: Call) -> Response:
    """The members of a team, sorted by name."""
    team = (await fetch_readable(call, TEAMS)).record
    return as_json(await teams.members(call.context.database, team.id))


@OPERATIONS.operation("PUT", "/teams/{id}/members/{userId}", answers={204: NO_CONTENT}, errors=(400,))
async def add_team_member(call: Call) -> Response:
    """Make a user a member of a team and, with that, link them to the company.

    For managers of the company who manage the user as well, and for administrators. Adding a member again
    changes nothing. The link `{userId, teamId}` of `/permissions` does the same.
    """
    await _change_member(call, add=True)
    return no_content()


@OPERATIONS.operation("DELETE", "/teams/{id}/members/{userId}", answers={204: NO_CONTENT}, errors=(400,))
async def remove_team_member(call: Call) -> Response:
    """Remove a member from a team; tickets that are assigned to them stay so.

    For managers of the company and administrators. The user stays linked to the company.
    """
    await _change_member(call, add=False)
    return no_content()


async def _change_member(call: Call, *, add: bool) -> None:
    LINK.require(call.caller)
    user_id = call.path["userId"]
    team = (await fetch_readable(call, TEAMS)).record
    async with call.context.database.transaction() as transaction:
        if not await managed(call, transaction, links.USER_TEAM, [team.id]):
            raise BadRequest("only managers of the company may do this", is_refusal=True)
        if add:
            user = await users.TABLE.fetch(transaction, user_id)
            if user is None and call.caller.administrator:
                raise ResourceNotFound("no such user")
            if user is None or user.temporary or not await may_see_user(call, transaction, user_id):
                raise BadRequest("userId: no access to it, or no such")
        pairs = [(user_id, team.id)] if user_id < 1 << 63 else []
        facts = await change_links(call, transaction, links.USER_TEAM, pairs, add=add)
    await publish_changes(call.context.system, *facts)
