"""Links between objects: `{ownerId, propertyId}`, owner first (docs/permissions.md#links)."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Annotated, Any

import msgspec
from quart import Response

from motorpool.actors.change_feed import publish_changes
from motorpool.api.auth.rights import ADMINISTER, LINK
from motorpool.api.engine.call import Call
from motorpool.api.engine.list_parameters import Id
from motorpool.api.engine.operations import NO_CONTENT, Operations
from motorpool.api.http.errors import BadRequest
from motorpool.api.http.responses import as_json, no_content
from motorpool.api.resources import quotas
from motorpool.api.resources.helpdesk.memberships import MEMBERSHIPS, change_links, managed
from motorpool.api.resources.linked_policy import HIDDEN_GROUPS
from motorpool.storage import plain_tables
from motorpool.storage.accounts import access, links, users
from motorpool.storage.accounts.links import LINK_TYPES, LinkType
from motorpool.storage.database.conditions import Condition
from motorpool.storage.database.queries import Queries
from motorpool.storage.database.tables import ListQuery, Table
from motorpool.storage.devices import commands, devices, groups
from motorpool.storage.reports import scheduled_reports
from motorpool.storage.schedules import scheduled_commands

OPERATIONS = Operations("permissions")

SentLink = dict[str, Any]
MAX_LINKS = 1000
"""Links that one request adds or removes at most."""

TABLES: Mapping[str, Table[Any]] = {
    "user": users.TABLE,
    "managedUser": users.TABLE,
    "member": users.TABLE,
    "device": devices.TABLE,
    "group": groups.TABLE,
    "linkedDevice": devices.TABLE,
    "command": commands.TABLE,
    "attribute": plain_tables.COMPUTED_ATTRIBUTES,
    "calendar": plain_tables.CALENDARS,
    "driver": plain_tables.DRIVERS,
    "geofence": plain_tables.GEOFENCES,
    "maintenance": plain_tables.MAINTENANCE,
    "notification": plain_tables.NOTIFICATIONS,
    "order": plain_tables.ORDERS,
    "report": scheduled_reports.TABLE,
    "scheduledCommand": scheduled_commands.TABLE,
}
"""Tables that access to either side of a link is checked in."""

BY_KEYS = {tuple(key.lower() for key in keys): pair for keys, pair in LINK_TYPES.items()}

_KEYS = sorted({key for keys in LINK_TYPES for key in keys})
DescribedLink = Annotated[
    dict[str, int],
    msgspec.Meta(min_length=2, max_length=2, extra_json_schema={"propertyNames": {"enum": _KEYS}}),
]
DescribedInheritedLink = Annotated[
    dict[str, int],
    msgspec.Meta(
        min_length=3, max_length=3, extra_json_schema={"propertyNames": {"enum": [*_KEYS, "throughGroupId"]}}
    ),
]
DescribedLinks = Annotated[list[DescribedLink], msgspec.Meta(max_length=MAX_LINKS)]
LinkQuery = msgspec.defstruct("LinkQuery", [(key, Id | None, None) for key in _KEYS], frozen=True)
"""Two of these parameters, the owner's first; 0 stands for any."""


@OPERATIONS.operation("GET", "/permissions", query=LinkQuery, answer=list[DescribedLink])
async def list_permissions(call: Call) -> Response:
    """The links of two kinds of objects, given as `ownerId` and `propertyId`.

    Administrators see all of them, other users the links of which they have access to both sides.
    """
    pair, owner_id, property_id = await _asked(call)
    found = await links.find(call.context.database, pair, owner_id=owner_id, property_id=property_id)
    if not call.caller.administrator:
        found = await _both_accessible(call, pair, found)
    first, second = pair.keys
    return as_json([{first: owner, second: owned} for owner, owned in found])


@OPERATIONS.operation("GET", "/permissions/inherited", query=LinkQuery, answer=list[DescribedInheritedLink])
async def list_inherited_permissions(call: Call) -> Response:
    """What owners have by links of groups: `ownerId`, `propertyId`, and `throughGroupId`.

    Two parameters as those of `GET /permissions`, with the same rules. The group is 0 where the caller does
    not see it. Not in the specification.
    """
    pair, owner_id, property_id = await _asked(call)
    database = call.context.database
    async with call.turn:
        found = await access.inherited_links(database, pair, owner_id=owner_id, property_id=property_id)
    groups = {each.group_id for each in found}
    if not call.caller.administrator:
        both = set(await _both_accessible(call, pair, [(each.owner_id, each.property_id) for each in found]))
        found = [each for each in found if (each.owner_id, each.property_id) in both]
        groups = await _accessible(call, database, "group", groups)
    first, second = pair.keys
    return as_json(
        [
            {
                first: each.owner_id,
                second: each.property_id,
                "throughGroupId": each.group_id if each.group_id in groups else 0,
            }
            for each in found
        ]
    )


