"""What devices are bound to, and the last logins that differed from it (docs/devices.md#who-a-device-is)."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta

import msgspec

from motorpool.storage.database.queries import Queries, Row

MOST_OFTEN = timedelta(minutes=1)
"""A login that differs as the one before is written down at most this often."""
TOLD_MOST_OFTEN = timedelta(hours=1)
"""An event tells of it at most this often."""

_COLUMNS = "device_id, protocol, since, registration, code"
_NOTE = """
    insert into differing_logins as known
        (device_id, protocol, reason, refused, host, registration, time, told)
    select id, $2, $3, $4, $5, $6, $7::timestamptz, case when $4 then $7::timestamptz end
    from devices where id = $1
    on conflict (device_id, protocol, reason) do update set
        refused = excluded.refused, host = excluded.host, registration = excluded.registration,
        time = excluded.time,
        told = case when excluded.refused and (known.told is null or known.told <= $8::timestamptz)
            then excluded.time else known.told end
    where known.time <= $9::timestamptz or known.refused <> excluded.refused
    returning told = time
"""


class Binding(msgspec.Struct, frozen=True, gc=False):
    """How a device reports."""

    protocol: str
    since: datetime
    registration: Mapping[str, str] | None = None
    """`manufacturer`, `model` and `terminalId` of its JT/T 808 registration; None: none was seen yet."""
    code: bytes | None = None
    """SHA-256 of its authentication code; None: none is known."""


class DifferingLogin(msgspec.Struct, frozen=True):
    """A login that differed from the binding."""

    protocol: str
    reason: str
    """What differed: `protocol`, `registration`, `network` or `secret`."""
    refused: bool
    host: str
    registration: Mapping[str, str] | None
    time: datetime


async def of_devices(q: Queries, device_ids: Collection[int]) -> dict[int, Binding]:
    """Return the bindings of those devices that have one, by device id."""
    rows = await q.fetch(
        f"select {_COLUMNS} from device_bindings where device_id = any($1::bigint[])",  # noqa: S608 - constants
        list(device_ids),
    )
    return {row["device_id"]: _binding(row) for row in rows}


async def bind(
    q: Queries, device_id: int, protocol: str, now: datetime, registration: Mapping[str, str] | None = None
) -> Binding | None:
    """Bind a device unless it is bound; return what it is bound to, or None if there is no such device.

    Of several servers that bind it at once one succeeds, and all return the same; the `registration` is noted
    by that one.
    """
    return await _changed(
        q,
        device_id,
        "insert into device_bindings (device_id, protocol, since, registration)"
        " select id, $2, $3, $4 from devices where id = $1 on conflict do nothing",
        protocol,
        now,
        None if registration is None else dict(registration),
    )


async def keep_registration(q: Queries, device_id: int, registration: Mapping[str, str]) -> Binding | None:
    """Note the registration of a bound device unless one is noted; return the binding as it is then."""
    return await _changed(
        q,
        device_id,
        "update device_bindings set registration = $2 where device_id = $1 and registration is null",
        dict(registration),
    )


async def keep_code(q: Queries, device_id: int, code: bytes) -> Binding | None:
    """Note the digest of a bound device's code unless one is noted; return the binding as it is then."""
    return await _changed(
        q, device_id, "update device_bindings set code = $2 where device_id = $1 and code is null", code
    )


async def _changed(q: Queries, device_id: int, sql: str, *args: object) -> Binding | None:
    """Change the binding of a device by a statement; return it as it is then, changed or not."""
    row = await q.fetch_row(f"{sql} returning {_COLUMNS}", device_id, *args)
    return _binding(row) if row is not None else (await of_devices(q, (device_id,))).get(device_id)


async def replace(q: Queries, device_id: int, protocol: str | None, now: datetime) -> None:
    """Bind a device to this protocol, or with None to that of its next login, and forget all else of it."""
    await q.execute("delete from differing_logins where device_id = $1", device_id)
    if protocol is None:
        await q.execute("delete from device_bindings where device_id = $1", device_id)
        return
    await q.execute(
        "insert into device_bindings (device_id, protocol, since) values ($1, $2, $3)"
        " on conflict (device_id) do update"
        " set protocol = excluded.protocol, since = excluded.since, registration = null, code = null",
        device_id,
        protocol,
        now,
    )


async def forget_code(q: Queries, device_id: int) -> None:
    """Forget the code of a device: the next one that is presented or issued counts."""
    await q.execute("update device_bindings set code = null where device_id = $1", device_id)


async def note_differing(q: Queries, device_id: int, login: DifferingLogin) -> bool:
    """Write a login down that differed from the binding; return whether an event is to tell of it.

    That is at most one an hour for each protocol and reason, at all servers together.
    """
    told = await q.fetch_value(
        _NOTE,
        device_id,
        login.protocol,
        login.reason,
        login.refused,
        login.host,
        None if login.registration is None else dict(login.registration),
        login.time,
        login.time - TOLD_MOST_OFTEN,
        login.time - MOST_OFTEN,
    )
    return told is True


async def differing(q: Queries, device_id: int) -> Sequence[DifferingLogin]:
    """Return the last logins of a device that differed from its binding, the newest first."""
    rows = await q.fetch(
        "select protocol, reason, refused, host, registration, time from differing_logins"
        " where device_id = $1 order by time desc, protocol, reason",
        device_id,
    )
    return [DifferingLogin(**dict(row.items())) for row in rows]


def _binding(row: Row) -> Binding:
    return Binding(row["protocol"], row["since"], row["registration"], row["code"])
