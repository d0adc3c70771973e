"""The log of who did what."""

from collections.abc import AsyncGenerator, Sequence
from datetime import datetime

from motorpool.storage.database.queries import Queries
from motorpool.storage.records import AuditAction


async def record(q: Queries, action: AuditAction) -> None:
    """Write an action down; its id and e-mail are ignored."""
    await q.defer_to_commit(
        "insert into audit (action_time, address, user_id, action_type, object_type, object_id, attributes)"
        " values ($1, $2, $3, $4, $5, $6, $7)",
        action.action_time,
        action.address,
        action.user_id,
        action.action_type,
        action.object_type,
        action.object_id,
        action.attributes,
    )


_REFUSED = """
    insert into audit (action_time, address, user_id, action_type, object_id, attributes)
    values ($1, $2, $3, 'refused', $4, $5)
    on conflict (user_id, (attributes ->> 'operation'), date_trunc('hour', action_time at time zone 'UTC'))
        where action_type = 'refused'
    do update set attributes = jsonb_set(
        audit.attributes, '{count}', to_jsonb((audit.attributes ->> 'count')::bigint + $6)
    )
"""


async def record_refusals(q: Queries, action: AuditAction, count: int) -> None:
    """Write that requests of a user for an operation, the attribute `operation`, were refused.

    There is one row for each user, operation and hour, which tells of the first request, and in `count` how
    many were written.
    """
    await q.execute(
        _REFUSED,
        action.action_time,
        action.address,
        action.user_id,
        action.object_id,
        {**action.attributes, "count": count},
        count,
    )


_COLUMNS = """
    select a.id, a.action_time, a.address, a.user_id, u.email as user_email, a.action_type, a.object_type,
        a.object_id, a.attributes
    from audit a left join users u on u.id = a.user_id
"""
_SELECT = f"""{_COLUMNS}
    where a.action_time between $1 and $2 and (a.action_time, a.id) > ($3, $4)
    order by a.action_time, a.id limit $5
"""


async def stream_between(
    q: Queries, start: datetime, end: datetime, *, batch: int = 1000
) -> AsyncGenerator[list[AuditAction], None]:
    """Return actions by time, both ends included, with the user's present e-mail, piece by piece.

    No connection is kept between the pieces, however slow the reader.
    """
    after = (start, -1)
    while True:
        rows = await q.fetch(_SELECT, start, end, *after, batch)
        found = [AuditAction(**dict(row.items())) for row in rows]
        if found:
            yield found
        if len(found) < batch:
            return
        after = (found[-1].action_time, found[-1].id)


async def newest(
    q: Queries,
    start: datetime,
    end: datetime,
    *,
    before: tuple[datetime, int] | None = None,
    user_id: int | None = None,
    action_types: Sequence[str] = (),
    object_type: str | None = None,
    object_id: int | None = None,
    limit: int,
) -> list[AuditAction]:
    """Return at most `limit` actions of a span, the newest first: those that all that is given fits.

    `before` is time and id of the last action of the page before.
    """
    values: list[object] = []

    def bound(value: object) -> str:
        values.append(value)
        return f"${len(values)}"

    found = [f"a.action_time between {bound(start)} and {bound(end)}"]
    if before is not None:
        found.append(f"(a.action_time, a.id) < ({bound(before[0])}, {bound(before[1])})")
    if user_id is not None:
        found.append(f"a.user_id = {bound(user_id)}")
    if action_types:
        found.append(f"a.action_type = any({bound(list(action_types))}::text[])")
    if object_type is not None:
        found.append(f"a.object_type = {bound(object_type)}")
    if object_id is not None:
        found.append(f"a.object_id = {bound(object_id)}")
    where = " and ".join(found)
    order = f"order by a.action_time desc, a.id desc limit {bound(limit)}"
    sql = f"{_COLUMNS} where {where} {order}"
    return [AuditAction(**dict(row.items())) for row in await q.fetch(sql, *values)]


async def action_time(q: Queries, action_id: int) -> datetime | None:
    """Return when an action was done; None if there is none of this id."""
    found: datetime | None = await q.fetch_value("select action_time from audit where id = $1", action_id)
    return found
