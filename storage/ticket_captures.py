"""Captures that tickets wait for (docs/tickets.md#evidence).

A row is there from the transaction that asks for a capture, or adds a running one, to the one that writes how
it has ended into the history. Rows are taken and removed by comparison, so several servers that share the
database neither capture nor write twice.
"""

from datetime import datetime

import msgspec

from motorpool.storage.queries import Queries

__all__ = [
    "MAX_OF_COMPANY",
    "MAX_OF_RULE",
    "TicketCapture",
    "add",
    "ask",
    "begin",
    "due",
    "end",
    "expired",
    "held_by",
    "is_any",
    "lapsed",
    "name_file",
    "put_back",
    "renew",
    "take_over",
]

MAX_OF_RULE = 5
"""Captures of one rule and device that wait or are recording at a time."""
MAX_OF_COMPANY = 200
"""Captures of the rules of a company that wait or are recording at a time."""


class TicketCapture(msgspec.Struct, frozen=True):
    """A capture that a ticket waits for."""

    company_id: int
    ticket_id: int
    device_id: int
    channel: int
    begins: datetime
    """Of the span that is captured."""
    ends: datetime
    not_before: datetime
    """When it may begin."""
    expires: datetime
    """When it no longer may."""
    live: bool = False
    """Of the live stream; else of what the device recorded in the span."""
    rule: str = ""
    """The id of the rule that asks for it; empty: it was added by a comment."""
    rule_name: str = ""
    user_id: int = 0
    """The user whose rights the rule has."""
    internal: bool = True
    """Whether its entries are hidden from all but agents."""
    status: str = "waiting"
    """`waiting` or `recording`."""
    refusal: str = ""
    """Why it has not begun; empty if it was not tried."""
    capture_id: str = ""
    file_name: str = ""
    attempts: int = 0
    holder: str = ""
    """The server that runs it."""
    leased_until: datetime | None = None
    id: int = 0


_NAMES = TicketCapture.__struct_fields__
_COLUMNS = ", ".join(_NAMES)
_STORED = _NAMES[:-1]
_INSERT = (
    f"insert into ticket_captures ({', '.join(_STORED)})"  # noqa: S608 - constant names
    f" values ({', '.join(f'${place}' for place in range(1, len(_STORED) + 1))})"
)
_COUNTS = """
    select count(*) filter (where rule = $2 and device_id = $3), count(*)
    from ticket_captures where company_id = $1 and rule <> ''
"""


async def ask(transaction: Queries, capture: TicketCapture) -> None:
    """Store a capture that a rule asks for; one too many will not begin, and the ticket says so.

    The transaction holds the lock of those who take events for rules.
    """
    row = await transaction.fetch_row(_COUNTS, capture.company_id, capture.rule, capture.device_id)
    assert row is not None
    of_rule, of_company = row.values()
    if of_rule >= MAX_OF_RULE or of_company >= MAX_OF_COMPANY:
        capture = msgspec.structs.replace(
            capture,
            refusal=f"{of_rule} captures of the rule and device wait already, {of_company} of the company",
            expires=capture.not_before,
        )
    await add(transaction, capture)


async def add(q: Queries, capture: TicketCapture) -> None:
    """Store a capture; a second one of a ticket and a running capture adds nothing."""
    if capture.capture_id and await q.fetch_value(
        "select exists (select from ticket_captures where ticket_id = $1 and capture_id = $2)",
        capture.ticket_id,
        capture.capture_id,
    ):
        return
    await q.execute(_INSERT, *(getattr(capture, name) for name in _STORED))


async def is_any(q: Queries) -> bool:
    """Return whether any ticket waits for a capture."""
    return await q.fetch_value("select exists (select from ticket_captures)") is True


