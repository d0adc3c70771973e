"""Links between objects: `{ownerId, propertyId}`, owner first (docs/permissions.md#links)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

import msgspec
from quart import Response

from motorpool.actors.change_feed import publish_changes
from motorpool.actors.messages.changes import LinkChanged
from motorpool.api.auth.rights import ADMINISTER, LINK
from motorpool.api.engine.audit import record_action
from motorpool.api.engine.call import Call
from motorpool.api.engine.linked_policy import may_see, may_see_user
from motorpool.api.engine.operations import NO_CONTENT, Operations
from motorpool.api.http.errors import BadRequest
from motorpool.api.http.responses import as_json, no_content
from motorpool.storage import commands, devices, groups, links, plain_tables, scheduled_commands
from motorpool.storage.links import LINK_TYPES, LinkType
from motorpool.storage.tables import Table

__all__ = ["OPERATIONS"]

OPERATIONS = Operations("permissions")

Link = dict[str, int]

TABLES: Mapping[str, Table[Any]] = {
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
    "scheduledCommand": scheduled_commands.TABLE,
}
"""Tables that access to either side of a link is checked in; users have rules of their own."""

BY_KEYS = {tuple(key.lower() for key in keys): pair for keys, pair in LINK_TYPES.items()}

Id = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
_KEYS = sorted({key for keys in LINK_TYPES for key in keys})
DescribedLink = Annotated[
    Link,
    msgspec.Meta(min_length=2, max_length=2, extra_json_schema={"propertyNames": {"enum": _KEYS}}),
]
LinkQuery = msgspec.defstruct("LinkQuery", [(key, Id | None, None) for key in _KEYS], frozen=True)
"""Two of these parameters, the owner's first; 0 stands for any."""


@OPERATIONS.operation("GET", "/permissions", query=LinkQuery, answer=list[DescribedLink])
async def list_permissions(call: Call) -> Response:
    """The links of two kinds of objects, given as `ownerId` and `propertyId`; for administrators."""
    ADMINISTER.require(call.caller)
    query = call.query(LinkQuery)
    # The order of the request says which is the owner.
    sent = {key: number for key in call.request.args if (number := getattr(query, key, None)) is not None}
    pair = _pair(sent)
    owner_id, property_id = sent.values()
    if not owner_id and not property_id:
        raise BadRequest("one of the two ids must not be 0")
    found = await links.find(call.context.database, pair, owner_id=owner_id, property_id=property_id)
    first, second = pair.keys
    return as_json([{first: owner, second: owned} for owner, owned in found])


@OPERATIONS.operation("POST", "/permissions", body=DescribedLink, answers={204: NO_CONTENT})
async def create_permission(call: Call) -> Response:
    """Link two objects; doing it again changes nothing."""
    await _apply(call, [await call.body(Link)], add=True)
    return no_content()


@OPERATIONS.operation("DELETE", "/permissions", body=DescribedLink, answers={204: NO_CONTENT})
async def delete_permission(call: Call) -> Response:
    """Unlink two objects."""
    await _apply(call, [await call.body(Link)], add=False)
    return no_content()


@OPERATIONS.operation("POST", "/permissions/bulk", body=list[DescribedLink], answers={204: NO_CONTENT})
async def create_permissions(call: Call) -> Response:
    """Link many pairs of the same kind, one after the other."""
    await _apply(call, await call.body(list[Link]), add=True)
    return no_content()


@OPERATIONS.operation("DELETE", "/permissions/bulk", body=list[DescribedLink], answers={204: NO_CONTENT})
async def delete_permissions(call: Call) -> Response:
    """Unlink many pairs of the same kind, one after the other."""
    await _apply(call, await call.body(list[Link]), add=False)
    return no_content()


async def _apply(call: Call, sent: Sequence[Link], *, add: bool) -> None:
    LINK.require(call.caller)
    if not sent:
        return
    if any(tuple(link) != tuple(sent[0]) for link in sent):
        raise BadRequest("all links of a list have the same two keys")
    pair = _pair(sent[0])
    try:
        for owner_id, property_id in _ids(sent):
            await _require_access(call, pair.owner, owner_id)
            await _require_access(call, pair.property, property_id)
            async with call.context.database.transaction() as transaction:
                if add:
                    await links.add(transaction, pair, owner_id, property_id)
                else:
                    await links.remove(transaction, pair, owner_id, property_id)
                await record_action(
                    call,
                    transaction,
                    "link" if add else "unlink",
                    pair.property,
                    property_id,
                    attributes={"ownerType": pair.owner, "ownerId": owner_id},
                )
    finally:
        # Links changed before an error remain changed and must be announced.
        links_changed = [LinkChanged(pair.owner, owner, pair.property, owned) for owner, owned in _ids(sent)]
        await publish_changes(call.context.system, *links_changed)


def _ids(sent: Sequence[Link]) -> Iterator[tuple[int, int]]:
    for link in sent:
        owner_id, property_id = link.values()
        yield owner_id, property_id


def _pair(link: Mapping[str, int]) -> LinkType:
    found = BY_KEYS.get(tuple(key.lower() for key in link))
    if found is None:
        raise BadRequest("a link has exactly two keys, the owner's first, such as userId and deviceId")
    return found


async def _require_access(call: Call, kind: str, record_id: int) -> None:
    if not 0 < record_id < 2**63:
        raise BadRequest(f"{kind}Id: no such")
    if kind in {"user", "managedUser"}:
        permitted = await may_see_user(call, call.context.database, record_id)
    else:
        permitted = call.caller.administrator or await may_see(call, TABLES[kind], record_id)
    if not permitted:
        raise BadRequest(f"{kind}Id: no access to it, or no such")
