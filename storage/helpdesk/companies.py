"""Roles of users in a company, and operations on all rows of a company (docs/helpdesk.md#who-may-do-what)."""

from collections.abc import Sequence

import msgspec

from motorpool.storage.accounts import users
from motorpool.storage.database.conditions import Condition
from motorpool.storage.database.queries import Queries, Row
from motorpool.storage.database.tables import sort_key
from motorpool.storage.helpdesk.company_tables import CONFIGURED
from motorpool.storage.helpdesk.helpdesk_records import CompanyUser
from motorpool.storage.helpdesk.tickets import BELONGING


class Membership(msgspec.Struct, frozen=True):
    """A user's role in a company, from rows alone: administrators and read-only users are not considered."""

    linked: bool = False
    """Reads."""
    agent: bool = False
    """Is a member of an enabled team of the company; or no team of the company has a member, and the user is
    linked and not read-only."""
    manager: bool = False
    """Created the company, or may manage users; and is linked."""

    @property
    def handles_tickets(self) -> bool:
        """Whether the user may do what agents may: managers may."""
        return self.agent or self.manager


NO_MEMBERSHIP = Membership()
"""Of a user who is not linked to the company, which need not exist."""

_AGENT = f"""
    case
        when exists (
            select from teams t join user_team m on m.team_id = t.id where t.company_id = l.company_id
        ) then exists (
            select from teams t join user_team m on m.team_id = t.id
            where t.company_id = l.company_id and m.user_id = l.user_id and not t.disabled
        )
        else not {users.restricted("readonly", "u")}
    end
"""  # noqa: S608 - constants
_MEMBERSHIPS = f"""
    select l.company_id, l.manager or u.user_limit <> 0 as manager, {_AGENT} as agent
    from user_company l join users u on u.id = l.user_id
    where l.user_id = $1 and ($2::bigint = 0 or l.company_id = $2) and not u.temporary
"""  # noqa: S608 - constants
_USERS = f"""
    select u.id, u.name, u.email, u.disabled,
        array(
            select m.team_id from teams t join user_team m on m.team_id = t.id
            where t.company_id = l.company_id and m.user_id = l.user_id order by 1
        ) as team_ids,
        u.administrator
            or (l.manager or u.user_limit <> 0) and not {users.restricted("readonly", "u")} as manager,
        u.administrator or {_AGENT} and not {users.restricted("readonly", "u")} as agent
    from user_company l join users u on u.id = l.user_id
    where l.company_id = $1 and ($2::bigint = 0 or l.user_id = $2) and not u.temporary
    order by {sort_key("u.name")}, u.id
"""  # noqa: S608 - constants
_WITHOUT_MANAGER = """
    select id from companies where id = any($1::bigint[]) and not exists (
        select from user_company l join users u on u.id = l.user_id
        where l.company_id = companies.id and (l.manager or u.user_limit <> 0)
            and not (u.temporary or u.readonly or u.disabled)
    )
"""
_CONFIGURATION = 0x6D70_636F
"""Seed of the advisory locks of companies, which keeps them apart from other advisory locks."""

# Tickets before what belongs to them: its writers hold the row of the ticket.
_DELETED_BY_COMPANY = (
    "tickets",
    *BELONGING,
    "deliveries",
    "delivery_attempts",
    *(table.name for table in CONFIGURED),
)


# `roles` is a list of words or a text of words with commas between them.
_ROLES = """
    lower(btrim({0})) in (
        select lower(btrim(word)) from unnest(
            case jsonb_typeof(attributes->'roles')
                when 'array' then array(select jsonb_array_elements_text(attributes->'roles'))
                when 'string' then string_to_array(attributes->>'roles', ',')
            end
        ) word
    )
"""


def with_role(role: str) -> Condition:
    """Return the condition for companies with a role, whatever its case."""
    return Condition(_ROLES, (role,))


async def add_first_manager(q: Queries, user_id: int, company_id: int) -> None:
    """Link who created a company to it as its manager."""
    sql = "insert into user_company (user_id, company_id, manager) values ($1, $2, true)"
    await q.execute(sql, user_id, company_id)


async def membership(q: Queries, user_id: int, company_id: int) -> Membership:
    """Return what a user is in a company."""
    if not 0 < company_id < 1 << 63:
        return NO_MEMBERSHIP
    row = await q.fetch_row(_MEMBERSHIPS, user_id, company_id)
    return NO_MEMBERSHIP if row is None else _from_row(row)


async def memberships(q: Queries, user_id: int) -> dict[int, Membership]:
    """Return what a user is in each company that they are linked to, by its id."""
    return {row["company_id"]: _from_row(row) for row in await q.fetch(_MEMBERSHIPS, user_id, 0)}


async def linked_users(q: Queries, company_id: int, user_id: int = 0) -> list[CompanyUser]:
    """Return the users who are linked to a company by name, with what they are in it; or only one of them."""
    rows = await q.fetch(_USERS, company_id, user_id)
    return [CompanyUser(**{**row, "team_ids": tuple(row["team_ids"])}) for row in rows]


async def without_manager(q: Queries, company_ids: Sequence[int]) -> list[int]:
    """Return which of these companies have nobody left who manages them."""
    rows = await q.fetch(_WITHOUT_MANAGER, list(company_ids)) if company_ids else []
    return [row["id"] for row in rows]


async def lock_configuration(transaction: Queries, company_id: int) -> bool:
    """Block other transactions that configure the company until this one ends; return whether it exists.

    Rules that span several rows, such as that categories are a tree, need it. Take it before any lock on such
    a row.
    """
    await transaction.execute(
        "select pg_advisory_xact_lock(hashtextextended($1::bigint::text, $2))", company_id, _CONFIGURATION
    )
    return (
        await transaction.fetch_value("select exists (select from companies where id = $1)", company_id)
        is True
    )


async def delete_with_everything(transaction: Queries, company_id: int) -> None:
    """Delete a company with all that belongs to it, in one statement for each table."""
    # Those who write tickets or add rows to the company finish before, or find it gone.
    await transaction.execute("select from companies where id = $1 for update", company_id)
    await transaction.fetch_value(
        "select count(*) from (select from tickets where company_id = $1 order by id for update) locked",
        company_id,
    )
    for table in _DELETED_BY_COMPANY:
        await transaction.execute(f"delete from {table} where company_id = $1", company_id)  # noqa: S608 - constant names
    await transaction.execute("delete from companies where id = $1", company_id)


def _from_row(row: Row) -> Membership:
    return Membership(linked=True, agent=row["agent"], manager=row["manager"])
