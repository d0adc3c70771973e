"""References of tickets: whether a row exists, its name, and whether a user may refer to it."""

from collections.abc import Mapping, Sequence

import msgspec

from motorpool.storage.accounts.access import sees_device
from motorpool.storage.database.queries import Queries


class Reference(msgspec.Struct, frozen=True):
    """A row of the company that a ticket may refer to, a device, or an event or position of one."""

    id: int
    name: str
    """Empty for contacts, whose names are not to be copied, and for events and positions."""
    disabled: bool
    visible: bool
    """Whether the user may refer to it."""
    team_id: int
    """Of a category: the team that its tickets start with."""
    priority_id: int
    """Of a category: the priority that its tickets start with."""


_SIMPLE = "id, {name}, disabled, true, 0::bigint, 0::bigint"
_FIND = f"""
    select 'branch_id', {_SIMPLE.format(name="name")} from branches
        where company_id = $1 and id = any($3::bigint[])
    union all
    select 'contact_id', {_SIMPLE.format(name="''")} from contacts
        where company_id = $1 and id = any($4::bigint[])
    union all
    select 'category_id', id, name, disabled, true, coalesce(team_id, 0), coalesce(priority_id, 0)
        from ticket_categories where company_id = $1 and id = any($5::bigint[])
    union all
    select 'device_id', id, name, disabled, $2::bigint is null or {sees_device("$2", "devices.id")}, 0, 0
        from devices where id = any($6::bigint[])
    union all
    select 'parent_id', id, '#' || number, false, true, 0, 0 from tickets
        where company_id = $1 and id = any($7::bigint[])
"""  # noqa: S608 - constants
# An event may have outlived its position.
_FIND_CAUSES = " union all ".join(
    f"select '{field}', {column}, '', false, $1::bigint is null or {sees_device('$1', f'{table}.device_id')},"  # noqa: S608 - constants
    f" 0, 0 from {table} where {condition}"
    for field, column, table, condition in (
        ("event_id", "id", "events", "id = any($2::bigint[])"),
        ("position_id", "id", "positions", "id = any($3::bigint[])"),
        (
            "position_id",
            "position_id",
            "events",
            "position_id = any($3::bigint[]) and id = any($2::bigint[])",
        ),
    )
)
_OF_COMPANY = ("branch_id", "contact_id", "category_id", "device_id", "parent_id")
_CAUSES = ("event_id", "position_id")
FIELDS = (*_OF_COMPANY, *_CAUSES)
"""References that are checked here."""


async def find(
    q: Queries, company_id: int, user_id: int | None, wanted: Mapping[str, Sequence[int]]
) -> dict[str, dict[int, Reference]]:
    """Return the references that exist, by field (`FIELDS`) and id.

    `user_id`: the user who must have access to the devices; None: one who has access to all.
    """
    found: dict[str, dict[int, Reference]] = {field: {} for field in FIELDS}
    rows = []
    if any(wanted.get(field) for field in _OF_COMPANY):
        rows += await q.fetch(
            _FIND, company_id, user_id, *(list(wanted.get(field, ())) for field in _OF_COMPANY)
        )
    if any(wanted.get(field) for field in _CAUSES):
        rows += await q.fetch(_FIND_CAUSES, user_id, *(list(wanted.get(field, ())) for field in _CAUSES))
    for field, *values in map(tuple, [row.values() for row in rows]):
        found[field][values[0]] = Reference(*values)
    return found


async def is_below(q: Queries, company_id: int, ticket_id: int, parent_id: int) -> bool:
    """Return whether `parent_id` lies below a ticket or is it; call it with the company's row locked."""
    below = await q.fetch_value(
        """
        with recursive above (id) as (
            select $3::bigint
            union
            select tickets.parent_id from above join tickets on tickets.id = above.id
            where tickets.company_id = $1 and tickets.parent_id is not null
        )
        select exists (select from above where id = $2)
        """,
        company_id,
        ticket_id,
        parent_id,
    )
    return below is True
