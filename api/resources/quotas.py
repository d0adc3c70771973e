"""Refuses what would exceed a quota, where it is stored and where it is linked (docs/server.md#quotas).

What exceeds one already, since it was stored before or the setting was lowered, stays and works; it does not
grow.
"""

from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import asynccontextmanager

from motorpool.api.engine.call import Call
from motorpool.api.http.errors import BadRequest
from motorpool.api.settings import QuotaSettings
from motorpool.storage.accounts import quotas
from motorpool.storage.accounts.links import LinkType
from motorpool.storage.accounts.quotas import APPLIED, BY_LINK, BY_TABLE, Kind, Measure, Used
from motorpool.storage.database.queries import Queries


async def count_new(call: Call, transaction: Queries, table: str, row_id: int) -> None:
    """Count a new row as created by the caller. Raises BadRequest if a quota is exceeded."""
    kind = BY_TABLE.get(table)
    if kind is None or not kind.owned:
        return
    await quotas.set_creator(transaction, kind, row_id, call.caller.id)
    await quotas.lock(transaction)
    added, _ = await quotas.cost(transaction, kind, row_id)
    user_id = 0 if call.caller.administrator else call.caller.id
    await _require_owned(call, transaction, kind, added, user_id)


@asynccontextmanager
async def counted_change(
    call: Call, transaction: Queries, table: str, row_id: int
) -> AsyncGenerator[None, None]:
    """Have the update of a row within the block raise BadRequest if it grows and a quota is exceeded."""
    kind = BY_TABLE.get(table)
    if kind is None or not kind.varies:
        yield
        return
    owned, applied = await quotas.cost(transaction, kind, row_id)
    yield
    owned_now, applied_now = await quotas.cost(transaction, kind, row_id)
    grown = [now - before for now, before in zip(owned_now, owned, strict=True)]
    if max(grown, default=0) > 0:
        await quotas.lock(transaction)
        user_id = await quotas.creator(transaction, kind, row_id)
        await _require_owned(call, transaction, kind, grown, user_id)
    grown = [now - before for now, before in zip(applied_now, applied, strict=True)]
    if max(grown, default=0) > 0:
        await quotas.lock(transaction)
        devices, groups = await quotas.owners(transaction, kind, row_id)
        used = await quotas.applied(transaction, kind, devices=devices, groups=groups)
        _require_applied(call, kind, used, grown)


@asynccontextmanager
async def counted_links(
    call: Call, transaction: Queries, link: LinkType, owner_ids: Collection[int]
) -> AsyncGenerator[None, None]:
    """Have new links of devices or groups within the block raise BadRequest if a quota is exceeded."""
    kinds = (BY_LINK[link],) if owner_ids and link in BY_LINK else ()
    if link.owner == "group":
        async with counted_devices(call, transaction, kinds, groups=owner_ids):
            yield
    else:
        async with counted_devices(call, transaction, kinds, devices=owner_ids):
            yield


@asynccontextmanager
async def counted_devices(
    call: Call,
    transaction: Queries,
    kinds: Sequence[Kind] = APPLIED,
    *,
    devices: Collection[int] = (),
    groups: Collection[int] = (),
) -> AsyncGenerator[None, None]:
    """Have what is done to devices and groups within the block raise BadRequest if a quota is exceeded.

    It is exceeded by what the devices have, or those in the groups, if some have more of it than before.
    """
    if kinds:
        await quotas.lock(transaction)
    before = [await quotas.applied(transaction, kind, devices=devices, groups=groups) for kind in kinds]
    yield
    for kind, had in zip(kinds, before, strict=True):
        used = await quotas.applied(transaction, kind, devices=devices, groups=groups)
        _require_applied(call, kind, used, [now - then for now, then in zip(used, had, strict=True)])


async def _require_owned(
    call: Call, transaction: Queries, kind: Kind, grown: Sequence[int], user_id: int
) -> None:
    """Refuse what a user, if it is one, and all of them have."""
    settings = call.context.settings.quotas
    if user_id:
        _require(
            settings, "user", "the user", kind.owned, await quotas.owned(transaction, kind, user_id), grown
        )
    _require(settings, "server", "the server", kind.owned, await quotas.owned(transaction, kind), grown)


def _require_applied(call: Call, kind: Kind, used: Used, grown: Sequence[int]) -> None:
    _require(call.context.settings.quotas, "device", "a device", kind.applied, used, grown)


def _require(
    settings: QuotaSettings,
    scope: str,
    who: str,
    measures: Sequence[Measure],
    used: Used,
    grown: Sequence[int],
) -> None:
    for measure, now, added in zip(measures, used, grown, strict=True):
        most = settings.limit(scope, measure.name)
        if added > 0 and now > most:
            raise BadRequest(
                f"{who} would have {now} {measure.words}, of at most {most} (quotas.{scope}_{measure.name})"
            )
