"""Lists of tickets: conditions, sort keys and pages (docs/tickets.md#lists), and the history of one.

Conditions are on the columns of `tickets` by their bare names.
"""

import math
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import NamedTuple

from motorpool.storage.database.conditions import ALWAYS, Condition, all_of, any_of
from motorpool.storage.database.queries import Queries
from motorpool.storage.helpdesk.helpdesk_records import Target, Ticket, TicketEvent
from motorpool.storage.helpdesk.tickets import ENTRY_COLUMNS, TABLE

LIVE = "status_kind in ('new', 'open', 'pending')"
"""Tickets that are worked on."""
_BREACHED: Mapping[Target, str] = {
    "firstResponse": "first_response_breached",
    "resolution": "resolution_breached",
}
OPEN_DUE: Mapping[Target, str] = {
    "firstResponse": (
        f"case when {LIVE} and first_response_at is null and not first_response_breached"
        " then first_response_due end"
    ),
    "resolution": f"case when {LIVE} and not resolution_breached then resolution_due end",
}
"""The due time of a target that can still be breached; else null."""
OVERDUE = """
    first_response_at is null and (first_response_breached or first_response_due < {0})
    or resolution_breached or resolution_due < {0}
"""
"""Of a live ticket: a target is breached or due by then, and not done. Null without a due time."""
SORT_KEYS: Mapping[str, str] = {
    "createdAt": "created_at",
    "updatedAt": "updated_at",
    "number": "number",
    "level": "level",
    "firstResponseDue": "first_response_due",
    "resolutionDue": "resolution_due",
    "nextDue": f"least({OPEN_DUE['firstResponse']}, {OPEN_DUE['resolution']})",
}
_NULLABLE = frozenset({"level", "firstResponseDue", "resolutionDue", "nextDue"})
_LEVELS = (
    " left join (select id as level_of, level from ticket_priorities) levels on levels.level_of = priority_id"
)


@asynccontextmanager
async def from_indexes(q: Queries, *, seconds: float = 0.0) -> AsyncIterator[Queries]:
    """Begin a transaction in which lists and counts are answered from indexes.

    A statement that takes longer than `seconds` raises TookTooLong; 0: the default timeout applies.

    A list may select most of the tickets there are. PostgreSQL would then read the whole table, unless it was
    vacuumed lately: of two servers with the same tickets one would, and the other not.
    """
    async with q.transaction() as transaction:
        settings = "set local enable_seqscan = off"
        if seconds:
            settings += f"; set local statement_timeout = {math.ceil(seconds * 1000)}"
        await transaction.execute_with_next(settings)
        yield transaction


async def companies_of(q: Queries, user_ids: Sequence[int]) -> list[int]:
    """Return the companies whose tickets any of the users sees, in order; temporary users see none."""
    rows = await q.fetch(
        "select distinct company_id from user_company join users on users.id = user_id"
        " where user_id = any($1::bigint[]) and not temporary order by 1",
        list(user_ids),
    )
    return [row[0] for row in rows]


def is_any_of(column: str, values: Sequence[int] | Sequence[str]) -> Condition:
    """Return the condition that a column has one of these values; without any it is always true."""
    if not values:
        return ALWAYS
    if len(values) == 1:
        return Condition(f"{column} = {{0}}", (values[0],))
    return Condition(f"{column} = any({{0}})", (list(values),))


def refers_to(column: str, ids: Sequence[int]) -> Condition:
    """Return the condition that a reference is one of these ids; 0 stands for none."""
    real = [each for each in ids if each]
    if len(real) == len(ids):
        return is_any_of(column, ids)
    nothing = Condition(f"{column} is null")
    return any_of(nothing, is_any_of(column, real)) if real else nothing


def in_categories(ids: Sequence[int], *, with_children: bool) -> Condition:
    """Return the condition that the category is one of these, or below one; 0 stands for none."""
    real = [each for each in ids if each]
    if not real or not with_children:
        return refers_to("category_id", ids)
    below = Condition(
        "category_id = any(array("
        "with recursive below as (select id, company_id from ticket_categories where id = any({0}::bigint[])"
        " union select each.id, each.company_id from ticket_categories each join below"
        " on each.company_id = below.company_id and each.parent_id = below.id)"
        " select id from below))",
        (real,),
    )
    return below if len(real) == len(ids) else any_of(Condition("category_id is null"), below)


def in_zones(zones: Sequence[str]) -> Condition:
    """Return the condition that the branch lies in one of these zones."""
    if not zones:
        return ALWAYS
    return Condition(
        "branch_id = any(array(select id from branches where attributes ->> 'zone' = any({0}::text[])))",
        (list(zones),),
    )


def is_open(wanted: bool) -> Condition:
    """Return the condition that the ticket is live, or that it is not."""
    return Condition(LIVE if wanted else f"not {LIVE}")


def is_breached(wanted: bool, targets: Sequence[Target]) -> Condition:
    """Return the condition that one of these targets was breached, or that none was."""
    either = " or ".join(_BREACHED[target] for target in targets)
    return Condition(either if wanted else f"not ({either})")


