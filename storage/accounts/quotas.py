"""How much of what costs time later is stored: by a user, in all, and for a device (docs/server.md#quotas).

A device has what is linked to it and to its groups, of which three levels count. What rows count for is kept
up to date by triggers of the database, in the tables `user_quota_use`, `device_quota_use` and
`group_quota_use`. A transaction that adds to a row of these blocks others that do until it ends, so what it
reads then is exact. How much there may be is for those who ask.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from motorpool.storage.accounts import links
from motorpool.storage.accounts.links import LinkType
from motorpool.storage.database.queries import Queries, Row


@dataclass(frozen=True)
class Measure:
    """What is counted of a row."""

    name: str
    """Name in the settings: `geofence_points`."""
    words: str
    """In errors: "points of geofences"."""
    key: str
    """Its name in the database, behind that of the table: `points`."""
    size: Callable[[Any], int] = lambda _: 1
    """What is counted of a record; only whether it grows matters."""


@dataclass(frozen=True, kw_only=True)
class Kind:
    """Rows of one table."""

    table: str
    owned: tuple[Measure, ...] = ()
    """What is limited by user and in all."""
    applied: tuple[Measure, ...] = ()
    """What is limited by device."""
    links: tuple[LinkType, ...] = ()
    """The links by which it applies to devices: those of devices, and those of groups if there are any."""
    shared: tuple[Measure, ...] = ()
    """Links of users to the rows, which count for who created these."""

    def keys(self, measures: Iterable[Measure]) -> list[str]:
        """Return the names of measures in the database."""
        return [f"{self.table}:{measure.key}" for measure in measures]


def _json_bytes(record: Any) -> int:  # noqa: ANN401 - of any table
    return len(msgspec.json.encode(record.attributes))


def _records(words: str, name: str = "records") -> tuple[Measure, Measure]:
    return Measure(name, words, "rows"), Measure("bytes", f"bytes of {words}", "bytes", _json_bytes)


def _tasks(words: str) -> tuple[Measure, Measure]:
    return _records(words, "tasks")


def _points(record: Any) -> int:  # noqa: ANN401 - a geofence
    return int(record.area.count(","))


def _rules(company: Any) -> int:  # noqa: ANN401 - a company
    rules = company.attributes.get("ticketRules")
    return len(rules) if isinstance(rules, list) else 0


KINDS: Final = (
    Kind(
        table="geofences",
        owned=(
            Measure("records", "geofences", "rows"),
            Measure("geofence_points", "points of geofences", "points", _points),
            Measure("bytes", "bytes of geofences", "bytes", lambda row: _json_bytes(row) + len(row.area)),
        ),
        applied=(
            Measure("geofences", "geofences", "rows"),
            Measure("geofence_points", "points of geofences", "points", _points),
        ),
        links=(links.DEVICE_GEOFENCE, links.GROUP_GEOFENCE),
    ),
    Kind(
        table="computed_attributes",
        applied=(
            Measure("computed_attributes", "computed attributes", "rows"),
            Measure(
                "expression_characters",
                "characters of computed attributes",
                "characters",
                lambda row: len(row.expression),
            ),
        ),
        links=(links.DEVICE_ATTRIBUTE, links.GROUP_ATTRIBUTE),
    ),
    Kind(
        table="maintenance",
        owned=_records("maintenances"),
        applied=(Measure("maintenances", "maintenances", "rows"),),
        links=(links.DEVICE_MAINTENANCE, links.GROUP_MAINTENANCE),
    ),
    Kind(
        table="notifications",
        owned=_tasks("notifications"),
        applied=(Measure("notifications", "notifications", "rows"),),
        links=(links.DEVICE_NOTIFICATION, links.GROUP_NOTIFICATION),
        shared=(Measure("notified", "links of users to notifications", "links"),),
    ),
    Kind(
        table="scheduled_commands",
        owned=_tasks("scheduled commands"),
        applied=(
            Measure(
                "scheduled_steps",
                "steps of scheduled commands",
                "steps",
                lambda row: len(row.on_start) + len(row.on_end),
            ),
        ),
        links=(links.DEVICE_SCHEDULED_COMMAND, links.GROUP_SCHEDULED_COMMAND),
    ),
    Kind(
        table="devices",
        owned=(Measure("bytes", "bytes of devices", "bytes", _json_bytes),),
        applied=(Measure("linked_devices", "linked devices", "linked"),),
        links=(links.DEVICE_DEVICE,),
    ),
    Kind(
        table="companies",
        owned=(Measure("ticket_rules", "ticket rules", "rules", _rules),),
    ),
    Kind(
        table="calendars",
        owned=(
            Measure("records", "calendars", "rows"),
            Measure("calendar_cost", "steps of calendars", "cost", lambda row: getattr(row, "cost", 0)),
            Measure("bytes", "bytes of calendars", "bytes", lambda row: _json_bytes(row) + len(row.data)),
        ),
    ),
    Kind(table="scheduled_reports", owned=_tasks("scheduled reports")),
    Kind(table="commands", owned=_records("saved commands")),
    Kind(table="drivers", owned=_records("drivers")),
    Kind(table="groups", owned=_records("groups")),
    Kind(table="orders", owned=_records("orders")),
)
"""All that is counted."""
BY_TABLE: Final = {kind.table: kind for kind in KINDS}
BY_LINK: Final = {link: kind for kind in KINDS for link in kind.links}
SHARED: Final = {links.USER_NOTIFICATION: BY_TABLE["notifications"]}
"""The links that count for who created what is linked."""
APPLIED: Final = tuple(kind for kind in KINDS if kind.applied)

Used = tuple[int, ...]
"""A number for each measure, in their order."""


async def creator(q: Queries, kind: Kind, row_id: int) -> int:
    """Return the user who created a row; 0 if there is none, or if they are an administrator."""
    return (await creators(q, kind, [row_id])).get(row_id, 0)


async def creators(q: Queries, kind: Kind, row_ids: Collection[int]) -> dict[int, int]:
    """Return the users who created rows and are no administrators, by the ids of the rows."""
    sql = f"""
        select p.id, users.id from {kind.table} p join users on users.id = p.creator_id
        where p.id = any($1::bigint[]) and not users.administrator
    """  # noqa: S608 - constant names
    return {row[0]: row[1] for row in await q.fetch(sql, list(row_ids))}


async def owned(q: Queries, kind: Kind, measures: Sequence[Measure], user_id: int) -> Used:
    """Return what a user has created."""
    sql = "select measure, amount from user_quota_use where user_id = $1 and measure = any($2::text[])"
    return _in_order(kind, measures, await q.fetch(sql, user_id, kind.keys(measures)))


async def owned_by_all(q: Queries, kind: Kind, measures: Sequence[Measure]) -> Used:
    """Return what all users have created, those included who were deleted."""
    sql = (
        "select measure, sum(amount)::bigint from user_quota_use where measure = any($1::text[])"
        " group by measure"
    )
    return _in_order(kind, measures, await q.fetch(sql, kind.keys(measures)))


async def owned_by_users(
    q: Queries, kind: Kind, measures: Sequence[Measure], user_ids: Collection[int] | None = None
) -> Mapping[int, Used]:
    """Return what users who are no administrators have created, by user; of all users, or only of these."""
    sql = """
        select user_id, measure, amount from user_quota_use join users on users.id = user_id
        where measure = any($1::text[]) and not administrator
            and ($2::bigint[] is null or user_id = any($2))
    """
    only = None if user_ids is None else list(user_ids)
    rows: dict[int, list[tuple[str, int]]] = {}
    for row in await q.fetch(sql, kind.keys(measures), only):
        rows.setdefault(row[0], []).append((row[1], row[2]))
    return {user_id: _in_order(kind, measures, found) for user_id, found in rows.items()}


async def owners(q: Queries, kind: Kind, row_id: int) -> tuple[list[int], list[int]]:
    """Return the devices and the groups that a row is linked to."""
    found = {link.owner: await links.owners(q, link, row_id) for link in kind.links}
    return found.get("device", []), found.get("group", [])


async def lock(transaction: Queries, *, devices: Collection[int] = (), groups: Collection[int] = ()) -> None:
    """Block others who change what these devices and groups, and those in the groups, have by their groups.

    Until the transaction ends; call it before anything is changed.
    """
    found = await transaction.fetch(_CHAINS, list(devices), list(groups))
    if found:
        group_ids = [row[0] for row in found]
        await transaction.execute(_ADD_LOCKS, group_ids)
        await transaction.execute(_LOCK, group_ids)


async def linked(q: Queries, kind: Kind, link: LinkType, owner_ids: Collection[int]) -> Used:
    """Return what is linked to these devices, or to these groups, together."""
    sql = (
        f"select measure, sum(amount)::bigint from {link.owner}_quota_use"  # noqa: S608 - constant names
        f" where {link.owner_column} = any($1::bigint[]) and measure = any($2::text[]) group by measure"
    )
    return _in_order(kind, kind.applied, await q.fetch(sql, list(owner_ids), kind.keys(kind.applied)))


async def applied(
    q: Queries, kind: Kind, *, devices: Collection[int] = (), groups: Collection[int] = ()
) -> Used:
    """Return the most that one of these devices has, or one that is in these groups or below them.

    What is linked to a device and to a group counts for both. An empty group counts as a device in it would.
    """
    keys = kind.keys(kind.applied)
    return _in_order(kind, kind.applied, await q.fetch(_APPLIED, list(devices), list(groups), keys))


async def applied_to_all(q: Queries, kind: Kind) -> Used:
    """Return the most that a device has of all there are."""
    keys = kind.keys(kind.applied)
    return _in_order(kind, kind.applied, await q.fetch(_APPLIED_TO_ALL, keys))


def _in_order(kind: Kind, measures: Sequence[Measure], rows: Iterable[Row | tuple[str, int]]) -> Used:
    found = {row[0]: row[1] for row in rows}
    return tuple(found.get(key, 0) for key in kind.keys(measures))


_CHAINS = """
    with recursive above (id, level) as (
        select id, 1 from groups where id = any($2::bigint[])
        union select group_id, 1 from devices where id = any($1::bigint[]) and group_id is not null
        union select g.group_id, level + 1 from above join groups g using (id)
            where g.group_id is not null and level < 3
    )
    select distinct id from above order by id
