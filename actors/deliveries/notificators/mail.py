"""Mails through the server's account or a user's own one."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Annotated, cast, get_args

import msgspec
import trio
from msgspec import Meta

from motorpool.actors.deliveries.lane import Lane
from motorpool.actors.deliveries.mime import compose, mail_address
from motorpool.actors.deliveries.notice import EventFacts, RenderedMessage
from motorpool.actors.deliveries.notificator import NO_ENVELOPE, Envelope, Network, Notificator, ServiceLane
from motorpool.actors.deliveries.smtp import Security, SmtpAccount, submit
from motorpool.actors.http.errors import DeliveryRefused, OutgoingError, Unreachable
from motorpool.actors.messages.counters import MAIL_SENT
from motorpool.storage.deliveries.attempts import Failure
from motorpool.storage.deliveries.outbox import OWN_MAIL, USER_SMTP_HOST, OutgoingMessage
from motorpool.storage.deliveries.queue import QueuedMessage
from motorpool.storage.records import User

MAX_CONCURRENT = 10
"""Most mails sent at the same time by the server's account, and by all accounts of users."""
PREFIX = "mail.smtp."
SECURITIES: tuple[Security, ...] = get_args(Security)


@dataclass(frozen=True, kw_only=True)
class MailSettings:
    """The mail server that takes what the server sends."""

    host: Annotated[str | None, Meta(extra={"destination": True})] = None
    """Host of the mail server; with `address` mail is sent."""
    port: Annotated[int, Meta(ge=0, le=65535, extra={"destination": True})] = 0
    """Its port; 0: 465 with `tls`, 587 with `starttls`, 25 with `none`."""
    security: Annotated[str, Meta(extra={"choices": SECURITIES, "destination": True})] = "starttls"
    """How the connection is secured; certificates are checked, also against `SSL_CERT_FILE`."""
    username: str | None = None
    """Whom the server logs in as; unset: without login."""
    password: Annotated[str | None, Meta(extra={"secret": True})] = field(default=None, repr=False)
    """The password that belongs to it."""
    address: Annotated[str | None, Meta(extra={"form": "mailbox"})] = None
    """Sender of the mails: `fleet@example.org`."""
    name: str = "Motorpool"
    """Name shown beside the sender's address."""
    seconds: Annotated[float, Meta(ge=1, le=300, extra={"unit": "s"})] = 30.0
    """Handing in one mail takes at most so long."""


def server_account(settings: MailSettings, *, trusted: bool = True) -> SmtpAccount | None:
    """Return the server's mail account, or None if none is configured."""
    if settings.host is None or settings.address is None:
        return None
    return SmtpAccount(
        host=settings.host,
        port=settings.port,
        security=cast("Security", settings.security),
        username=settings.username or "",
        password=settings.password or "",
        address=settings.address,
        name=settings.name,
        seconds=settings.seconds,
        trusted=trusted,
    )


def user_account(attributes: Mapping[str, object], address: str) -> SmtpAccount | None:
    """Return the mail account in a user's attributes, or None if they name no host.

    Nothing is copied from the server's account: its password must not reach a host that a user has named.
    `address` is the default sender.
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
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _switch(value: object) -> bool:
    return value is True or (isinstance(value, str) and value.lower() == "true")


def _port(value: object) -> int:
    """Return a port number; 0, the default port, for any other value."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 5:
        value = int(value)
    return value if isinstance(value, int) and 0 < value <= 65535 else 0


class Mail(Notificator):
    """Sends by the server's mail account, or by the one that the user has configured."""

    name = "mail"
    settings = MailSettings
    address_name = "mail address"
    sends_text = True

    def __init__(self, settings: MailSettings, network: Network) -> None:
        super().__init__(settings, network)
        self._slots = trio.Semaphore(MAX_CONCURRENT)
        # Separate, since users may name servers that never respond.
        self._user_slots = trio.Semaphore(MAX_CONCURRENT)
        # One for each slot: a thread that was cancelled counts until it ends, a moment later.
        self._threads = trio.CapacityLimiter(2 * MAX_CONCURRENT)

    def configure(self, settings: MailSettings, *, trusted: bool = True) -> None:
        """Use another account of the server from now on."""
        super().configure(settings, trusted=trusted)
        self._account = server_account(settings, trusted=trusted)

    @property
    def enabled(self) -> bool:
        """Whether the server has a mail account."""
        return self._account is not None

    def enabled_for(self, attributes: Mapping[str, object]) -> bool:
        """Whether a user with these attributes can be sent mail."""
        return self.enabled or user_account(attributes, "") is not None

    def address_of(self, user: User) -> str:
        """Return the user's mail address, if it is valid."""
        return user.email if self.can_reach(user.email) else ""

    def lane_of(self, user: User) -> str:
        """Return the lane of the user's own account, if they have one."""
        return OWN_MAIL if user.attributes.get(USER_SMTP_HOST) else self.name

    def lanes(self) -> tuple[Lane, ...]:
        """Return two lanes: one for the server's account, one for accounts of users."""
        return (ServiceLane(self.name, self), OwnMailLane(OWN_MAIL, self))

    def compose(
        self, user: User, to: str, rendered: RenderedMessage, facts: EventFacts, *, urgent: bool
    ) -> OutgoingMessage:
        """Return a mail with the whole text in both forms."""
        message = super().compose(user, to, rendered, facts, urgent=urgent)
        return msgspec.structs.replace(message, html=rendered.html or None)

    async def send(self, message: OutgoingMessage, envelope: Envelope = NO_ENVELOPE) -> None:
        """Send a mail through the account of its user, or else through the server's."""
        user = None if message.system else user_account(envelope.attributes, message.to)
        account = user or self._account
        if account is None:
            raise Unreachable("no mail server is configured")
        composed = partial(
            compose,
            message,
            sender=account.address,
            sender_name=account.name,
            message_id=envelope.message_id,
            date=envelope.date,
            attachments=envelope.attachments,
        )
        # Files of megabytes take long to encode.
        mail = await trio.to_thread.run_sync(composed) if envelope.attachments else composed()
        host, port = account.service
        try:
            with trio.fail_after(account.seconds):
                async with self._user_slots if user else self._slots:
                    addresses = await self._http.guard.resolve(host, port, trusted=account.trusted)
                    await submit(account, addresses, mail, self._http.tls, self._threads)
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


class OwnMailLane(ServiceLane):
    """Mails by accounts of users; each account sends one at a time."""

    max_per_receiver = 1

    def consequence(self, message: QueuedMessage, error: OutgoingError, now: datetime) -> Failure:
        """Return the consequence of a failed attempt; an account that is not reached is held as well."""
        failure = super().consequence(message, error, now)
        if not isinstance(error, Unreachable):
            return failure
        return msgspec.structs.replace(failure, counts=True, held_until=failure.until)
