"""Events that wait for ticket rules, and the tickets that rules opened (docs/ticket-rules.md).

An event waits in `ticket_rule_events` from the transaction that stores it to the one that writes what rules
make of it. One server at a time takes events (`try_lock`), so that rules see the events of a device in order.
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from motorpool.storage.accounts import access, users
from motorpool.storage.database.queries import Queries

_LOCK = 0x6D70_7472
"""The advisory lock of the server that takes events."""


async def set_types(
    transaction: Queries, company_id: int, types: Collection[tuple[str, int]], rules: Collection[str]
) -> None:
    """Store the types of events that rules of a company follow, with their users, and forget other rules."""
    given = sorted(types)
    names, users = [name for name, _ in given], [user_id for _, user_id in given]
    await transaction.execute(
        "delete from ticket_rule_types where company_id = $1 and (type, user_id) not in"
        " (select * from unnest($2::text[], $3::bigint[]))",
        company_id,
        names,
        users,
    )
    await transaction.execute(
        "insert into ticket_rule_types (company_id, type, user_id)"
        " select $1, * from unnest($2::text[], $3::bigint[]) on conflict do nothing",
        company_id,
        names,
        users,
    )
    await transaction.execute(
        "delete from ticket_rule_hours where company_id = $1 and rule <> all($2::text[])",
        company_id,
        sorted(rules),
    )


async def known_types(q: Queries) -> frozenset[str]:
    """Return the types of events that some rule follows."""
    return frozenset(row[0] for row in await q.fetch("select distinct type from ticket_rule_types"))


async def try_lock(transaction: Queries) -> bool:
    """Keep other transactions from taking events until this one ends; False if another one does."""
    return await transaction.fetch_value("select pg_try_advisory_xact_lock($1)", _LOCK) is True


async def remove(transaction: Queries, event_ids: Iterable[int]) -> None:
    """End the waiting of events."""
    await transaction.execute(
        "delete from ticket_rule_events where event_id = any($1::bigint[])", list(event_ids)
    )


class Candidate(NamedTuple):
    """A company with rules for events of a type by a user who may see the device."""

    device_id: int
    type: str
    company_id: int
    user_id: int


# The users who see the devices come first: there may be many companies of users who do not.
_CANDIDATES = f"""
    with subject as (
        select * from unnest($1::bigint[], $2::text[]) as subject (device_id, type)
    ),
    viewer as materialized ({access.viewers_of("$1::bigint[]")})
    select distinct subject.device_id, subject.type, rule.company_id, rule.user_id
    from subject
    join ticket_rule_types rule on rule.type = subject.type
    join users on users.id = rule.user_id
    join companies on companies.id = rule.company_id
    where not users.disabled and not users.temporary
        and (users.expiration_time is null or users.expiration_time > $3)
        and not companies.disabled
        -- A ticket keeps history: of the event, and of the position.
        and (users.administrator or (not {users.restricted("readonly", "users")}
            and not {users.restricted("disable_reports", "users")} and exists (
            select from viewer
            where viewer.user_id = rule.user_id and viewer.device_id = subject.device_id)))
    order by 1, 2, 3, 4
"""  # noqa: S608 - constants


async def candidates(q: Queries, subjects: Iterable[tuple[int, str]], *, now: datetime) -> list[Candidate]:
    """Return whose rules are to look at events of these devices and types.

    Those of users who can log in, see the device and may read its history now.
    """
    asked = sorted(set(subjects))
    rows = await q.fetch(_CANDIDATES, [each[0] for each in asked], [each[1] for each in asked], now)
    return [Candidate(*row.values()) for row in rows]


async def versions(q: Queries, company_ids: Iterable[int]) -> dict[int, int]:
    """Return the versions of the rows of companies, by company."""
    rows = await q.fetch(
        "select id, version from companies where id = any($1::bigint[])", sorted(company_ids)
    )
    return {row[0]: row[1] for row in rows}


async def rules_of(q: Queries, company_ids: Iterable[int]) -> dict[int, tuple[int, Any]]:
    """Return the versions and the attribute `ticketRules` of companies, by company."""
    rows = await q.fetch(
        "select id, version, attributes -> 'ticketRules' from companies where id = any($1::bigint[])",
        sorted(company_ids),
    )
    return {row[0]: (row[1], row[2]) for row in rows}


class DeviceFacts(msgspec.Struct, frozen=True):
    """The facts about a device that rules use."""

    id: int
    name: str
    group_ids: tuple[int, ...]
    """Its group, and those above."""
    branch_id: int
    """The attribute `branchId` of the device or of the nearest group that has one; 0: none has."""


_DEVICES = """
    with recursive above (device_id, group_id, depth) as (
        select id, group_id, 1 from devices where id = any($1::bigint[]) and group_id is not null
        union
        select above.device_id, groups.group_id, depth + 1
        from above join groups on groups.id = above.group_id
        where groups.group_id is not null and depth < 1000
    )
    select id, name, attributes -> 'branchId',
        array(select above.group_id from above where device_id = devices.id order by depth),
        array(
            select groups.attributes -> 'branchId' from above join groups on groups.id = above.group_id
            where device_id = devices.id and groups.attributes ? 'branchId' order by depth
        )
    from devices where id = any($1::bigint[])
