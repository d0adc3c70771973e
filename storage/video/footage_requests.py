"""Footage requests: spans of recordings that are fetched once their vehicle is online (docs/video.md).

Rows are taken and ended by comparison, so of several servers that share the database one fetches.
"""

from datetime import datetime
from typing import ClassVar, Literal

import msgspec

from motorpool.storage.database.leased_rows import LeasedRows, has_changed
from motorpool.storage.database.queries import Queries

Status = Literal["WAITING", "FETCHING", "COMPLETE", "FAILED", "EXPIRED"]

MAX_OPEN_OF_USER = 50
"""Requests of one user that wait or are being fetched."""
MAX_OPEN_OF_DEVICE = 50
"""Requests for one device that wait or are being fetched."""
MAX_OPEN = 10_000
"""Requests that wait or are being fetched in all."""
KEPT_OF_USER = 200
"""Requests of one user that have ended; the oldest go."""

_LOCK = 0x6D70_6672
"""Advisory lock of transactions that add a request: the limits hold for parallel ones too."""


class FootageRequest(msgspec.Struct, frozen=True):
    """One request."""

    live: ClassVar[bool] = False
    device_id: int
    channel: int
    start_time: datetime
    end_time: datetime
    user_id: int
    created: datetime
    until: datetime
    """When it is given up."""
    status: Status = "WAITING"
    reason: str | None = None
    """Why it was not begun last, or has ended."""
    not_before: datetime | None = None
    """When it is tried next; None: at once."""
    attempts: int = 0
    capture_id: str | None = None
    file_name: str | None = None
    holder: str = ""
    """The server that fetches."""
    leased_until: datetime | None = None
    ended: datetime | None = None
    id: int = 0


ROWS = LeasedRows("footage_requests", FootageRequest, waiting="WAITING", taken="FETCHING", expires="until")
"""Taken by the server that captures."""

_COUNTS = """
    select count(*) filter (where user_id = $1), count(*) filter (where device_id = $2), count(*)
    from footage_requests where status in ('WAITING', 'FETCHING')
"""
_FORGET = """
    delete from footage_requests where id in (
        select id from footage_requests where user_id = $1 and ended is not null order by id desc offset $2
    )
"""


async def add(transaction: Queries, request: FootageRequest) -> FootageRequest | str:
    """Store a request and return it, or why it is one too many."""
    await transaction.execute("select pg_advisory_xact_lock($1)", _LOCK)
    row = await transaction.fetch_row(_COUNTS, request.user_id, request.device_id)
    assert row is not None
    of_user, of_device, of_all = row.values()
    if of_user >= MAX_OPEN_OF_USER:
        return f"open footage requests of one user: {MAX_OPEN_OF_USER} at most"
    if of_device >= MAX_OPEN_OF_DEVICE:
        return f"open footage requests for one device: {MAX_OPEN_OF_DEVICE} at most"
    if of_all >= MAX_OPEN:
        return f"open footage requests: {MAX_OPEN} at most"
    await transaction.execute(_FORGET, request.user_id, KEPT_OF_USER)
    return await ROWS.add(transaction, msgspec.structs.replace(request, not_before=request.created))


async def fetch(q: Queries, request_id: int, *, lock: bool = False) -> FootageRequest | None:
    """Return one request."""
    found = await ROWS.select(q, f"id = $1{' for update' if lock else ''}", request_id)
    return found[0] if found else None


async def of_device(q: Queries, device_id: int) -> list[FootageRequest]:
    """Return the latest thousand requests for a device, newest first."""
    return await ROWS.select(q, "device_id = $1 order by id desc limit 1000", device_id)


async def of_user(q: Queries, user_id: int) -> list[FootageRequest]:
    """Return the requests of a user, newest first."""
    return await ROWS.select(q, "user_id = $1 order by id desc", user_id)


async def delete(q: Queries, request_id: int) -> None:
    """Remove a request; the server that fetches it notices."""
    await q.execute("delete from footage_requests where id = $1", request_id)


async def is_any_open(q: Queries) -> bool:
    """Return whether any request waits or is being fetched."""
    open_ones = "select exists (select from footage_requests where status in ('WAITING', 'FETCHING'))"
    return await q.fetch_value(open_ones) is True


async def name_capture(q: Queries, request_id: int, holder: str, *, capture_id: str, file_name: str) -> bool:
    """Store which capture fetches it; False if it is no longer this server's."""
    assignments = "capture_id = $3, file_name = $4, reason = null"
    return await ROWS.change(q, request_id, holder, assignments, capture_id, file_name)


async def put_back(
    q: Queries, request: FootageRequest, *, not_before: datetime, reason: str, counts: bool = True
) -> bool:
    """Have a request that is being fetched, as it was read, wait again; False if it is another server's.

    Unless it `counts`, the attempt is taken back.
    """
    assignments = "reason = $4, capture_id = null, file_name = null, attempts = attempts - $5"
    back = 0 if counts else 1
    return await ROWS.put_back(q, request.id, request.holder, not_before, assignments, reason, back)


async def end(q: Queries, request: FootageRequest, status: Status, reason: str, *, now: datetime) -> bool:
    """End a request as it was read; False if it is gone or another server's."""
    return await has_changed(
        q,
        "update footage_requests set status = $4, reason = $5, ended = $6, holder = '', leased_until = null"
        " where id = $1 and status = $2 and holder = $3",
        request.id,
        request.status,
        request.holder,
        status,
        reason or None,
        now,
    )
