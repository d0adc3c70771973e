"""Members of teams."""

from collections.abc import Iterable, Sequence

from motorpool.storage.database.queries import Queries
from motorpool.storage.database.tables import sort_key
from motorpool.storage.helpdesk.helpdesk_records import TeamMember


async def members(q: Queries, team_id: int) -> list[TeamMember]:
    """Return the members of a team by name."""
    sql = f"""
        select u.id, u.name, u.email from user_team m join users u on u.id = m.user_id
        where m.team_id = $1 order by {sort_key("u.name")}, u.id
    """  # noqa: S608 - constants
    return [TeamMember(**dict(row.items())) for row in await q.fetch(sql, team_id)]


async def companies_of(q: Queries, team_ids: Iterable[int]) -> dict[int, int]:
    """Return the companies of these teams by the ids of the teams; unknown ids are left out."""
    rows = await q.fetch("select id, company_id from teams where id = any($1::bigint[])", list(team_ids))
    return {row["id"]: row["company_id"] for row in rows}


async def missing_company_links(q: Queries, members: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return (user, company) for members, as (user, team), who are not linked to the company of the team."""
    sql = """
        select distinct m.user_id, t.company_id
        from unnest($1::bigint[], $2::bigint[]) m (user_id, team_id) join teams t on t.id = m.team_id
        where not exists (
            select from user_company l where l.user_id = m.user_id and l.company_id = t.company_id
        )
        order by 1, 2
    """
    return await _pairs(q, sql, members)


async def memberships_in(q: Queries, linked: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the memberships, as (user, team), of users in teams of companies, given as (user, company)."""
    sql = """
        select m.user_id, m.team_id
        from unnest($1::bigint[], $2::bigint[]) l (user_id, company_id)
            join teams t on t.company_id = l.company_id
            join user_team m on m.team_id = t.id and m.user_id = l.user_id
        order by 1, 2
    """
    return await _pairs(q, sql, linked)


async def _pairs(q: Queries, sql: str, given: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    rows = await q.fetch(sql, [user_id for user_id, _ in given], [other_id for _, other_id in given])
    return [(row[0], row[1]) for row in rows]
