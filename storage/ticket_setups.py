"""What companies configure, as far as changes of their tickets depend on it."""

from collections.abc import Sequence
from typing import NamedTuple

from motorpool.storage.queries import Queries, Row

__all__ = ["NewNumber", "number_ticket", "read"]

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


_SETUP = f"""
    companies.id, companies.name, companies.unique_id, companies.disabled,
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
"""  # noqa: S608 - constants
_READ = f"select {_SETUP} from companies where companies.id = any($1::bigint[])"  # noqa: S608 - constants
# The company before the status, which its returning list locks; like the starting status of create.py.
_NUMBER = f"""
    with starting as (
        select id from ticket_statuses
        where company_id = any($1::bigint[]) and not disabled
            and case when $3::bigint = 0 then kind in ('new', 'open') else id = $3 end
        order by kind = 'new' desc, sort_order, id limit 1
    ), status as (
        select id, kind from ticket_statuses where id = (select id from starting) for share
    ), numbered as (
        update companies set last_ticket_number = last_ticket_number + 1 where id = any($1::bigint[])
        returning id, nextval('tickets_id_seq') as ticket_id, last_ticket_number as number,
            (select id from status) as status_id, (select kind from status) as status_kind
    )
    select {_SETUP}, ticket_id, number, status_id, status_kind
    from companies join numbered using (id)
"""  # noqa: S608 - constants


class NewNumber(NamedTuple):
    """What a new ticket is stored under."""

    ticket_id: int
    number: int
    status_id: int | None
    """The status that was locked; None if there is none."""
    status_kind: str | None


async def read(q: Queries, pairs: Sequence[tuple[int, int]]) -> list[Row]:
    """Return what companies configure, for pairs of a company and a user who matters there (0: none).

    The columns `statuses`, `priorities`, `teams` and `people` are lists of JSON objects, whose attributes are
    those that changes of tickets depend on.
    """
    return await q.fetch(_READ, [company_id for company_id, _ in pairs], [user_id for _, user_id in pairs])


async def number_ticket(
    q: Queries, company_id: int, people: Sequence[int], status_id: int
) -> tuple[Row, NewNumber] | None:
    """Lock a company and the status that a new ticket starts in until the transaction ends, and number it.

    `status_id` is the status that is asked for, 0: the company's first. Return what the company configures as
    well, like `read`; None without such a company.
    """
    row = await q.fetch_row(_NUMBER, [company_id] * (len(people) + 1), [0, *people], status_id)
    if row is None:
        return None
    return row, NewNumber(*(row[name] for name in NewNumber._fields))
