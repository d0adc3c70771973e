"""What companies configure, as far as changes of their tickets depend on it."""

from collections.abc import Sequence

from motorpool.storage.queries import Queries, Row

__all__ = ["read"]

COMPANY_KEYS = ("autoCloseDays", "reopenDays", "ticketWebhook", "timezone")
PRIORITY_KEYS = (
    "escalatePriorityId",
    "escalateTeamId",
    "holidayCalendarId",
    "maxPauseMinutes",
    "pauseFirstResponse",
    "warnPercent",
)
STATUS_KEYS = ("next",)
"""The attributes that changes of tickets depend on; others may be long."""


def _only(keys: Sequence[str]) -> str:
    """Return SQL for the attributes of a row that have these keys."""
    chosen = ", ".join(f"'{key}'" for key in keys)
    return (
        "(select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(attributes)"  # noqa: S608 - constants
        f" where key in ({chosen}))"
    )


def _rows(table: str, keys: Sequence[str]) -> str:
    """Return SQL for the rows of a company as a JSON array, with some of their attributes."""
    attributes = _only(keys) if keys else "'{}'::jsonb"
    return f"""
        (select coalesce(jsonb_agg(to_jsonb(each) || jsonb_build_object('attributes', {attributes})), '[]')
        from {table} each where each.company_id = companies.id)
    """  # noqa: S608 - constants


_SETUPS = f"""
    select companies.id, companies.name, companies.unique_id, companies.disabled,
        {_only(COMPANY_KEYS)} as attributes,
        {_rows("ticket_statuses", STATUS_KEYS)} as statuses,
        {_rows("ticket_priorities", PRIORITY_KEYS)} as priorities,
        {_rows("teams", ())} as teams,
        (select coalesce(jsonb_agg(jsonb_build_object(
                'id', users.id,
                'name', users.name,
                'disabled', users.disabled,
                'linked', exists (select from user_company
                    where user_company.user_id = users.id and user_company.company_id = companies.id),
                'teams', (select coalesce(jsonb_agg(teams.id), '[]')
                    from user_team join teams on teams.id = user_team.team_id
                    where user_team.user_id = users.id and teams.company_id = companies.id))), '[]')
            from users where users.id in (
                select each.user_id from unnest($1::bigint[], $2::bigint[]) as each (company_id, user_id)
                where each.company_id = companies.id)) as people
    from companies where companies.id = any($1::bigint[])
"""  # noqa: S608 - constants


async def read(q: Queries, pairs: Sequence[tuple[int, int]]) -> list[Row]:
    """Return what companies configure, for pairs of a company and a user who matters there (0: none).

    The columns `statuses`, `priorities`, `teams` and `people` are lists of JSON objects, whose attributes are
    those that changes of tickets depend on.
    """
    return await q.fetch(_SETUPS, [company_id for company_id, _ in pairs], [user_id for _, user_id in pairs])
