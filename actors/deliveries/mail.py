"""Sends mail through the server's account or a user's own one."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial

import trio

from motorpool.actors.deliveries.mime import compose, mail_address
from motorpool.actors.deliveries.smtp import Security, SmtpAccount, submit
from motorpool.actors.http.errors import DeliveryRefused, Unreachable
from motorpool.actors.http.http import OutgoingHttp
from motorpool.actors.messages.counters import MAIL_SENT
from motorpool.storage.deliveries.outbox import USER_SMTP_HOST, Attachment, OutgoingMessage

PREFIX = "mail.smtp."


def user_account(
    attributes: Mapping[str, object], address: str, *, seconds: float = 30.0
) -> SmtpAccount | None:
    """Return the mail account that a user's attributes name, None where they name no host.

    Nothing is taken over from the server's account: its password must not go to a host that a user has named.
    `address` is the sender where the attributes name none.
    """
    host = attributes.get(USER_SMTP_HOST)
    if not isinstance(host, str) or not host.strip():
        return None
    security: Security = "none"
    if _switch(attributes.get(PREFIX + "ssl.enable")):
        security = "tls"
    elif _switch(attributes.get(PREFIX + "starttls.enable")):
        security = "starttls"
    return SmtpAccount(
        host=host.strip(),
        port=_port(attributes.get(PREFIX + "port")),
        security=security,
        username=_text(attributes.get(PREFIX + "username")),
        password=_text(attributes.get(PREFIX + "password")),
        address=_text(attributes.get(PREFIX + "from")) or address,
        name=_text(attributes.get(PREFIX + "fromName")),
        seconds=seconds,
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _switch(value: object) -> bool:
    return value is True or (isinstance(value, str) and value.lower() == "true")


def _port(value: object) -> int:
    """Return a port number, 0 (the default port) where the value is not one."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 5:
        value = int(value)
    return value if isinstance(value, int) and 0 < value <= 65535 else 0


class Mail:
    """Sends mails through the server's account or the accounts of users.

    Args:
        http: whose address guard and certificates apply.
        account: the server's account, if there is one.
        max_concurrent: mails sent at the same time, for the account of the server and those of users each.
    """

    def __init__(
        self, http: OutgoingHttp, account: SmtpAccount | None = None, *, max_concurrent: int = 10
    ) -> None:
        self._http = http
        self._account = account
        self._slots = trio.Semaphore(max_concurrent)
        # Separate, because users may name servers that never respond.
        self._user_slots = trio.Semaphore(max_concurrent)
        # One for each slot: a thread that was cancelled counts until it ends, a moment later.
        self._threads = trio.CapacityLimiter(2 * max_concurrent)

    @property
    def enabled(self) -> bool:
        """Whether the server has a mail account."""
        return self._account is not None

    def enabled_for(self, attributes: Mapping[str, object]) -> bool:
        """Whether a user with these attributes can be sent mail."""
        return self.enabled or user_account(attributes, "") is not None

    async def send(
        self,
        message: OutgoingMessage,
        *,
        message_id: str,
        date: datetime,
        attributes: Mapping[str, object] | None = None,
        attachments: Sequence[Attachment] = (),
    ) -> None:
        """Send a mail; `attributes` are those of its user, whose own account sends it where they name one.

        Raises:
            Unreachable: no mail server is configured, or it accepts no mail now.
            DeliveryRefused: the mail server refuses this mail.
        """
        user = None if message.system else user_account(attributes or {}, message.to)
        account = user or self._account
        if account is None:
            raise Unreachable("no mail server is configured")
        composed = partial(
            compose,
            message,
            sender=account.address,
            sender_name=account.name,
            message_id=message_id,
            date=date,
            attachments=attachments,
        )
        # Files of megabytes take long to encode.
        envelope = await trio.to_thread.run_sync(composed) if attachments else composed()
        host, port = account.service
        try:
            with trio.fail_after(account.seconds):
                async with self._user_slots if user else self._slots:
                    addresses = await self._http.guard.resolve(host, port, trusted=account.trusted)
                    await submit(account, addresses, envelope, self._http.tls, self._threads)
        except trio.TooSlowError:
            raise Unreachable(f"{host} did not take the mail within {account.seconds:g} s") from None
        MAIL_SENT.value += 1

    @staticmethod
    def can_reach(address: str) -> bool:
        """Return whether an address is a valid mail address."""
        try:
            mail_address(address)
        except DeliveryRefused:
            return False
        return True