"""


async def devices(q: Queries, device_ids: Iterable[int]) -> dict[int, DeviceFacts]:
    """Return what rules know of devices, by id."""
    found = {}
    for number, name, own, group_ids, inherited in (
        row.values() for row in await q.fetch(_DEVICES, sorted(set(device_ids)))
    ):
        branches = [each for each in (own, *inherited) if isinstance(each, int) and 0 < each < 1 << 63]
        found[number] = DeviceFacts(number, name, tuple(group_ids), branches[0] if branches else 0)
    return found


class TicketKey(NamedTuple):
    """The subject of a rule's ticket: there is one row for each."""

    company_id: int
    rule: str
    device_id: int
    occurrence: str = ""
    """A maintenance and its period; else empty."""


class OpenedTicket(msgspec.Struct, frozen=True):
    """The latest ticket of a key."""

    ticket_id: int
    status_kind: str
    events: int
    """Events that were joined, the first included."""
    last_event_at: datetime
    entries: int
    """Entries of the history about joined events."""
    last_entry_at: datetime | None
    is_over: bool
    """Whether the end of the cause has been added since the last event."""


async def opened(q: Queries, keys: Sequence[TicketKey]) -> dict[TicketKey, OpenedTicket]:
    """Return the latest ticket of each key that has one."""
    rows = await q.fetch(
        "select made.company_id, rule, made.device_id, occurrence, ticket_id, status_kind, events,"
        " last_event_at, entries, last_entry_at, is_over"
        " from unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[])"
        " as key (company_id, rule, device_id, occurrence)"
        " join ticket_rule_tickets made using (company_id, rule, device_id, occurrence)"
        " join tickets on tickets.id = ticket_id",
        [key.company_id for key in keys],
        [key.rule for key in keys],
        [key.device_id for key in keys],
        [key.occurrence for key in keys],
    )
    found = {}
    for row in rows:
        values = list(row.values())
        found[TicketKey(*values[:4])] = OpenedTicket(*values[4:])
    return found


async def put(q: Queries, key: TicketKey, made: OpenedTicket) -> None:
    """Store the latest ticket of a key."""
    await q.execute(
        "insert into ticket_rule_tickets (company_id, rule, device_id, occurrence, ticket_id, events,"
        " last_event_at, entries, last_entry_at, is_over) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"
        " on conflict (company_id, rule, device_id, occurrence) do update set"
        " ticket_id = excluded.ticket_id, events = excluded.events, last_event_at = excluded.last_event_at,"
        " entries = excluded.entries, last_entry_at = excluded.last_entry_at, is_over = excluded.is_over",
        *key,
        made.ticket_id,
        made.events,
        made.last_event_at,
        made.entries,
        made.last_entry_at,
        made.is_over,
    )


async def count_ticket(q: Queries, company_id: int, rule: str, *, now: datetime) -> int:
    """Count a ticket that a rule wants to open; return how many these are in the rule's present hour."""
    counted: int = await q.fetch_value(
        "insert into ticket_rule_hours as hour (company_id, rule, began, tickets) values ($1, $2, $3, 1)"
        " on conflict (company_id, rule) do update set"
        " tickets = case when hour.began > $3 - interval '1 hour' then hour.tickets + 1 else 1 end,"
        " began = case when hour.began > $3 - interval '1 hour' then hour.began else $3 end"
        " returning tickets",
        company_id,
        rule,
        now,
    )
    return counted


class UsableReferences(NamedTuple):
    """Those of some references that a ticket may have, the others 0; with what the category gives."""

    branch_id: int
    category_id: int
    priority_id: int
    team_id: int
    category_priority_id: int
    category_team_id: int


async def usable_references(
    q: Queries, company_id: int, *, branch_id: int, category_id: int, priority_id: int, team_id: int
) -> UsableReferences:
    """Return which of these exist in the company and are not disabled."""
    row = await q.fetch_row(
        """
        select coalesce((select id from branches where company_id = $1 and id = $2 and not disabled), 0),
            coalesce(category.id, 0),
            coalesce((
                select id from ticket_priorities where company_id = $1 and id = $4 and not disabled), 0),
            coalesce((select id from teams where company_id = $1 and id = $5 and not disabled), 0),
            coalesce(category.priority_id, 0), coalesce(category.team_id, 0)
        from (select) as one
        left join ticket_categories category on category.company_id = $1 and category.id = $3
            and not category.disabled
        """,
        company_id,
        branch_id,
        category_id,
        priority_id,
        team_id,
    )
    assert row is not None
    return UsableReferences(*row.values())
