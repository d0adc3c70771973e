"""Tickets: their rows, and what decides about their changes.

The row of a ticket is locked before anything that belongs to it, and after the row of its company
(docs/decisions/0187-one-writer-of-tickets.md).
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from motorpool.storage.database.queries import Queries, Row
from motorpool.storage.database.tables import LOCK, Table
from motorpool.storage.helpdesk.company_tables import access_by_company
from motorpool.storage.helpdesk.helpdesk_records import Ticket, TicketEvent, TicketPause

TABLE = Table(
    "tickets",
    Ticket,
    sort="id",
    keywords=("subject", "description", "unique_id"),
    access=access_by_company,
    non_references=frozenset({"event_id", "position_id", "maintenance_id", "geofence_id"}),
)
_TARGETS = ("first_response", "resolution")
CLOCK_COLUMNS = (
    *(
        f"{target}_{column}"
        for target in _TARGETS
        for column in ("credit", "verdict", "decided_at", "elapsed", "target", "warned")
    ),
    "next_clock_at",
    "message_sequence",
)
"""Columns beside the record's."""
BELONGING = (
    "ticket_events",
    "ticket_pauses",
    "ticket_breaches",
    "ticket_rule_tickets",
    "ticket_files",
    "ticket_captures",
    "ticket_commands",
    "ticket_command_news",
)
"""Tables with rows of tickets, which are deleted with them."""
_LONG = frozenset({"subject", "description", "attributes"})
"""Columns that an update leaves as they are where the new value is null."""
_FIXED = frozenset({"id", "number", "company_id", "reporter_id", "channel", "created_at"})
_RECORD = tuple(TABLE.record.__struct_fields__)
_WRITTEN = (*_RECORD, *CLOCK_COLUMNS)
_SELECT = f"select {TABLE.select_list()}, {', '.join(CLOCK_COLUMNS)} from tickets"  # noqa: S608 - constants


async def lock(q: Queries, ticket_ids: Sequence[int]) -> list[Row]:
    """Lock tickets in the order of their ids until the transaction ends, and return their rows.

    Unknown tickets are left out.
    """
    ids = [ticket_id for ticket_id in ticket_ids if 0 < ticket_id < 1 << 63]
    return await q.fetch(f"{_SELECT} where id = any($1::bigint[]) order by id{LOCK}", ids)


async def company_of(q: Queries, ticket_id: int) -> int | None:
    """Return the company of a ticket, which never changes; None if there is no such ticket."""
    if not 0 < ticket_id < 1 << 63:
        return None
    found: int | None = await q.fetch_value("select company_id from tickets where id = $1", ticket_id)
    return found


async def companies_of(q: Queries, ticket_ids: Iterable[int]) -> dict[int, int]:
    """Return the companies of tickets by the ids of the tickets; unknown ids are left out."""
    ids = [each for each in ticket_ids if 0 < each < 1 << 63]
    rows = await q.fetch("select id, company_id from tickets where id = any($1::bigint[])", ids)
    return {row["id"]: row["company_id"] for row in rows}


async def lock_company(q: Queries, company_id: int) -> None:
    """Lock the company's row until the transaction ends; before any ticket of it is locked."""
    await q.fetch_value("select id from companies where id = $1 for no key update", company_id)


async def lock_status(q: Queries, status_id: int) -> str | None:
    """Prevent a change of a status until the transaction ends; return its kind, None if it is gone."""
    kind: str | None = await q.fetch_value(
        "select kind from ticket_statuses where id = $1 for share", status_id
    )
    return kind


async def of_unique_id(q: Queries, company_id: int, unique_id: str) -> Ticket | None:
    """Return the ticket of a company with an external reference; None without one."""
    row = await q.fetch_row(
        f"select {TABLE.select_list()} from tickets"  # noqa: S608 - constants
        " where company_id = $1 and unique_id = $2 and unique_id <> ''",
        company_id,
        unique_id,
    )
    return None if row is None else TABLE.from_row(row)


async def initial_fields(q: Queries, ticket_id: int) -> dict[str, Any]:
    """Return the fields that a ticket was created with, named as in JSON, without empty ones."""
    found: dict[str, Any] | None = await q.fetch_value(
        "select attributes -> 'initial' from ticket_events where ticket_id = $1 and type = 'created'",
        ticket_id,
    )
    return found or {}


async def pauses_of(q: Queries, ticket_ids: Sequence[int]) -> dict[int, list[TicketPause]]:
    """Return the pauses of tickets by ticket, earliest first."""
    rows = await q.fetch(
        "select ticket_id, begins, ends, status_id, reason, id from ticket_pauses"
        " where ticket_id = any($1::bigint[]) order by begins, id",
        list(ticket_ids),
    )
    found: dict[int, list[TicketPause]] = {ticket_id: [] for ticket_id in ticket_ids}
    for row in rows:
        ticket_id, *values = row.values()
        found[ticket_id].append(TicketPause(*values))
    return found


_SERVICE_LEVELS = f"""
    select {TABLE.select_list()}, {", ".join(CLOCK_COLUMNS)},
        array(select begins from ticket_pauses where ticket_id = tickets.id order by begins, id) as begins,
        array(select ends from ticket_pauses where ticket_id = tickets.id order by begins, id) as ends,
        array(select status_id from ticket_pauses where ticket_id = tickets.id order by begins, id) as ids,
        array(select reason from ticket_pauses where ticket_id = tickets.id order by begins, id) as reasons,
        (select attributes from ticket_events
            where ticket_id = tickets.id and type = 'escalated' order by id limit 1) as escalation
    from tickets where id = any($1::bigint[])
"""  # noqa: S608 - constants