def due_before(instant: datetime, targets: Sequence[Target]) -> Condition:
    """Return the condition that one of these targets is due before, and can still be breached."""
    return any_of(*(Condition(f"{OPEN_DUE[target]} < {{0}}", (instant,)) for target in targets))


def is_overdue(wanted: bool, now: datetime) -> Condition:
    """Return the condition that a live ticket has a target that is late and not done, or that none is."""
    late = f"{LIVE} and coalesce({OVERDUE}, false)"
    return Condition(late if wanted else f"not ({late})", (now,))


def is_escalated(wanted: bool) -> Condition:
    """Return the condition that the ticket was escalated, or was not."""
    return Condition(f"escalated_at is {'not ' if wanted else ''}null")


def between(column: str, start: datetime | None, end: datetime | None) -> Condition:
    """Return the condition that an instant lies in `[start, end)`; None: no such end."""
    conditions = []
    if start is not None:
        conditions.append(Condition(f"{column} >= {{0}}", (start,)))
    if end is not None:
        conditions.append(Condition(f"{column} < {{0}}", (end,)))
    return all_of(*conditions)


def has_tag(tags: Sequence[str]) -> Condition:
    """Return the condition that `attributes.tags` holds one of these."""
    return Condition("attributes -> 'tags' ?| {0}::text[]", (list(tags),)) if tags else ALWAYS


def has_keyword(keyword: str, scope: Condition) -> Condition:
    """Return the condition that a text of the ticket or the name of its contact contains the keyword
    literally, ignoring case; `#118` also finds the number.

    `scope` says in which companies contacts are looked for.
    """
    escaped = keyword.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    pattern = (f"%{escaped}%",)
    found = [
        Condition(f"{column} ilike {{0}}", pattern) for column in ("subject", "description", "unique_id")
    ]
    contacts = all_of(Condition("name ilike {0}", pattern), scope)
    named = f"contact_id = any(array(select id from contacts where {contacts.sql}))"  # noqa: S608 - constants
    found.append(Condition(named, contacts.args))
    number = re.fullmatch(r"#([0-9]{1,18})", keyword)
    if number is not None:
        found.append(Condition("number = {0}", (int(number[1]),)))
    return any_of(*found)


class Page(NamedTuple):
    """Some of the tickets that meet a condition."""

    tickets: list[Ticket]
    total: int | None
    """How many there are; None: not counted, or the page is empty."""


async def list_page(
    q: Queries,
    condition: Condition,
    *,
    sort: str = "createdAt",
    is_descending: bool = True,
    limit: int,
    offset: int = 0,
    exclude_attributes: bool = False,
    counts: bool = False,
) -> Page:
    """Return a page of tickets by a sort key, those without a value last, equal ones by id.

    Only the rows of the page are read: the others are chosen and sorted in an index. With `counts` all are
    counted by the same statement: what it has to find all the same, such as keywords, is not found twice.
    """
    direction = " desc" if is_descending else ""
    by_key = f"{direction} nulls last" if sort in _NULLABLE else direction
    first = len(condition.args) + 1
    sql = f"""
        with page as materialized (
            select id, {SORT_KEYS[sort]} as sort_key,
                {"count(*) over ()" if counts else "null::bigint"} as total
            from tickets{_LEVELS if sort == "level" else ""}
            where {condition.numbered()} order by sort_key{by_key}, id{direction}
            limit ${first} offset ${first + 1}
        )
        select {TABLE.select_list(of="t", exclude_attributes=exclude_attributes)}, total
        from page join tickets t on t.id = page.id order by page.sort_key{by_key}, page.id{direction}
    """  # noqa: S608 - constant names
    rows = await q.fetch(sql, *condition.args, limit, offset)
    found = [dict(row.items()) for row in rows]
    totals = [values.pop("total") for values in found]
    return Page([TABLE.from_row(values) for values in found], totals[0] if totals else None)


_ENTRIES = f"select {', '.join(ENTRY_COLUMNS)} from ticket_events where "  # noqa: S608 - constant names
_HISTORY = _ENTRIES + "{} order by event_time, id limit ${} offset ${}"


async def fetch_entry(q: Queries, entry_id: int) -> TicketEvent | None:
    """Return an entry of the history of any ticket; None if it is gone."""
    row = await q.fetch_row(_ENTRIES + "id = $1", entry_id)
    return None if row is None else TicketEvent(*row.values())


async def list_history(
    q: Queries,
    ticket_id: int,
    *,
    types: Sequence[str] = (),
    start: datetime | None = None,
    end: datetime | None = None,
    with_internal: bool,
    limit: int,
    offset: int = 0,
) -> list[TicketEvent]:
    """Return entries of a ticket's history, oldest first; `with_internal` says whether internal ones too."""
    condition = all_of(
        Condition("ticket_id = {0}", (ticket_id,)),
        is_any_of("type", types),
        between("event_time", start, end),
        ALWAYS if with_internal else Condition("not internal"),
    )
    first = len(condition.args) + 1
    sql = _HISTORY.format(condition.numbered(), first, first + 1)
    return [TicketEvent(*row.values()) for row in await q.fetch(sql, *condition.args, limit, offset)]
