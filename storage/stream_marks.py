"""The next numbers of the playlist of a stream, so that they never decrease across restarts."""

from motorpool.storage.queries import Queries
from motorpool.storage.records import StreamMark

__all__ = ["load", "save"]


async def load(q: Queries, device_id: int, channel: int, kind: str) -> StreamMark:
    """Return the mark of a stream; zeros if it never ran. `kind` is "live" or "playback"."""
    row = await q.fetch_row(
        "select next_index, next_discontinuity from stream_marks"
        " where device_id = $1 and channel = $2 and kind = $3",
        device_id,
        channel,
        kind,
    )
    return StreamMark() if row is None else StreamMark(row[0], row[1])


async def save(
    q: Queries, device_id: int, channel: int, kind: str, next_index: int, next_discontinuity: int
) -> None:
    """Store the mark of a stream; do nothing if the device has been deleted."""
    await q.execute(
        "insert into stream_marks (device_id, channel, kind, next_index, next_discontinuity)"
        " select id, $2, $3, $4, $5 from devices where id = $1"
        " on conflict (device_id, channel, kind) do update"
        " set next_index = excluded.next_index, next_discontinuity = excluded.next_discontinuity",
        device_id,
        channel,
        kind,
        next_index,
        next_discontinuity,
    )
