"""Says at the start which quotas are exceeded by what is stored (docs/server.md#quotas)."""

import logging
from collections.abc import AsyncGenerator, Sequence

import trio

from motorpool.api.settings import QuotaSettings
from motorpool.storage.accounts import quotas
from motorpool.storage.accounts.quotas import KINDS, Measure, Used
from motorpool.storage.database.database import Database
from motorpool.storage.errors import StorageError

SECONDS = 30.0
"""After this the search is given up."""

_log = logging.getLogger(__name__)


async def log_exceeded_quotas(database: Database, settings: QuotaSettings) -> None:
    """Log one line if quotas are exceeded; what is stored stays and works."""
    try:
        with trio.move_on_after(SECONDS):
            found = [text async for text in _exceeded(database, settings)]
            if found:
                _log.warning("quotas are exceeded by what was stored before: %s", "; ".join(found))
    except StorageError as error:
        _log.warning("cannot read whether quotas are exceeded: %s", error)


async def _exceeded(database: Database, settings: QuotaSettings) -> AsyncGenerator[str, None]:
    for kind in KINDS:
        for measures in (kind.owned, kind.shared):
            used = await quotas.owned_by_all(database, kind, measures)
            for text in _over(settings, "server", "the server", measures, used):
                yield text
            by_user = await quotas.owned_by_users(database, kind, measures)
            for user_id, used in sorted(by_user.items()):
                for text in _over(settings, "user", f"user {user_id}", measures, used):
                    yield text
        if kind.applied:
            used = await quotas.applied_to_all(database, kind)
            for text in _over(settings, "device", "a device", kind.applied, used):
                yield text


def _over(
    settings: QuotaSettings, scope: str, who: str, measures: Sequence[Measure], used: Used
) -> list[str]:
    return [
        f"{who} has {now} {measure.words} (quotas.{scope}_{measure.name})"
        for measure, now in zip(measures, used, strict=True)
        if now > settings.limit(scope, measure.name)
    ]
