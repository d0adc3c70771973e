"""Mails that a user or a device expires, and that it has expired (docs/users.md#expiration)."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Never

import trio

from motorpool.actors.accounts.user_rights import may_log_in
from motorpool.actors.deliveries import OutgoingServices
from motorpool.actors.deliveries.outbox import OUTBOX, OutboxFilled
from motorpool.actors.mailings.recipients import is_reachable
from motorpool.actors.mailings.settings import ExpirationSettings
from motorpool.actors.mailings.texts import local_time, mail_to
from motorpool.actors.words.preferences import preferences_for
from motorpool.runtime import Actor
from motorpool.storage.accounts import access, expirations, server, users
from motorpool.storage.accounts.expirations import Expiration
from motorpool.storage.database.database import Database
from motorpool.storage.database.queries import Queries
from motorpool.storage.deliveries import outbox
from motorpool.storage.deliveries.outbox import OutgoingMessage
from motorpool.storage.devices import devices
from motorpool.storage.errors import StorageError
from motorpool.storage.records import ServerSettings, User

CHECK_SECONDS = 3600.0
"""Interval between two runs."""
BATCH = 20
"""Expirations of one transaction: each device may have many users."""
LATE = timedelta(days=1)
"""What expired longer ago, while no server ran or the mails were switched off, is not mailed any more."""


class ExpiryMails(Actor[Never]):
    """Runs once an hour; sends nothing itself: the outbox does."""

    def __init__(self, database: Database, outgoing: OutgoingServices, settings: ExpirationSettings) -> None:
        self._database = database
        self._mail = outgoing.mail
        self._kinds: list[expirations.Kind] = []
        if settings.users:
            self._kinds.append("user")
        if settings.devices:
            self._kinds.append("device")
        self._reminder = timedelta(days=settings.reminder_days)

    async def run(self) -> None:
        """Check at startup and then once an hour."""
        while True:
            try:
                await self._check()
            except StorageError as error:
                self.context.log.warning("expirations cannot be mailed, retrying later: %s", error)
            await trio.sleep(CHECK_SECONDS)

    async def _check(self) -> None:
        for kind in self._kinds:
            found = BATCH
            while found == BATCH:
                async with self._database.transaction() as transaction:
                    found = await self._queue(transaction, kind)
        if self._kinds:
            self.context.system.ref(OUTBOX).offer(OutboxFilled())
            await expirations.forget(self._database, self.context.clock.now() - 2 * LATE)

    async def _queue(self, transaction: Queries, kind: expirations.Kind) -> int:
        """Put the mails of some expirations into the outbox; return how many expirations."""
        now = self.context.clock.now()
        due = await expirations.take_due(
            transaction, kind, now=now, late=LATE, reminder=self._reminder, limit=BATCH
        )
        settings = await server.fetch(transaction)
        find = self._of_users if kind == "user" else self._of_devices
        mails = [
            self._mail_of(kind, each, name, user, settings)
            for each, name, user in await find(transaction, due)
        ]
        if mails:
            await outbox.enqueue_all(transaction, mails, now=now)
        return len(due)

    async def _of_users(
        self, transaction: Queries, due: Sequence[Expiration]
    ) -> list[tuple[Expiration, str, User]]:
        """Return the expirations with the name of what expires, and who is to know: the user."""
        found = {
            user.id: user for user in await users.TABLE.fetch_many(transaction, (each.id for each in due))
        }
        return [
            (each, user.name or user.email, user)
            for each in due
            if (user := found.get(each.id)) is not None
            and not user.disabled
            and is_reachable(user, self._mail)
        ]

    async def _of_devices(
        self, transaction: Queries, due: Sequence[Expiration]
    ) -> list[tuple[Expiration, str, User]]:
        """Return the expirations with the name of what expires, and who is to know: those who see it."""
        now = self.context.clock.now()
        ids = [each.id for each in due]
        found = {device.id: device for device in await devices.TABLE.fetch_many(transaction, ids)}
        pairs = await access.users_of_devices(transaction, ids)
        readers = {
            user.id: user
            for user in await users.TABLE.fetch_many(transaction, sorted({user_id for user_id, _ in pairs}))
            if may_log_in(user, now) and is_reachable(user, self._mail)
        }
        expirations_of = {each.id: each for each in due}
        return [
            (expirations_of[device_id], found[device_id].name, readers[user_id])
            for user_id, device_id in pairs
            if user_id in readers and device_id in found
        ]

    def _mail_of(
        self, kind: str, due: Expiration, name: str, user: User, settings: ServerSettings
    ) -> OutgoingMessage:
        preferences = preferences_for(user, settings)
        return mail_to(
            user,
            f"{kind}Expiration{'Reminder' if due.is_reminder else ''}",
            preferences,
            {"name": name, "time": local_time(due.expires, preferences)},
        )
