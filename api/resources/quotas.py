"""Refuses what would exceed a quota, where it is stored and where it is linked (docs/server.md#quotas).

What exceeds one already, since it was stored before or the setting was lowered, stays and works; it does not
grow.
"""

from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import asynccontextmanager

import msgspec

from motorpool.api.engine.call import Call
from motorpool.api.engine.resource import id_of
from motorpool.api.http.errors import BadRequest
from motorpool.storage.accounts import quotas
from motorpool.storage.accounts.links import LinkType
from motorpool.storage.accounts.quotas import APPLIED, BY_LINK, BY_TABLE, SHARED, Kind, Measure, Used
from motorpool.storage.database.queries import Queries

_WHO = {"user": "the user", "server": "the server", "device": "a device"}
_NOT_COUNTED = Kind(table="")


def creator_columns(call: Call, table: str) -> dict[str, int]:
    """Return the columns of a new row, beside its fields, by which it counts for the caller."""
    kind = BY_TABLE.get(table)
    return {"creator_id": call.caller.id} if kind is not None and kind.owned else {}


async def require_room(call: Call, transaction: Queries, new: msgspec.Struct, table: str) -> None:
    """Raise BadRequest if a quota is exceeded by a row that was stored."""
    kind = BY_TABLE.get(table)
    if kind is not None and kind.owned:
        user_id = 0 if call.caller.administrator else call.caller.id
        grown = [measure.size(new) for measure in kind.owned]
        await _require_owned(call, transaction, kind, grown, user_id)


@asynccontextmanager
async def counted_change(
    call: Call, transaction: Queries, new: msgspec.Struct, old: msgspec.Struct, table: str
) -> AsyncGenerator[None, None]:
    """Have the update of a row within the block raise BadRequest if it grows and a quota is exceeded."""
    kind = BY_TABLE.get(table, _NOT_COUNTED)
    grown = [measure.size(new) - measure.size(old) for measure in kind.owned]
    grown_of_devices = [measure.size(new) - measure.size(old) for measure in kind.applied]
    devices: list[int] = []
    groups: list[int] = []
    if max(grown_of_devices, default=0) > 0:
        devices, groups = await quotas.owners(transaction, kind, id_of(old))
        await quotas.lock(transaction, devices=devices, groups=groups)
    yield
    if max(grown, default=0) > 0:
        user_id = await quotas.creator(transaction, kind, id_of(old))
        await _require_owned(call, transaction, kind, grown, user_id)
    if devices or groups:
        used = await quotas.applied(transaction, kind, devices=devices, groups=groups)
        _require(call, "device", kind.applied, used, grown_of_devices)


@asynccontextmanager
async def counted_links(
    call: Call, transaction: Queries, link: LinkType, pairs: Collection[tuple[int, int]]
) -> AsyncGenerator[None, None]:
    """Have new links within the block raise BadRequest if a quota is exceeded."""
    if pairs and link in BY_LINK:
        async with _counted_for_devices(call, transaction, link, {owner_id for owner_id, _ in pairs}):
            yield
    elif pairs and link in SHARED:
        async with _counted_for_creators(call, transaction, SHARED[link], {owned for _, owned in pairs}):
            yield
    else:
        yield


@asynccontextmanager
async def _counted_for_devices(
    call: Call, transaction: Queries, link: LinkType, owner_ids: Collection[int]
) -> AsyncGenerator[None, None]:
    kind = BY_LINK[link]
    whose = {f"{link.owner}s": owner_ids}
    await quotas.lock(transaction, **whose)
    before = await quotas.linked(transaction, kind, link, owner_ids)
    yield
    after = await quotas.linked(transaction, kind, link, owner_ids)
    if after != before:
        used = await quotas.applied(transaction, kind, **whose)
        _require(call, "device", kind.applied, used, _grown(after, before))


@asynccontextmanager
async def _counted_for_creators(
    call: Call, transaction: Queries, kind: Kind, row_ids: Collection[int]
) -> AsyncGenerator[None, None]:
    """Count links of users to rows for the users who created these."""
    user_ids = set((await quotas.creators(transaction, kind, row_ids)).values())
    before = await quotas.owned_by_users(transaction, kind, kind.shared, user_ids)
    all_before = await quotas.owned_by_all(transaction, kind, kind.shared)
    yield
    for user_id, now in (await quotas.owned_by_users(transaction, kind, kind.shared, user_ids)).items():
        then = before.get(user_id, (0,) * len(now))
        _require(call, "user", kind.shared, now, _grown(now, then))
    now = await quotas.owned_by_all(transaction, kind, kind.shared)
    _require(call, "server", kind.shared, now, _grown(now, all_before))


@asynccontextmanager
async def counted_devices(
    call: Call,
    transaction: Queries,
    *,
    into: int,
    devices: Collection[int] = (),
    groups: Collection[int] = (),
) -> AsyncGenerator[None, None]:
    """Have a move of devices or groups into a group within the block raise BadRequest if a quota is exceeded.

    It is exceeded by what the devices have, or those in the groups, if some have more of it than before.
    """
    # Both places at once: two that change places would wait for each other.
    await quotas.lock(transaction, devices=devices, groups=[*groups, into])
    whose = {"devices": devices, "groups": groups}
    before = [await quotas.applied(transaction, kind, **whose) for kind in APPLIED]
    yield
    # The group may have come below others meanwhile.
    await quotas.lock(transaction, devices=devices, groups=groups)
    for kind, had in zip(APPLIED, before, strict=True):
        used = await quotas.applied(transaction, kind, **whose)
        _require(call, "device", kind.applied, used, _grown(used, had))


async def _require_owned(
    call: Call, transaction: Queries, kind: Kind, grown: Sequence[int], user_id: int
) -> None:
    """Refuse what a user, if it is one, and all of them have."""
    if user_id:
        used = await quotas.owned(transaction, kind, kind.owned, user_id)
        _require(call, "user", kind.owned, used, grown)
    used = await quotas.owned_by_all(transaction, kind, kind.owned)
    _require(call, "server", kind.owned, used, grown)


def _grown(now: Used, before: Used) -> list[int]:
    return [amount - then for amount, then in zip(now, before, strict=True)]


def _require(call: Call, scope: str, measures: Sequence[Measure], used: Used, grown: Sequence[int]) -> None:
    settings = call.context.settings.quotas
    for measure, now, added in zip(measures, used, grown, strict=True):
        most = settings.limit(scope, measure.name)
        if added > 0 and now > most:
            raise BadRequest(
                f"{_WHO[scope]} would have {now} {measure.words}, of at most {most}"
                f" (quotas.{scope}_{measure.name})"
            )
