"""Tells users by mail that what they log in with was changed by a request."""

from collections.abc import Sequence

from motorpool.actors.deliveries.outbox import OUTBOX, OutboxFilled
from motorpool.actors.mailings.account_mails import AccountChange, tell_owner
from motorpool.api.engine.call import Call
from motorpool.storage.database.queries import Queries
from motorpool.storage.records import User


async def tell_owner_of(
    call: Call, transaction: Queries, user: User, changes: Sequence[AccountChange]
) -> None:
    """Put mails about changes into the outbox; `user` is as before them.

    The outbox learns of them by `Call.after_commit`.
    """
    told = await tell_owner(
        transaction,
        call.context.outgoing.mail,
        user,
        changes,
        settings=call.context.server,
        console_url=call.context.settings.public_url,
        now=call.now,
    )
    if told:

        async def wake_outbox() -> None:
            call.context.system.ref(OUTBOX).offer(OutboxFilled())

        call.after_commit.append(wake_outbox)
