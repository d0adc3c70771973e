"""Mail, by the server's account or by a user's own."""

from collections.abc import Mapping
from datetime import datetime

import trio

from motorpool.actors.messages.counters import MAIL_SENT
from motorpool.actors.outgoing.errors import DeliveryRefused, Unreachable
from motorpool.actors.outgoing.http import OutgoingHttp
from motorpool.actors.outgoing.mime import compose, mail_address
from motorpool.actors.outgoing.smtp import Security, SmtpAccount, submit
from motorpool.storage.outbox import USER_SMTP_HOST, OutgoingMessage

__all__ = ["Mail", "own_account"]

PREFIX = "mail.smtp."


def own_account(
    attributes: Mapping[str, object], address: str, *, seconds: float = 30.0
) -> SmtpAccount | None:
    """A user's own mail account, where his attributes name one: all of it, or the server's is used.

    The server's password never goes to a host that a user has named. `address` is the sender where the
    attributes name none.
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
    """0, the usual one, for what is no port."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 5:
        value = int(value)
    return value if isinstance(value, int) and 0 < value <= 65535 else 0


class Mail:
    """Sends one mail at a time to each who asks, a few at once for all."""

    def __init__(self, http: OutgoingHttp, account: SmtpAccount | None = None, *, at_once: int = 10) -> None:
        self._http = http
        self._account = account
        self._slots = trio.Semaphore(at_once)
        # Apart: users may name servers that answer nobody.
        self._own_slots = trio.Semaphore(at_once)
        # As many as have slots: one that was given up ends in a moment, and counts until then.
        self._threads = trio.CapacityLimiter(2 * at_once)

    @property
    def enabled(self) -> bool:
        """Whether the server has an account."""
        return self._account is not None

    def enabled_for(self, attributes: Mapping[str, object]) -> bool:
        """Whether a user with these attributes can be sent mail."""
        return self.enabled or own_account(attributes, "") is not None

    async def send(
        self,
        message: OutgoingMessage,
        *,
        message_id: str,
        date: datetime,
        attributes: Mapping[str, object] | None = None,
    ) -> None:
        """Hand a mail in; `attributes` are those of its user, whose own account then sends it.

        Raises:
            Unreachable: the mail server takes no mail now, or there is none.
            DeliveryRefused: it does not take this one.
        """
        own = None if message.system else own_account(attributes or {}, message.to)
        account = own or self._account
        if account is None:
            raise Unreachable("no mail server is configured")
        envelope = compose(
            message, sender=account.address, sender_name=account.name, message_id=message_id, date=date
        )
        host, port = account.service
        try:
            with trio.fail_after(account.seconds):
                async with self._own_slots if own else self._slots:
                    addresses = await self._http.guard.resolve(host, port, trusted=account.trusted)
                    await submit(account, addresses, envelope, self._http.tls, self._threads)
        except trio.TooSlowError:
            raise Unreachable(f"{host} did not take the mail within {account.seconds:g} s") from None
        MAIL_SENT.value += 1

    @staticmethod
    def can_reach(address: str) -> bool:
        """Whether mail can be sent to an address at all."""
        try:
            mail_address(address)
        except DeliveryRefused:
            return False
        return True
