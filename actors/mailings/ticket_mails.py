"""Mails to the assignees of tickets: that a ticket was assigned to them, and that it breached
(docs/tickets.md#mails).
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple

from motorpool.actors.accounts.user_rights import may_log_in
from motorpool.actors.deliveries.notificators.mail import Mail
from motorpool.actors.mailings.recipients import is_reachable
from motorpool.actors.mailings.texts import local_time, mail_to
from motorpool.actors.words.preferences import preferences_for
from motorpool.storage.accounts import server, users
from motorpool.storage.database.queries import Queries
from motorpool.storage.deliveries import outbox

SWITCH = "ticketMails"
"""The attribute of a user: false where they want no mails about tickets."""

Kind = Literal["ticketAssigned", "ticketBreached"]


class TicketMail(NamedTuple):
    """A mail that is to be sent, if its recipient wants such mails."""

    kind: Kind
    user_id: int
    ticket_id: int
    number: int
    subject: str


def wants_mails(attributes: Mapping[str, Any]) -> bool:
    """Return whether a user wants mails about tickets, by their attributes."""
    return attributes.get(SWITCH) not in (False, "false")


class TicketMails:
    """Puts the mails into the outbox, in the transaction of their cause.

    Args:
        mail: the mail accounts.
        console_url: where the console is reached; empty where it is not known.
    """

    def __init__(self, mail: Mail, console_url: str = "") -> None:
        self._mail = mail
        self._console_url = console_url

    async def enqueue(self, transaction: Queries, mails: Sequence[TicketMail], *, now: datetime) -> None:
        """Put mails into the outbox for those who may log in, can be reached and want them.

        Wake the outbox after the commit.
        """
        if not mails:
            return
        found = await users.TABLE.fetch_many(transaction, sorted({each.user_id for each in mails}))
        readers = {
            user.id: user
            for user in found
            if may_log_in(user, now) and wants_mails(user.attributes) and is_reachable(user, self._mail)
        }
        if not readers:
            return
        settings = await server.fetch(transaction)
        messages = []
        for each in mails:
            if (user := readers.get(each.user_id)) is None:
                continue
            preferences = preferences_for(user, settings)
            values = {
                "number": str(each.number),
                "subject": each.subject,
                "time": local_time(now, preferences),
            }
            link = f"{self._console_url}/tickets/{each.ticket_id}" if self._console_url else ""
            messages.append(mail_to(user, each.kind, preferences, values, link=link))
        # A ticket is changed although the queue of mails is full.
        await outbox.enqueue_many(transaction, messages, now=now)
