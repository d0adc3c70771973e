"""Captures, files of devices and stills of users as one list, the newest first (docs/video.md#library).

A file that a device sent is named by an event of type `media`.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, Literal, NamedTuple, get_args

import msgspec

from motorpool.storage.database.queries import Queries, Row

MediaKind = Literal["capture", "photo", "still", "film", "sound", "file"]
KINDS: Final[tuple[MediaKind, ...]] = get_args(MediaKind)
_ATTRIBUTES: Final = {"photo": "image", "film": "video", "sound": "audio"}
"""Kind -> the attribute of a position that names such a file; `file` is any other."""
FEW_DEVICES = 50
"""So many devices or fewer are read over the whole span at once."""
FIRST_STEP = timedelta(days=1)
STEP_GROWTH = 4
_EVENT: Final = 0
_CAPTURE: Final = 1
_STILL: Final = 2
_LAST: Final = 3
"""Behind all sources of an instant."""


class Place(NamedTuple):
    """The place of an entry in the list: behind it stands what is older."""

    time: datetime
    source: int
    id: int


class MediaEntry(msgspec.Struct, frozen=True):
    """A capture that is complete, a file that a device sent, or a still that a user took. The file may be
    gone.
    """

    place: Place
    kind: MediaKind
    device_id: int
    file_name: str
    event_id: int
    """The event that names the file; 0: none does."""
    position_id: int
    """The position that names the file; 0: none does."""
    capture_id: str | None
    channel: int | None
    """The camera of a still; 0: not known."""
    shown_at: datetime | None
    """When what a still shows was; None: not known."""
    duration: int | None
    """Milliseconds that the film lasts; None: not known."""
    kept: bool
    in_ticket: bool
    """Whether a ticket refers to the file."""
    alarm_id: int
    """The event `alarm` of the same device and instant; 0: there is none."""


_KIND = (
    "case attributes ->> 'media' "
    + "".join(f"when '{name}' then '{kind}' " for kind, name in _ATTRIBUTES.items())
    + "else 'file' end"
)
_EVENTS = f"""
    select event_time as time, {_EVENT} as source, id, {_KIND} as kind, device_id,
        attributes ->> 'file' as file_name, id as event_id, position_id, null as capture_id,
        null::integer as channel, null::timestamptz as shown_at,
        case jsonb_typeof(attributes -> 'duration') when 'number' then (attributes -> 'duration')::bigint end
            as duration
    from events where type = 'media' and attributes ->> 'file' <> ''
"""  # noqa: S608 - constants
_CAPTURES = f"""
    select started_at as time, {_CAPTURE} as source, number as id, 'capture' as kind, device_id,
        file_name, 0::bigint as event_id, 0::bigint as position_id, id as capture_id,
        channel, null::timestamptz as shown_at, duration
    from captures where status = 'COMPLETE' and not removed
"""  # noqa: S608 - constants
_STILLS = f"""
    select time, {_STILL} as source, id, 'still' as kind, device_id,
        name as file_name, 0::bigint as event_id, 0::bigint as position_id, null as capture_id,
        channel, shown_at, null::bigint as duration
    from stills
"""  # noqa: S608 - constants
_NEWEST = f"""
    with found as (
        select entry.* from unnest($1::bigint[]) as wanted (device_id)
        cross join lateral (
            (select * from ({_EVENTS}) as sent
            where sent.device_id = wanted.device_id and time >= $2 and time <= $3
                and (time, source, id) < ($3, $4, $5) and kind = any($6)
            order by time desc, id desc limit $7)
            union all
            (select * from ({_CAPTURES}) as captured
            where captured.device_id = wanted.device_id and time >= $2 and time <= $3
                and (time, source, id) < ($3, $4, $5) and 'capture' = any($6)
            order by time desc, id desc limit $7)
            union all
            (select * from ({_STILLS}) as taken
            where taken.device_id = wanted.device_id and time >= $2 and time <= $3
                and (time, source, id) < ($3, $4, $5) and 'still' = any($6)
            order by time desc, id desc limit $7)
        ) as entry
        order by time desc, source desc, id desc limit $7
    )
"""  # noqa: S608 - constants
# Devices with an entry of a span without its end, listed or not, and the time of the newest.
_OLDER = """
    select device_id, time from unnest($1::bigint[]) as wanted (device_id)
    cross join lateral (
        select greatest(
            (select max(event_time) from events where type = 'media'
                and events.device_id = wanted.device_id and event_time >= $2 and event_time < $3),
            (select max(started_at) from captures
                where captures.device_id = wanted.device_id and started_at >= $2 and started_at < $3),
            (select max(stills.time) from stills
                where stills.device_id = wanted.device_id and stills.time >= $2 and stills.time < $3)
        ) as time
    ) as latest
    where time is not null