async def _asked(call: Call) -> tuple[LinkType, int, int]:
    """Return the kind of links of a query, and the ids of both sides, 0 for any. Raises BadRequest."""
    query = call.query(LinkQuery)
    # The order of the request says which is the owner.
    sent = {key: number for key in call.request.args if (number := getattr(query, key, None)) is not None}
    pair = _pair(sent)
    owner_id, property_id = sent.values()
    if not owner_id and not property_id:
        raise BadRequest("one of the two ids must not be 0")
    if not call.caller.administrator:
        await _require_side(call, pair, owner_id, property_id)
    return pair, owner_id, property_id


@OPERATIONS.operation("POST", "/permissions", body=DescribedLink, answers={204: NO_CONTENT})
async def create_permission(call: Call) -> Response:
    """Link two objects; doing it again changes nothing."""
    await _apply(call, {"": await call.body(SentLink)}, add=True)
    return no_content()


@OPERATIONS.operation("DELETE", "/permissions", body=DescribedLink, answers={204: NO_CONTENT})
async def delete_permission(call: Call) -> Response:
    """Unlink two objects."""
    await _apply(call, {"": await call.body(SentLink)}, add=False)
    return no_content()


@OPERATIONS.operation("POST", "/permissions/bulk", body=DescribedLinks, answers={204: NO_CONTENT})
async def create_permissions(call: Call) -> Response:
    """Link up to 1000 pairs of the same kind, all or none.

    The error names the first element that was refused, counted from 0.
    """
    await _apply(call, _by_place(await call.body(list[SentLink])), add=True)
    return no_content()


@OPERATIONS.operation("DELETE", "/permissions/bulk", body=DescribedLinks, answers={204: NO_CONTENT})
async def delete_permissions(call: Call) -> Response:
    """Unlink up to 1000 pairs of the same kind, all or none.

    The error names the first element that was refused, counted from 0.
    """
    await _apply(call, _by_place(await call.body(list[SentLink])), add=False)
    return no_content()


async def _require_side(call: Call, pair: LinkType, owner_id: int, property_id: int) -> None:
    """Raise BadRequest unless the caller has access to what is named. Memberships are for administrators."""
    if pair in MEMBERSHIPS:
        ADMINISTER.require(call.caller)
    for key, kind, number in zip(
        pair.keys, (pair.owner, pair.property), (owner_id, property_id), strict=True
    ):
        if number and number not in await _accessible(call, call.context.database, kind, {number}):
            raise BadRequest(f"{key}: no access to it, or no such", is_refusal=True)