async def due(q: Queries, *, now: datetime, after: TicketCapture | None, limit: int) -> list[TicketCapture]:
    """Return waiting captures that may begin now, the longest due first; those behind `after`."""
    return await _fetch(
        q,
        "status = 'waiting' and not_before <= $1 and expires > $1 and (not_before, id) > ($2, $3)"
        " order by not_before, id limit $4",
        now,
        after.not_before if after is not None else datetime.min.replace(tzinfo=now.tzinfo),
        after.id if after is not None else 0,
        limit,
    )


async def expired(q: Queries, *, now: datetime, limit: int) -> list[TicketCapture]:
    """Return waiting captures that may begin no longer."""
    return await _fetch(q, "status = 'waiting' and expires <= $1 order by id limit $2", now, limit)


async def held_by(q: Queries, holder: str) -> list[TicketCapture]:
    """Return the captures that a server runs."""
    return await _fetch(q, "status = 'recording' and holder = $1 order by id", holder)


async def lapsed(q: Queries, *, now: datetime, limit: int) -> list[TicketCapture]:
    """Return captures whose server no longer runs, those that lapsed first first."""
    return await _fetch(
        q, "status = 'recording' and leased_until <= $1 order by leased_until, id limit $2", now, limit
    )


async def begin(q: Queries, capture_id: int, holder: str, *, until: datetime) -> bool:
    """Take a waiting capture; False if another server was first, or the ticket is gone."""
    return await _changed(
        q,
        "update ticket_captures set status = 'recording', holder = $2, leased_until = $3,"
        " attempts = attempts + 1 where id = $1 and status = 'waiting'",
        capture_id,
        holder,
        until,
    )


async def name_file(q: Queries, row_id: int, holder: str, *, capture_id: str, file_name: str) -> bool:
    """Store which capture runs; False if it is no longer this server's."""
    return await _changed(
        q,
        "update ticket_captures set capture_id = $3, file_name = $4"
        " where id = $1 and status = 'recording' and holder = $2",
        row_id,
        holder,
        capture_id,
        file_name,
    )


async def put_back(q: Queries, row_id: int, holder: str, *, not_before: datetime, refusal: str) -> bool:
    """Have a capture wait again, and note why; False if it is no longer this server's."""
    return await _changed(
        q,
        "update ticket_captures set status = 'waiting', holder = '', leased_until = null, not_before = $3,"
        " refusal = $4, capture_id = '', file_name = ''"
        " where id = $1 and status = 'recording' and holder = $2",
        row_id,
        holder,
        not_before,
        refusal,
    )


async def renew(q: Queries, holder: str, *, until: datetime) -> None:
    """Say that a server still runs its captures."""
    await q.execute(
        # Rows whose ticket is being deleted are left.
        "update ticket_captures set leased_until = $2 where id in (select id from ticket_captures"
        " where status = 'recording' and holder = $1 order by id for update skip locked)",
        holder,
        until,
    )


async def take_over(q: Queries, capture: TicketCapture, holder: str, *, until: datetime) -> bool:
    """Take a capture whose server no longer runs, as it was read; False if another server was first."""
    return await _changed(
        q,
        "update ticket_captures set holder = $3, leased_until = $4"
        " where id = $1 and status = 'recording' and holder = $2 and leased_until = $5",
        capture.id,
        capture.holder,
        holder,
        until,
        capture.leased_until,
    )


async def end(q: Queries, capture: TicketCapture) -> bool:
    """Remove a capture as it was read, whose ticket is locked; False if it is gone or another server's."""
    return await _changed(
        q,
        "delete from ticket_captures where id = $1 and status = $2 and holder = $3",
        capture.id,
        capture.status,
        capture.holder,
    )


async def _fetch(q: Queries, condition: str, *arguments: object) -> list[TicketCapture]:
    rows = await q.fetch(
        f"select {_COLUMNS} from ticket_captures where {condition}",  # noqa: S608 - constants
        *arguments,
    )
    return [TicketCapture(*row.values()) for row in rows]


async def _changed(q: Queries, statement: str, *arguments: object) -> bool:
    return not (await q.execute(statement, *arguments)).endswith(" 0")