"""
_KEPT = f"""
    with found as (
        select entry.* from kept_files kept
        cross join lateral (
            select * from ({_EVENTS}) as sent where kept.event_id <> 0 and sent.id = kept.event_id
            union all
            select * from ({_CAPTURES}) as captured
            where kept.event_id = 0 and captured.file_name = kept.name
            union all
            select * from ({_STILLS}) as taken where kept.event_id = 0 and taken.file_name = kept.name
        ) as entry
        where kept.device_id = any($1) and kept.time >= $2 and kept.time <= $3
            and (entry.time, entry.source, entry.id) < ($3, $4, $5) and entry.kind = any($6)
        order by entry.time desc, entry.source desc, entry.id desc limit $7
    )
"""  # noqa: S608 - constants
_OF_EVENT = f"""
    with found as (
        (select * from ({_EVENTS}) as sent
        where device_id = $1 and time between $3 and $4
        order by abs(extract(epoch from time - $2)), id limit $5)
        union all
        (select captured.* from ({_CAPTURES}) as captured join captures on captures.id = captured.capture_id
        where captures.device_id = $1 and (
            captures.start_time <= $2 and captures.end_time >= $2
            or captures.live and captures.started_at <= $2 and captures.completed_at >= $2
            or captures.id in (
                select capture_id from footage_requests
                where device_id = $1 and start_time <= $2 and end_time >= $2
            )
        )
        order by time, id limit $5)
    )
"""  # noqa: S608 - constants
_SELECT = """
    select found.*,
        exists (select from kept_files where name = found.file_name) as kept,
        exists (select from ticket_files where name = found.file_name) as in_ticket,
        coalesce((
            select id from events where device_id = found.device_id and event_time = found.time
                and type = 'alarm' and found.source = 0 order by id limit 1
        ), 0) as alarm_id
    from found order by found.time desc, found.source desc, found.id desc
"""


async def newest(
    q: Queries,
    device_ids: Sequence[int],
    start: datetime,
    end: datetime,
    *,
    limit: int,
    after: Place | None = None,
    kinds: Sequence[MediaKind] = KINDS,
    kept: bool = False,
) -> list[MediaEntry]:
    """Return the newest entries of devices in a span, both ends included; at most `limit`.

    Only those behind the place `after`, of these kinds, and with `kept` only those that users keep. Many
    devices are read in steps from the end, each longer than the one before, and each with the devices that
    have something older.
    """
    place = after if after is not None and after.time <= end else Place(end, _LAST, 0)
    if kept:
        arguments = (list(device_ids), start, *place, list(kinds), limit)
        return [_entry(row) for row in await q.fetch(_KEPT + _SELECT, *arguments)]
    found: list[MediaEntry] = []
    step, last = FIRST_STEP, place.time
    while True:
        is_whole = len(device_ids) <= FEW_DEVICES or last - start <= step
        begin = start if is_whole else last - step
        arguments = (list(device_ids), begin, *place, list(kinds), limit - len(found))
        found += [_entry(row) for row in await q.fetch(_NEWEST + _SELECT, *arguments)]
        if len(found) >= limit or begin <= start:
            return found
        older = await q.fetch(_OLDER, list(device_ids), start, begin)
        if not older:
            return found
        device_ids = [row[0] for row in older]
        # What is at `begin` was read.
        place, last, step = Place(begin, -1, 0), max(row[1] for row in older), step * STEP_GROWTH


async def of_event(
    q: Queries, device_id: int, at: datetime, around: timedelta, limit: int
) -> list[MediaEntry]:
    """Return what shows an instant: files that the device sent around it, and captures that hold it, or
    that were fetched for a span that does.

    At most `limit` of each, the files nearest to the instant first.
    """
    rows = await q.fetch(_OF_EVENT + _SELECT, device_id, at, at - around, at + around, limit)
    return [_entry(row) for row in rows]


async def find(q: Queries, device_id: int, file_name: str) -> MediaEntry | None:
    """Return the entry of a file; None where no capture, no event and no still names it."""
    sql = f"""
        with found as (
            select * from (
                select * from ({_EVENTS}) as sent union all select * from ({_CAPTURES}) as captured
                union all select * from ({_STILLS}) as taken
            ) as entry where device_id = $1 and file_name = $2 order by id desc limit 1
        )
    """  # noqa: S608 - constants
    rows = await q.fetch(sql + _SELECT, device_id, file_name)
    return _entry(rows[0]) if rows else None


async def note_duration(q: Queries, unique_id: str, file_name: str, milliseconds: int) -> None:
    """Note how long a film lasts, in the row of its capture or in the event that names it."""
    await q.execute("update captures set duration = $2 where file_name = $1", file_name, milliseconds)
    await q.execute(
        "update events set attributes = attributes || jsonb_build_object('duration', $3::bigint)"
        " where type = 'media' and device_id = (select id from devices where unique_id = $1)"
        " and attributes ->> 'file' = $2",
        unique_id,
        file_name,
        milliseconds,
    )


def _entry(row: Row) -> MediaEntry:
    time, source, number, *rest = row.values()
    return MediaEntry(Place(time, source, number), *rest)