async def _both_accessible(
    call: Call, pair: LinkType, found: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Return the links of which the caller has access to both sides."""
    database = call.context.database
    owners = await _accessible(call, database, pair.owner, {owner for owner, _ in found})
    owned = await _accessible(call, database, pair.property, {number for _, number in found})
    return [link for link in found if link[0] in owners and link[1] in owned]


def _by_place(sent: Sequence[SentLink]) -> dict[str, SentLink]:
    if len(sent) > MAX_LINKS:
        raise BadRequest(f"at most {MAX_LINKS} links in one request, these are {len(sent)}")
    return {f"[{index}]": link for index, link in enumerate(sent)}


async def _apply(call: Call, sent: Mapping[str, SentLink], *, add: bool) -> None:
    """Add or remove links in one transaction. The keys of `sent` are their paths in the body."""
    LINK.require(call.caller)
    if not sent:
        return
    pair, pairs = _read(sent)
    # A thousand links are much work; who has many such requests waits for their own.
    async with call.turn, call.context.database.transaction() as transaction:
        await _require_access(call, transaction, pair, pairs, add=add)
        added = pairs.values() if add else ()
        async with quotas.counted_links(call, transaction, pair, added):
            facts = await change_links(call, transaction, pair, [*pairs.values()], add=add)
    await publish_changes(call.context.system, *facts)


def _read(sent: Mapping[str, SentLink]) -> tuple[LinkType, dict[str, tuple[int, int]]]:
    """Return the kind of the links, and their ids, the owner's first. BadRequest names the wrong one."""
    first_path, first = next(iter(sent.items()))
    pair = _pair(first, first_path)
    pairs = {}
    for path, link in sent.items():
        if tuple(link) != tuple(first):
            raise BadRequest(f"{path}: all links of a list have the same two keys")
        for key, number in link.items():
            if type(number) is not int:
                raise BadRequest(f"{_dotted(path, key)}: expected `int`")
        owner_id, property_id = link.values()
        pairs[path] = (owner_id, property_id)
    return pair, pairs


def _pair(keys: Iterable[str], path: str = "") -> LinkType:
    """Return the kind of links with these two keys. Raises BadRequest."""
    found = BY_KEYS.get(tuple(key.lower() for key in keys))
    if found is None:
        text = "a link has exactly two keys, the owner's first, such as userId and deviceId"
        raise BadRequest(f"{path}: {text}" if path else text)
    return found


async def _require_access(
    call: Call, transaction: Queries, pair: LinkType, pairs: Mapping[str, tuple[int, int]], *, add: bool
) -> None:
    """Raise BadRequest for the first link of which the caller has no access to both sides.

    For a company and its teams, this is the right to manage it; its managers may remove any user.
    """
    owners, owned = ({ids[index] for ids in pairs.values() if 0 < ids[index] < 2**63} for index in (0, 1))
    if pair in MEMBERSHIPS:
        sides = [
            await _accessible(call, transaction, "member", owners) if add else owners,
            await managed(call, transaction, pair, owned),
        ]
    else:
        sides = [
            await _accessible(call, transaction, pair.owner, owners),
            await _accessible(call, transaction, pair.property, owned),
        ]
    for path, ids in pairs.items():
        for key, accessible, number in zip(pair.keys, sides, ids, strict=True):
            if number not in accessible:
                raise BadRequest(f"{_dotted(path, key)}: no access to it, or no such", is_refusal=True)
    if not call.caller.administrator:
        await _require_grant(call, transaction, pair, pairs, add=add)


async def _require_grant(
    call: Call, transaction: Queries, pair: LinkType, pairs: Mapping[str, tuple[int, int]], *, add: bool
) -> None:
    """Raise BadRequest for the first link that would give a user more than the caller has.

    Groups reach to three levels below, which the caller need not see. Nobody hands over their own account,
    and nobody parts from their users or managers, whose limits count them together.
    """
    first, second = pair.keys
    if pair is links.USER_USER:
        for path, (owner_id, managed_id) in pairs.items():
            if managed_id == call.caller.id:
                raise BadRequest(
                    f"{_dotted(path, second)}: only an administrator changes one's own managers",
                    is_refusal=True,
                )
            if owner_id == call.caller.id and not add:
                raise BadRequest(
                    f"{_dotted(path, first)}: only an administrator takes users from the caller",
                    is_refusal=True,
                )
    elif pair is links.USER_GROUP and add:
        sent = [group_id for _, group_id in pairs.values()]
        hidden = await access.with_hidden_groups(transaction, call.caller.id, sent, levels=2)
        for path, ids in pairs.items():
            if ids[1] in hidden and not await links.exists(transaction, pair, *ids):
                raise BadRequest(f"{_dotted(path, second)}: {HIDDEN_GROUPS}", is_refusal=True)


async def _accessible(call: Call, transaction: Queries, kind: str, ids: Collection[int]) -> set[int]:
    """Return which of these objects exist and are accessible to the caller.

    Administrators are never managed users: they have no managers. Temporary users are no members of
    companies.
    """
    conditions = [Condition("id = any({0}::bigint[])", (list(ids),))]
    if kind == "managedUser":
        conditions.append(Condition("not administrator"))
    if kind == "member":
        conditions.append(Condition("not temporary"))
    table = TABLES[kind]
    if call.caller.administrator:
        return set(await table.ids(transaction, ListQuery(conditions=tuple(conditions))))
    own = {call.caller.id} if table is users.TABLE else set()
    if table is users.TABLE and not call.caller.manager:
        return own
    query = ListQuery(accessible_to=call.caller.id, conditions=tuple(conditions))
    return set(await table.ids(transaction, query)) | own


def _dotted(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key
