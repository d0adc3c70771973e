"""`motorpool forget-secrets`: to go on without secrets whose key is lost (docs/server.md#secrets-at-rest)."""

import trio

from motorpool.api.program.configured_database import open_running_database
from motorpool.api.program.errors import StartFailed, error_line
from motorpool.api.settings import Settings
from motorpool.runtime import SystemClock
from motorpool.storage.accounts import audit
from motorpool.storage.database import nodes
from motorpool.storage.database.encryption_keys import read_keys
from motorpool.storage.encryption import Keyring
from motorpool.storage.errors import SetupFailed
from motorpool.storage.records import AuditAction
from motorpool.storage.upkeep.stored_secrets import give_up

WORDS = {
    "users.totp_key": "keys of one-time codes, whose users then log in without a code",
    "signing_keys.value": "keys that signed tokens and share links",
    "keys.value": "keys of the server",
}


async def forget_secrets(settings: Settings, *, confirmed: bool) -> str:
    """Remove secrets that no key decrypts, or if not `confirmed` say which those are; return a summary.

    Raises:
        StartFailed: a server runs, which has the keys; or the database cannot be opened.
    """
    clock = SystemClock()
    try:
        keys = await trio.to_thread.run_sync(read_keys, settings.encryption.keys, settings.data)
    except SetupFailed as error:
        raise StartFailed(error_line(error)) from error
    async with open_running_database(settings, clock, without_keys=True) as database:
        async with database.session() as session:
            # Not by the rows of servers, which may come from a backup of a moment ago.
            if not await nodes.lock(session, None):
                raise StartFailed("a server uses the database, so it has the keys: stop it first")
            removed = await give_up(database, Keyring(keys), commit=confirmed)
        if removed and confirmed:
            action = AuditAction(
                action_time=clock.now(),
                action_type="edit",
                object_type="server",
                attributes={"commandLine": True, "forgottenSecrets": removed},
            )
            await audit.record(database, action)
    if not removed:
        return "nothing is to be forgotten: the keys are there"
    found = ", ".join(f"{count} {WORDS.get(place, f'of {place}')}" for place, count in removed.items())
    return f"forgotten: {found}" if confirmed else f"to be forgotten with --confirm: {found}"
