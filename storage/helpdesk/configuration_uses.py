"""References to rows of a company's configuration, counted or cleared when the row is deleted
(docs/helpdesk.md#branches-teams-and-contacts).
"""

from collections.abc import Sequence
from typing import Literal

from motorpool.storage.database.queries import Queries

Cleared = Literal["branch_id", "contact_id", "team_id", "assignee_id", "device_id"]
Counted = Literal["category_id", "priority_id", "status_id"]

_LIES_IN = """
    with recursive chain (id, parent_id) as (
        select id, parent_id from ticket_categories where id = $1
        union
        select c.id, c.parent_id from ticket_categories c join chain on c.id = chain.parent_id
    )
    select exists (select from chain where id = $2)
"""
_ESCALATES_TO = """
    with recursive chain (id, next) as (
        select id, attributes->>'escalatePriorityId' from ticket_priorities where id = $1
        union
        select p.id, p.attributes->>'escalatePriorityId'
        from ticket_priorities p join chain on p.id::text = chain.next
    )
    select exists (select from chain where id = $2)
"""
_FORGET_STATUS = """
    update ticket_statuses set version = version + 1, attributes = jsonb_set(attributes, '{next}', coalesce(
        (
            select jsonb_agg(each order by place)
            from jsonb_array_elements(attributes->'next') with ordinality list (each, place)
            where each <> to_jsonb($2::bigint)
        ),
        '[]'
    ))
    where company_id = $1 and id <> $2 and attributes->'next' @> to_jsonb($2::bigint)
    returning id, attributes->'next' = '[]' as is_final
"""


async def count(q: Queries, column: Counted, company_id: int, record_id: int) -> int:
    """Return how many tickets refer to a row of their company."""
    sql = f"select count(*) from tickets where company_id = $1 and {column} = $2"  # noqa: S608 - constant names
    return int(await q.fetch_value(sql, company_id, record_id))


async def count_priorities_of_calendar(q: Queries, calendar_id: int) -> int:
    """Return how many priorities count business hours, or holidays, by a calendar."""
    sql = """
        select count(*) from ticket_priorities
        where calendar_id = $1 or attributes->'holidayCalendarId' = to_jsonb($1::bigint)
    """
    return int(await q.fetch_value(sql, calendar_id))


async def tickets_of(q: Queries, column: Cleared, record_id: int, company_id: int = 0) -> list[int]:
    """Return the ids of the tickets that refer to a row, of one company or, with 0, of all; in order."""
    sql = f"select id from tickets where {column} = $1 and ($2::bigint = 0 or company_id = $2) order by id"  # noqa: S608 - constant names
    return [row[0] for row in await q.fetch(sql, record_id, company_id)]


async def category_lies_in(transaction: Queries, category_id: int, ancestor_id: int) -> bool:
    """Return whether a category is another one or lies below it."""
    return await transaction.fetch_value(_LIES_IN, category_id, ancestor_id) is True


async def escalates_to(transaction: Queries, priority_id: int, target_id: int) -> bool:
    """Return whether a priority is another one or escalates to it, perhaps through others."""
    return await transaction.fetch_value(_ESCALATES_TO, priority_id, target_id) is True


async def forget_escalation(transaction: Queries, company_id: int, key: str, record_id: int) -> None:
    """Remove an attribute from the priorities of a company where it names a row."""
    sql = """
        update ticket_priorities set attributes = attributes - $2::text, version = version + 1
        where company_id = $1 and attributes->$2 = to_jsonb($3::bigint)
    """
    await transaction.execute(sql, company_id, key, record_id)


async def unknown_statuses(q: Queries, company_id: int, ids: Sequence[int]) -> list[int]:
    """Return which of the ids are of no status of the company."""
    sql = """
        select id from unnest($2::bigint[]) id
        where not exists (select from ticket_statuses s where s.id = id.id and s.company_id = $1)
    """
    return [row[0] for row in await q.fetch(sql, company_id, list(ids))]


async def forget_status(transaction: Queries, company_id: int, status_id: int) -> list[int]:
    """Remove a status from the successors of others; return the ids of statuses left with none."""
    rows = await transaction.fetch(_FORGET_STATUS, company_id, status_id)
    return sorted(row["id"] for row in rows if row["is_final"])
