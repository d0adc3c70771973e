"""The newest events of devices in a span of time."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from motorpool.storage.database.queries import Queries
from motorpool.storage.events.events import TABLE
from motorpool.storage.records import Event, ReviewState, Severity

FEW_DEVICES = 50
"""So many devices or fewer are read over the whole span at once."""
FIRST_STEP = timedelta(hours=1)
FIRST_STEP_OF_OPEN = timedelta(days=1)
"""There are few, and they may be of any age."""
STEP_GROWTH = 4


def _newest(states: str) -> str:
    """Return SQL with an index scan for each device, from the end on."""
    return f"""
        select {TABLE.select_list(of="e")}
        from unnest($1::bigint[]) as wanted (device_id)
        cross join lateral (
            select * from events
            where device_id = wanted.device_id and event_time between $2 and $3
                and (event_time, id) < ($3, $4) and {states} and ($10::text[] = '{{}}' or severity = any($10))
                and ($5::text[] = '{{}}' or type = any($5))
                and ($6::text[] = '{{}}' or type <> 'alarm' or attributes ->> 'alarm' = any($6))
                and (geofence_id = 0 or $7::bigint[] is null or geofence_id = any($7))
                and (maintenance_id = 0 or $8::bigint[] is null or maintenance_id = any($8))
            order by event_time desc, id desc limit $9
        ) e
        order by e.event_time desc, e.id desc limit $9
    """  # noqa: S608 - constant names


_NEWEST = _newest("($11::text[] = '{}' or review ->> 'state' = any($11))")
_OPEN = _newest("review ->> 'state' = 'OPEN'")
"""By the index of what waits for review."""


def _older(states: str) -> str:
    """Return SQL for the devices that have an event in a span, its end excluded, each with its newest one."""
    return f"""
        select wanted.device_id, latest.event_time from unnest($1::bigint[]) as wanted (device_id)
        cross join lateral (
            select event_time from events
            where device_id = wanted.device_id and event_time >= $2 and event_time < $3 and {states}
            order by event_time desc limit 1
        ) latest
    """  # noqa: S608 - constant names


_OLDER = _older("true")
_OLDER_OPEN = _older("review ->> 'state' = 'OPEN'")

PICTURE_TIME = timedelta(minutes=5)
"""Before and after an event, in which a picture belongs to it."""
# Pictures come as events of their own, some time after the alarm that they are of.
_PICTURES = """
    select asked.id, picture.file
    from unnest($1::bigint[], $2::bigint[], $3::timestamptz[]) as asked (id, device_id, event_time)
    cross join lateral (
        select attributes ->> 'file' as file from events
        where device_id = asked.device_id and type = 'media' and attributes ->> 'media' = 'image'
            and event_time between asked.event_time - $4::interval and asked.event_time + $4
        order by abs(extract(epoch from event_time - asked.event_time)), id limit 1
    ) picture
    where picture.file is not null
"""


async def newest(
    q: Queries,
    device_ids: Sequence[int],
    start: datetime,
    end: datetime,
    *,
    now: datetime,
    limit: int,
    before_id: int = 2**63 - 1,
    types: Sequence[str] = (),
    alarms: Sequence[str] = (),
    severities: Sequence[Severity] = (),
    states: Collection[ReviewState] = (),
    visible: tuple[frozenset[int], frozenset[int]] | None = None,
) -> list[Event]:
    """Return the newest events, at most `limit`, the newest first; both ends are included.

    Of those at `end` only the ones with an id below `before_id` count. `types`, `alarms`, `severities` and
    `states` of reviews are all if empty; `visible` holds the geofences and maintenance whose events count,
    None is all.

    Many devices are read in steps from `now` or the end, each longer than the one before, so that little is
    read where there are enough events near it. Each step goes on with the devices that have older events.
    """
    geofences, maintenance = (None, None) if visible is None else map(list, visible)
    found: list[Event] = []
    is_open = set(states) == {"OPEN"}
    step = FIRST_STEP_OF_OPEN if is_open else FIRST_STEP
    # What is dated ahead belongs to the first step.
    last = max(start, min(end, now))
    while True:
        is_whole = len(device_ids) <= FEW_DEVICES or last - start <= step
        begin = start if is_whole else last - step
        rows = await q.fetch(
            _OPEN if is_open else _NEWEST,
            list(device_ids),
            begin,
            end,
            before_id,
            list(types),
            list(alarms),
            geofences,
            maintenance,
            limit - len(found),
            list(severities),
            *(() if is_open else (list(states),)),
        )
        found += map(TABLE.from_row, rows)
        if len(found) >= limit or begin <= start:
            return found
        older = await q.fetch(_OLDER_OPEN if is_open else _OLDER, list(device_ids), start, begin)
        if not older:
            return found
        device_ids = [row[0] for row in older]
        # Ids are positive, so that the next step ends before this one began.
        end, last, before_id, step = begin, max(row[1] for row in older), 0, step * STEP_GROWTH


async def pictures_of(q: Queries, found: Sequence[Event]) -> dict[int, str]:
    """Return the names of the files with the pictures nearest to events, by the ids of the events."""
    rows = await q.fetch(
        _PICTURES,
        [event.id for event in found],
        [event.device_id for event in found],
        [event.event_time for event in found],
        PICTURE_TIME,
    )
    return {row[0]: row[1] for row in rows}
