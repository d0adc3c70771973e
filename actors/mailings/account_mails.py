"""Mails that tell users that what they log in with was changed (docs/authentication.md#passwords)."""

import logging
from collections.abc import Iterable
from datetime import datetime
from enum import Enum

from motorpool.actors.deliveries.notificators.mail import Mail
from motorpool.actors.mailings.texts import local_time, mail_to
from motorpool.actors.words.preferences import preferences_for
from motorpool.storage.database.queries import Queries
from motorpool.storage.deliveries import outbox
from motorpool.storage.errors import StatementRejected
from motorpool.storage.records import ServerSettings, User

_log = logging.getLogger(__name__)


class AccountChange(Enum):
    """What was changed; the value is the name of the mail in the catalogs."""

    EMAIL = "emailChanged"
    LOGIN = "loginChanged"
    PASSWORD = "passwordChanged"  # noqa: S105 - the name of a mail
    CODES = "codesChanged"
    CODES_REMOVED = "codesRemoved"


def account_changes(old: User, new: User, *, password: bool) -> list[AccountChange]:
    """Return what a change of a user changes of what they log in with; `password`: whether that was set."""
    found = []
    if new.email.lower() != old.email.lower():
        found.append(AccountChange.EMAIL)
    if (new.login or "").lower() != (old.login or "").lower():
        found.append(AccountChange.LOGIN)
    if password:
        found.append(AccountChange.PASSWORD)
    if new.totp_key != old.totp_key:
        found.append(AccountChange.CODES if new.totp_key else AccountChange.CODES_REMOVED)
    return found


async def tell_owner(
    transaction: Queries,
    mail: Mail,
    user: User,
    changes: Iterable[AccountChange],
    *,
    settings: ServerSettings,
    console_url: str,
    now: datetime,
) -> bool:
    """Put a mail for each change into the outbox; return whether there are any.

    `user` is as before the change: mails go to the address that they had. The account of the server sends
    them, since somebody who took over the account could have set a mail server of theirs.
    """
    if user.temporary or not mail.enabled or not mail.can_reach(user.email):
        return False
    preferences = preferences_for(user, settings)
    values = {"account": user.email, "server": console_url, "time": local_time(now, preferences)}
    mails = [mail_to(user, change.value, preferences, values, system=True) for change in changes]
    if not mails:
        return False
    try:
        await outbox.enqueue_all(transaction, mails, now=now)
    except StatementRejected as error:
        # The change is not to fail for it.
        _log.warning("user %d is not told by mail of a change of their account: %s", user.id, error)
        return False
    return True