"""
_ADD_LOCKS = """
    insert into quota_locks select id from groups where id = any($1::bigint[]) order by id
    on conflict do nothing
"""
_LOCK = "select from quota_locks where group_id = any($1::bigint[]) order by group_id for update"
_BELOW = """
    below as (
        select id from groups where id = any($2::bigint[])
        union select id from groups where group_id = any($2::bigint[])
        union select g2.id from groups g1 join groups g2 on g2.group_id = g1.id
            where g1.group_id = any($2::bigint[])
    ),
    concerned as (
        select id, group_id from devices where id = any($1::bigint[])
        union select id, group_id from devices where group_id in (select id from below)
    ),
    place as (
        select id from below union select group_id from concerned where group_id is not null
    )
"""
_MOST = """
    chain (group_id, above_id) as (
        select id, id from place
        union all select g.id, g.group_id from place join groups g using (id) where g.group_id is not null
        union all select g.id, above.group_id from place join groups g using (id)
            join groups above on above.id = g.group_id where above.group_id is not null
    ),
    inherited as (
        select chain.group_id, measure, sum(amount) as amount
        from chain join group_quota_use used on used.group_id = chain.above_id
        where measure = any({measures}) group by 1, 2
    ),
    had as (
        select measure, amount from inherited
        union all
        select used.measure, used.amount + coalesce(inherited.amount, 0)
        from concerned join device_quota_use used on used.device_id = concerned.id
        left join inherited on inherited.group_id = concerned.group_id and inherited.measure = used.measure
        where used.measure = any({measures})
    )
    select measure, max(amount)::bigint from had group by measure
"""
_APPLIED = f"with {_BELOW}, {_MOST.format(measures='$3::text[]')}"
_ALL = "concerned as (select id, group_id from devices), place as (select id from groups)"
_APPLIED_TO_ALL = f"with {_ALL}, {_MOST.format(measures='$1::text[]')}"
