"""How much of what costs time later is stored: by a user, in all, and for a device (docs/server.md#quotas).

A device has what is linked to it and to its groups, of which three levels count. What is counted, and the
SQL of what a row costs, is the table KINDS; how much there may be is for those who ask.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from motorpool.storage.accounts import links
from motorpool.storage.accounts.links import LinkType
from motorpool.storage.database.queries import Queries

_LOCK = 0x6D70_7175
"""The advisory lock of transactions that may exceed a quota."""


@dataclass(frozen=True)
class Measure:
    """What is counted of a row."""

    name: str
    """Name in the settings: `geofence_points`."""
    words: str
    """In errors: "points of geofences"."""
    cost: str = "1"
    """SQL, in which the row is `p`."""


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

    @property
    def varies(self) -> bool:
        """Whether an update may change what a row costs."""
        return any(measure.cost != "1" for measure in (*self.owned, *self.applied))


def _records(words: str) -> Measure:
    return Measure("records", words)


def _tasks(words: str) -> Measure:
    return Measure("tasks", words)


_STEPS = "jsonb_array_length(p.on_start) + jsonb_array_length(p.on_end)"

KINDS: Final = (
    Kind(
        table="geofences",
        owned=(_records("geofences"), Measure("geofence_points", "points of geofences", "p.points")),
        applied=(
            Measure("geofences", "geofences"),
            Measure("geofence_points", "points of geofences", "p.points"),
        ),
        links=(links.DEVICE_GEOFENCE, links.GROUP_GEOFENCE),
    ),
    Kind(
        table="computed_attributes",
        applied=(
            Measure("computed_attributes", "computed attributes"),
            Measure("expression_characters", "characters of computed attributes", "length(p.expression)"),
        ),
        links=(links.DEVICE_ATTRIBUTE, links.GROUP_ATTRIBUTE),
    ),
    Kind(
        table="maintenance",
        owned=(_records("maintenances"),),
        applied=(Measure("maintenances", "maintenances"),),
        links=(links.DEVICE_MAINTENANCE, links.GROUP_MAINTENANCE),
    ),
    Kind(
        table="notifications",
        owned=(_tasks("notifications"),),
        applied=(Measure("notifications", "notifications"),),
        links=(links.DEVICE_NOTIFICATION, links.GROUP_NOTIFICATION),
    ),
    Kind(
        table="scheduled_commands",
        owned=(_tasks("scheduled commands"),),
        applied=(Measure("scheduled_steps", "steps of scheduled commands", _STEPS),),
        links=(links.DEVICE_SCHEDULED_COMMAND, links.GROUP_SCHEDULED_COMMAND),
    ),
    Kind(
        table="devices",
        applied=(Measure("linked_devices", "linked devices"),),
        links=(links.DEVICE_DEVICE,),
    ),
    Kind(table="scheduled_reports", owned=(_tasks("scheduled reports"),)),
    Kind(table="calendars", owned=(_records("calendars"),)),
    Kind(table="commands", owned=(_records("saved commands"),)),
    Kind(table="drivers", owned=(_records("drivers"),)),
    Kind(table="groups", owned=(_records("groups"),)),
    Kind(table="orders", owned=(_records("orders"),)),
)
"""All that is counted."""
BY_TABLE: Final = {kind.table: kind for kind in KINDS}
BY_LINK: Final = {link: kind for kind in KINDS for link in kind.links}
APPLIED: Final = tuple(kind for kind in KINDS if kind.applied)

Used = tuple[int, ...]
"""A number for each measure of a kind, in their order."""


async def lock(transaction: Queries) -> None:
    """Wait for other transactions that may exceed a quota, and block others until this one ends.

    Call it after rows were locked, and before it is counted.
    """
    await transaction.execute("select pg_advisory_xact_lock($1)", _LOCK)


async def set_creator(transaction: Queries, kind: Kind, row_id: int, user_id: int) -> None:
    """Store who created a row."""
    sql = f"update {kind.table} set creator_id = $2 where id = $1"  # noqa: S608 - constant names
    await transaction.execute(sql, row_id, user_id)


async def creator(q: Queries, kind: Kind, row_id: int) -> int:
    """Return the user who created a row; 0 if there is none, or if they are an administrator."""
    sql = f"""
        select users.id from {kind.table} p join users on users.id = p.creator_id
        where p.id = $1 and not users.administrator
    """  # noqa: S608 - constant names
    return await q.fetch_value(sql, row_id) or 0


async def cost(q: Queries, kind: Kind, row_id: int) -> tuple[Used, Used]:
    """Return what a row costs, by the measures `owned` and `applied`."""
    measures = (*kind.owned, *kind.applied)
    sql = f"select {_list(measures)} from {kind.table} p where p.id = $1"  # noqa: S608 - constant SQL
    row = await q.fetch_row(sql, row_id)
    found = tuple(row.values()) if row is not None else (0,) * len(measures)
    return found[: len(kind.owned)], found[len(kind.owned) :]


async def owned(q: Queries, kind: Kind, user_id: int | None = None) -> Used:
    """Return what a user has created; None: what all have."""
    sql = f"select {_sums(kind.owned)} from {kind.table} p"  # noqa: S608 - constant SQL
    row = await (
        q.fetch_row(sql) if user_id is None else q.fetch_row(f"{sql} where creator_id = $1", user_id)
    )
    assert row is not None
    return tuple(row.values())


async def owned_by_users(q: Queries, kind: Kind) -> Mapping[int, Used]:
    """Return what users who are no administrators have created, by user."""
    sql = f"""
        select creator_id, {_sums(kind.owned)} from {kind.table} p join users on users.id = creator_id
        where not administrator group by creator_id
    """  # noqa: S608 - constant SQL
    return {row[0]: tuple(row.values())[1:] for row in await q.fetch(sql)}


async def owners(q: Queries, kind: Kind, row_id: int) -> tuple[list[int], list[int]]:
    """Return the devices and the groups that a row is linked to."""
    found = {link.owner: await links.owners(q, link, row_id) for link in kind.links}
    return found.get("device", []), found.get("group", [])


async def applied(
    q: Queries, kind: Kind, *, devices: Collection[int] = (), groups: Collection[int] = ()
) -> Used:
    """Return the most that one of these devices has, or one that is in these groups or below them.

    An empty group counts as a device in it would.
    """
    row = await q.fetch_row(_applied_sql(kind), list(devices), list(groups))
    assert row is not None
    return tuple(row.values())


def _applied_sql(kind: Kind) -> str:
    by_device, *by_groups = kind.links
    if by_groups:
        (by_group,) = by_groups
        linked_groups = (
            f"select distinct chain.group_id, link.{by_group.property_column} as property_id"  # noqa: S608 - constants
            f" from chain join {by_group.table} link on link.{by_group.owner_column} = chain.above_id"
        )
    else:
        linked_groups = "select 0::bigint as group_id, 0::bigint as property_id where false"
    columns = [f"c{number}" for number in range(len(kind.applied))]
    costs = ", ".join(
        f"sum({measure.cost}) as {name}" for measure, name in zip(kind.applied, columns, strict=True)
    )
    both = ", ".join(f"device.{name} + coalesce(inherited.{name}, 0)" for name in columns)
    most = ", ".join(f"coalesce(max({name}), 0)::bigint" for name in columns)
    return f"""
        with below as (
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
        ),
        chain (group_id, above_id) as (
            select id, id from place
            union select g.id, g.group_id from place join groups g using (id) where g.group_id is not null
            union select g.id, above.group_id from place join groups g using (id)
                join groups above on above.id = g.group_id where above.group_id is not null
        ),
        linked as materialized ({linked_groups}),
        inherited as (
            select linked.group_id, {costs} from linked join {kind.table} p on p.id = linked.property_id
            group by linked.group_id
        ),
        device as (
            select concerned.id, concerned.group_id, {costs} from concerned
            join {by_device.table} link on link.{by_device.owner_column} = concerned.id
            join {kind.table} p on p.id = link.{by_device.property_column}
            left join linked on linked.group_id = concerned.group_id and linked.property_id = p.id
            where linked.property_id is null
            group by concerned.id, concerned.group_id
        ),
        had ({", ".join(columns)}) as (
            select {", ".join(columns)} from inherited
            union all
            select {both} from device left join inherited on inherited.group_id = device.group_id
        )
        select {most} from had
    """  # noqa: S608 - constant SQL


def _list(measures: Iterable[Measure]) -> str:
    return ", ".join(f"({measure.cost})::bigint" for measure in measures)


def _sums(measures: Sequence[Measure]) -> str:
    return ", ".join(f"coalesce(sum({measure.cost}), 0)::bigint" for measure in measures)
