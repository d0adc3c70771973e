"""The table `counted_attempts`: failed logins and other limited attempts, for all servers of a cluster."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from motorpool.storage.database.queries import Queries

MAX_KEYS: Final = 20_000
"""Keys of each kind that `clean` leaves, those that were counted last."""

# Of two servers that count an attempt of one key at once, the later one sees the other's.
_ADD = """
    insert into counted_attempts as counted (kind, key, times, expires)
    select $1, $2, array_fill($3::timestamptz, array[$7::integer]), $3::timestamptz + $4::interval
    where $6::boolean or $7 <= $5::integer
    on conflict (kind, key) do update set
        times = array(
            select at from unnest(counted.times) as at where at > $3::timestamptz - $4::interval
            order by at desc limit greatest(0, $5 - $7)
        ) || excluded.times,
        expires = greatest(counted.expires, excluded.expires)
    where $6 or $5 >= $7 + (
        select count(*) from unnest(counted.times) as at where at > $3::timestamptz - $4::interval
    )
    returning true
"""
_RECENT = """
    select kind, key, array(
        select at from unnest(times) as at where at > $3::timestamptz - $4::interval order by at
    )
    from counted_attempts join unnest($1::text[], $2::text[]) as asked (kind, key) using (kind, key)
"""
# Locked in the order of the keys, as those who count them do.
_REMOVE = """
    update counted_attempts set times = times[:place - 1] || times[place + 1:]
    from (
        select kind, key, array_position(times, $3::timestamptz) as place
        from counted_attempts
        join unnest($1::text[], $2::text[]) with ordinality as asked (kind, key, number) using (kind, key)
        order by number for update of counted_attempts
    ) as found
    where counted_attempts.kind = found.kind and counted_attempts.key = found.key and place is not null
"""
# Rows that another transaction has locked are in use.
_CLEAN = """
    delete from counted_attempts where (kind, key) in (
        select kind, key from counted_attempts where {which} for update skip locked
    )
"""
_EXPIRED = _CLEAN.format(which="expires < $1")
_BEYOND = _CLEAN.format(
    which="""(kind, key) in (
        select kind, key from (
            select kind, key, row_number() over (partition by kind order by expires desc) as place
            from counted_attempts
        ) as placed where place > $1
    )"""
)


async def recent(
    q: Queries, keys: Sequence[tuple[str, str]], *, now: datetime, window: timedelta
) -> dict[tuple[str, str], list[datetime]]:
    """Return the attempts within the window before `now` by kind and key, oldest first, if there are any."""
    rows = await q.fetch(_RECENT, *_columns(keys), now, window)
    return {(row[0], row[1]): row[2] for row in rows if row[2]}


async def add(
    q: Queries,
    kind: str,
    key: str,
    *,
    limit: int,
    now: datetime,
    window: timedelta,
    attempts: int = 1,
    always: bool = False,
) -> bool:
    """Count attempts unless more than `limit` were within the window; return whether they were counted.

    With `always` they are counted in any case, in place of the oldest ones past the limit.
    """
    return await q.fetch_value(_ADD, kind, key, now, window, limit, always, attempts) is True


async def remove(q: Queries, keys: Sequence[tuple[str, str]], at: datetime) -> None:
    """Uncount the attempt of this instant, of each kind and key."""
    await q.execute(_REMOVE, *_columns(keys), at)


async def clear(q: Queries, kind: str, key: str) -> None:
    """Uncount the attempts of a key."""
    await q.execute("delete from counted_attempts where kind = $1 and key = $2", kind, key)


async def clear_beginning(q: Queries, kind: str, prefix: str) -> None:
    """Uncount the attempts of all keys that begin with `prefix`."""
    await q.execute("delete from counted_attempts where kind = $1 and starts_with(key, $2)", kind, prefix)


async def clean(q: Queries, now: datetime) -> None:
    """Delete counts whose window has passed, and counts beyond MAX_KEYS."""
    await q.execute(_EXPIRED, now)
    await q.execute(_BEYOND, MAX_KEYS)


def _columns(keys: Sequence[tuple[str, str]]) -> tuple[list[str], list[str]]:
    return [kind for kind, _ in keys], [key for _, key in keys]
