"""The configuration of companies that changes of tickets depend on."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from motorpool.storage.database.queries import Queries, Row

COMPANY_KEYS = ("autoCloseDays", "reopenDays", "ticketWebhook", "timezone")
PRIORITY_KEYS = (
    "escalatePriorityId",
    "escalateTeamId",
    "holidayCalendarId",
    "maxPauseMinutes",
    "pauseFirstResponse",
    "warnPercent",
)
"""The attributes of a priority by which its tickets are timed and escalated: what it promises."""
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
COUNTER = ("last_ticket_number", "tickets_counted_from", "tickets_counted")
"""Columns of a locked company, in the order of the fields of `TicketCounter`."""
# The numbers of a company are assigned by who holds its row. A row that was changed between the start of the
# statement and its lock is read again, so the last number is the present one.
_LOCK = f"""
    select {_SETUP}, {", ".join(COUNTER)},
        array(select nextval('tickets_id_seq') from unnest($3::bigint[]) as each (id)
            where each.id = companies.id) as ticket_ids
    from companies where companies.id = any($3::bigint[]) order by companies.id
    for no key update of companies
"""  # noqa: S608 - constants
_SKIP = " skip locked"


class TicketCounter(NamedTuple):
    """How many tickets a company has had."""

    last_number: int
    """The number of its latest ticket."""
    counted_from: datetime | None
    """Since when tickets are counted for the limit per hour; None: never."""
    counted: int


async def read(q: Queries, pairs: Sequence[tuple[int, int]]) -> list[Row]:
    """Return what companies configure, for pairs of a company and a user who matters there (0: none).

    The columns `statuses`, `priorities`, `teams` and `people` are lists of JSON objects, whose attributes are
    those that changes of tickets depend on.
    """
    return await q.fetch(_READ, [company_id for company_id, _ in pairs], [user_id for _, user_id in pairs])


async def lock(
    q: Queries, company_ids: Sequence[int], pairs: Sequence[tuple[int, int]], *, skip_locked: bool = False
) -> list[Row]:
    """Lock companies until the transaction ends, in the order of their ids, and return what they configure.

    A company is named once for each ticket that is to be created: the column `ticket_ids` has an allocated id
    for each, beside the columns of `read` and those of `COUNTER`. `pairs` are as in `read`. Unknown companies
    are left out, and with `skip_locked` those that others have locked.
    """
    return await q.fetch(
        _LOCK + _SKIP * skip_locked,
        [company_id for company_id, _ in pairs],
        [user_id for _, user_id in pairs],
        list(company_ids),
    )


async def store_counters(q: Queries, counters: Mapping[int, TicketCounter]) -> None:
    """Store the counters of locked companies, with the transaction."""
    await q.defer_to_commit(
        "update companies set last_ticket_number = new.number, tickets_counted_from = new.counted_from,"
        "  tickets_counted = new.counted"
        " from unnest($1::bigint[], $2::bigint[], $3::timestamptz[], $4::integer[])"
        "  as new (id, number, counted_from, counted) where companies.id = new.id",
        list(counters),
        [counter.last_number for counter in counters.values()],
        [counter.counted_from for counter in counters.values()],
        [counter.counted for counter in counters.values()],
    )
