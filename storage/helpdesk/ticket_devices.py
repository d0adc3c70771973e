"""The devices with most tickets, and how soon tickets follow each other (docs/tickets.md#statistics)."""

from datetime import timedelta
from typing import NamedTuple

from motorpool.storage.database.queries import Queries
from motorpool.storage.helpdesk.ticket_statistics import Span

MAX_DEVICES = 10
REPEATED_WITHIN = timedelta(days=7)
"""A ticket so soon after another one of the device was resolved is a repetition."""


class DeviceCount(NamedTuple):
    """The tickets of a device that were created in a span."""

    device_id: int
    """0: of all devices together."""
    created: int
    repeated: int
    between: timedelta
    """From the first creation to the last."""


# In order of time, creations before resolutions at the same instant: so the latest resolution before a
# creation never belongs to the same ticket.
_DEVICES = """
    with happened as (
        select company_id, device_id, created_at as at, true as is_new from tickets
        where device_id is not null and created_at >= $1 and created_at < $2
            and ($3 or status_kind <> 'cancelled') and {condition}
        union all
        select company_id, device_id, resolved_at, false from tickets
        where device_id is not null and resolved_at >= $1 - $4::interval and resolved_at < $2
            and status_kind <> 'cancelled' and {companies}
    ), placed as (
        select device_id, at, is_new, max(at) filter (where not is_new) over (
            partition by company_id, device_id order by at, is_new desc
            rows between unbounded preceding and 1 preceding
        ) as resolved_at
        from happened
    )
    select coalesce(device_id, 0) as device_id, count(*) as created,
        count(*) filter (where resolved_at > at - $4::interval) as repeated,
        coalesce(max(at) - min(at), interval '0') as between
    from placed where is_new
    group by grouping sets ((), (device_id))
    order by grouping(device_id) desc, created desc, device_id
    limit {limit}
"""


async def device_counts(q: Queries, span: Span) -> list[DeviceCount]:
    """Return the counts of all devices together, then of the devices with the most tickets."""
    args = span.condition.args
    sql = _DEVICES.format(
        condition=span.condition.numbered(5),
        companies=span.companies.numbered(5 + len(args)),
        limit=MAX_DEVICES + 1,
    )
    rows = await q.fetch(
        sql, span.starts[0], span.end, span.with_cancelled, REPEATED_WITHIN, *args, *span.companies.args
    )
    return [DeviceCount(*row.values()) for row in rows]
