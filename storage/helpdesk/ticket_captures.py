"""Captures that tickets wait for (docs/tickets.md#evidence).

A row is there from the transaction that asks for a capture, or adds a running one, to the one that writes how
it has ended into the history. Rows are taken and removed by comparison, so several servers that share the
database neither capture nor write twice.
"""

from datetime import datetime

import msgspec

from motorpool.storage.database.leased_rows import LeasedRows, has_changed
from motorpool.storage.database.queries import Queries

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


ROWS = LeasedRows("ticket_captures", TicketCapture, waiting="waiting", taken="recording", expires="expires")
"""Taken by the server that captures."""

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
    await ROWS.add(q, capture)


async def is_any(q: Queries) -> bool:
    """Return whether any ticket waits for a capture."""
    return await q.fetch_value("select exists (select from ticket_captures)") is True


async def name_file(q: Queries, row_id: int, holder: str, *, capture_id: str, file_name: str) -> bool:
    """Store which capture runs; False if it is no longer this server's."""
    return await ROWS.change(q, row_id, holder, "capture_id = $3, file_name = $4", capture_id, file_name)


async def put_back(q: Queries, row_id: int, holder: str, *, not_before: datetime, refusal: str) -> bool:
    """Have a capture wait again, and note why; False if it is no longer this server's."""
    assignments = "refusal = $4, capture_id = '', file_name = ''"
    return await ROWS.put_back(q, row_id, holder, not_before, assignments, refusal)


async def end(q: Queries, capture: TicketCapture) -> bool:
    """Remove a capture as it was read, whose ticket is locked; False if it is gone or another server's."""
    return await has_changed(
        q,
        "delete from ticket_captures where id = $1 and status = $2 and holder = $3",
        capture.id,
        capture.status,
        capture.holder,
    )