async def fetch_service_levels(q: Queries, ticket_ids: Iterable[int]) -> list[Row]:
    """Return the columns of tickets and of their clocks; unknown tickets are left out.

    The pauses of each, earliest first, are the arrays `begins`, `ends`, `ids` (of statuses) and `reasons`;
    `escalation` holds the attributes of the entry of its escalation, or None.
    """
    return await q.fetch(_SERVICE_LEVELS, [each for each in ticket_ids if 0 < each < 1 << 63])


def _insert_from_json(table: str, columns: Sequence[str], parameter: str) -> str:
    """Return a statement that inserts rows given as a JSON array of objects."""
    names = ", ".join(columns)
    source = f"jsonb_populate_recordset(null::{table}, {parameter}::jsonb)"
    return f"insert into {table} ({names}) select {names} from {source}"  # noqa: S608 - constants


_CHANGED = ", ".join(
    f"{column} = coalesce(new.{column}, tickets.{column})" if column in _LONG else f"{column} = new.{column}"
    for column in _WRITTEN
    if column not in _FIXED
)
_COLUMN_OF = {"from_": "from_value", "to": "to_value"}
ENTRY_COLUMNS = tuple(_COLUMN_OF.get(name, name) for name in TicketEvent.__struct_fields__)
"""Columns of the entries of histories, in the order of the fields of the record."""
_EVENT_COLUMNS = ("company_id", *ENTRY_COLUMNS[1:])
# One statement each: round trips are most of the cost of a change.
_EVENTS = _insert_from_json("ticket_events", _EVENT_COLUMNS, "$2")
_INSERT = f"with new as ({_insert_from_json('tickets', _WRITTEN, '$1')}) {_EVENTS} returning id"
_UPDATE = f"""
    with changed as (
        update tickets set {_CHANGED} from jsonb_populate_recordset(null::tickets, $1::jsonb) new
        where tickets.id = new.id
    )
    {_EVENTS} returning id
"""  # noqa: S608 - constants


async def insert(
    q: Queries, rows: Sequence[Mapping[str, Any]], entries: Sequence[tuple[int, TicketEvent]]
) -> list[int]:
    """Store new tickets with entries of their histories; return the ids of the entries in order.

    Each row holds the columns of the record and of its clock; entries come with the company.

    Raises:
        Conflict: A unique value is already in use.
        StatementRejected: A reference does not exist.
    """
    return await _write(q, _INSERT, rows, entries)


async def update(
    q: Queries, rows: Sequence[Mapping[str, Any]], entries: Sequence[tuple[int, TicketEvent]]
) -> list[int]:
    """Replace what may change of tickets, and append to their histories; return the ids of the entries.

    As `insert`; but subject, description and attributes are replaced only where they are not None.
    """
    return await _write(q, _UPDATE, rows, entries)


async def _write(
    q: Queries, sql: str, rows: Sequence[Mapping[str, Any]], entries: Sequence[tuple[int, TicketEvent]]
) -> list[int]:
    columns = [
        dict(zip(_EVENT_COLUMNS, (company_id, *msgspec.structs.astuple(entry)[1:]), strict=True))
        for company_id, entry in entries
    ]
    found = await q.fetch(sql, list(rows), columns)
    return sorted(row[0] for row in found)


async def close_pauses(q: Queries, ends: Mapping[int, datetime]) -> None:
    """End pauses, with the transaction: pause -> when it ended."""
    await q.defer_to_commit(
        "update ticket_pauses set ends = new.ends"
        " from unnest($1::bigint[], $2::timestamptz[]) as new (id, ends) where ticket_pauses.id = new.id",
        list(ends),
        list(ends.values()),
    )


async def insert_pauses(q: Queries, pauses: Sequence[tuple[int, int, TicketPause]]) -> None:
    """Store pauses of (company, ticket), with the transaction."""
    await q.defer_to_commit(
        "insert into ticket_pauses (company_id, ticket_id, begins, ends, status_id, reason)"
        " select * from unnest($1::bigint[], $2::bigint[], $3::timestamptz[], $4::timestamptz[],"
        " $5::bigint[], $6::text[])",
        *zip(
            *(
                (company_id, ticket_id, pause.begins, pause.ends, pause.status_id, pause.reason)
                for company_id, ticket_id, pause in pauses
            ),
            strict=True,
        ),
    )


async def insert_breaches(
    q: Queries, breaches: Sequence[tuple[int, int, str, datetime]], detected_at: datetime
) -> None:
    """Store breaches, warnings and escalations (company, ticket, target, due) that are not yet stored."""
    await q.defer_to_commit(
        "insert into ticket_breaches (company_id, ticket_id, target, due, detected_at)"
        " select *, $5 from unnest($1::bigint[], $2::bigint[], $3::text[], $4::timestamptz[])"
        " on conflict do nothing",
        *zip(*breaches, strict=True),
        detected_at,
    )


_ORPHAN = """
    with children as (
        update tickets set parent_id = null, version = version + 1, updated_at = $3
        where company_id = $1 and parent_id = $2 returning id, version
    )
    insert into ticket_events (company_id, ticket_id, event_time, created_at, type, actor, field, from_value,
        to_value, version)
    select $1, id, $3, $3, 'updated', 'system', 'parentId', to_jsonb($2::bigint), to_jsonb(0), version
    from children
"""


async def delete(q: Queries, company_id: int, ticket_id: int, *, now: datetime) -> None:
    """Delete a ticket, whose row is locked, with its history; its child tickets lose their parent.

    Messages about it that wait for its webhook stay.
    """
    await q.execute(_ORPHAN, company_id, ticket_id, now)
    for table in BELONGING:
        await q.defer_to_commit(f"delete from {table} where ticket_id = $1", ticket_id)  # noqa: S608 - constant names
    await q.defer_to_commit("delete from tickets where id = $1", ticket_id)
