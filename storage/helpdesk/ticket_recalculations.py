"""Which open tickets have to be computed again (docs/service-levels.md#changes).

For each priority there is a row with what its tickets were last computed with. `note_changes` compares all
of them with the present state in one statement, so a change needs no notice of its own, and none is lost.
Each row is worked at by one server at a time.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from motorpool.storage.database.queries import Queries
from motorpool.storage.helpdesk.ticket_lists import LIVE

COMMIT_TIME = timedelta(seconds=60)
"""A transaction that read a priority or calendar before a change has been committed within this time."""
_HOLIDAYS = (
    "case when priority.attributes ->> 'holidayCalendarId' ~ '^[0-9]{1,18}$'"
    " then (priority.attributes ->> 'holidayCalendarId')::bigint end"
)


class Recalculation(NamedTuple):
    """A priority whose open tickets are computed again, locked by the transaction."""

    priority_id: int
    reason: str
    """`priority` or `calendar`."""
    written_since: datetime | None
    """None in the first pass, over all open tickets. The second one is for those that were written while the
    change was made."""
    after_ticket_id: int
    """Tickets up to this one are done."""


async def note_changes(q: Queries, *, tz_version: str, now: datetime) -> int:
    """Find the priorities that differ from what their tickets were computed with; return how many."""
    return await q.affected(
        f"""
        insert into ticket_recalculations as known (priority_id, targets, hours, tz_version, reason, since)
        select
            priority.id,
            concat_ws(
                ' ', first_response_minutes, resolution_minutes, coalesce(calendar_id, 0),
                md5(priority.attributes::text)
            ),
            case when calendar.id is not null or holidays.id is not null then
                concat_ws(
                    ' ', coalesce(calendar.version, 0), coalesce(holidays.version, 0),
                    coalesce(companies.attributes ->> 'timezone', ''),
                    coalesce((select attributes ->> 'timezone' from server), '')
                )
            else '' end,
            case when calendar.id is not null or holidays.id is not null then $1 else '' end,
            'priority',
            $2
        from ticket_priorities priority
        join companies on companies.id = priority.company_id
        left join calendars calendar on calendar.id = priority.calendar_id
        left join calendars holidays on holidays.id = {_HOLIDAYS}
        on conflict (priority_id) do update set
            targets = excluded.targets,
            hours = excluded.hours,
            tz_version = greatest(known.tz_version, excluded.tz_version),
            reason = case when known.targets = excluded.targets then 'calendar' else 'priority' end,
            since = excluded.since,
            pass = 1,
            after_ticket_id = 0
        where known.targets <> excluded.targets
            or known.hours <> excluded.hours
            or known.tz_version < excluded.tz_version collate "C"
        """,  # noqa: S608 - constant text
        tz_version,
        now,
    )


async def take(transaction: Queries, *, now: datetime) -> Recalculation | None:
    """Lock the priority whose change was noticed first and that no other transaction works at."""
    row = await transaction.fetch_row(
        "select priority_id, reason, case when pass = 2 then since - $2::interval end, after_ticket_id"
        " from ticket_recalculations where pass = 1 or pass = 2 and since <= $1::timestamptz - $2::interval"
        " order by since, priority_id limit 1 for update skip locked",
        now,
        COMMIT_TIME,
    )
    return None if row is None else Recalculation(*row.values())


async def next_pass(q: Queries) -> datetime | None:
    """Return when the next tickets are to be computed again, perhaps in the past; None if none are."""
    found: datetime | None = await q.fetch_value(
        "select min(case pass when 1 then since else since + $1::interval end)"
        " from ticket_recalculations where pass > 0",
        COMMIT_TIME,
    )
    return found


async def open_tickets(q: Queries, job: Recalculation, limit: int) -> list[int]:
    """Return the next tickets to be computed again, in the order of their ids."""
    rows = await q.fetch(
        f"select id from tickets where priority_id = $1 and {LIVE} and id > $2"  # noqa: S608 - constant text
        " and ($3::timestamptz is null or updated_at >= $3) order by id limit $4",
        job.priority_id,
        job.after_ticket_id,
        job.written_since,
        limit,
    )
    return [row["id"] for row in rows]


async def advance(transaction: Queries, job: Recalculation, done: Sequence[int], *, more: bool) -> None:
    """Record that these tickets are done, and whether others of this pass follow."""
    if more:
        await transaction.execute(
            "update ticket_recalculations set after_ticket_id = $2 where priority_id = $1",
            job.priority_id,
            max(done),
        )
        return
    await transaction.execute(
        "update ticket_recalculations set after_ticket_id = 0, pass = case pass when 1 then 2 else 0 end"
        " where priority_id = $1",
        job.priority_id,
    )
