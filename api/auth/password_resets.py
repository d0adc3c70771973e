"""Mails a link that sets a new password (docs/authentication.md#password-reset).

The HTTP request only enqueues the address and is answered at once, so that neither the answer nor its time
reveals whether there is such an account.
"""

from datetime import timedelta
from html import escape

import msgspec

from motorpool.actors.accounts.user_rights import may_log_in
from motorpool.actors.cluster.shared_attempts import SharedAttempts, SharedRate
from motorpool.actors.deliveries.notificators.mail import Mail
from motorpool.actors.deliveries.outbox import OUTBOX, OutboxFilled
from motorpool.api.auth.signing_keys import SigningKeys
from motorpool.api.auth.tokens import RESET, issue
from motorpool.api.configuration.live import LiveSettings
from motorpool.api.settings import Settings
from motorpool.runtime import Actor, Kind
from motorpool.storage.accounts import users
from motorpool.storage.database.database import Database
from motorpool.storage.deliveries import outbox
from motorpool.storage.deliveries.outbox import OutgoingMessage
from motorpool.storage.errors import StorageError
from motorpool.storage.records import User


class PasswordResetRequested(msgspec.Struct, frozen=True):
    """A new password was requested for this address."""

    email: str


PASSWORD_RESETS: Kind[None, PasswordResetRequested] = Kind("password_resets")


class PasswordResets(Actor[PasswordResetRequested]):
    """Mails links to users who may log in, at a limited rate. Requests that the mailbox has no room for are
    dropped, and users ask again.
    """

    def __init__(
        self,
        database: Database,
        mail: Mail,
        token_keys: SigningKeys,
        live: LiveSettings,
        shared: SharedAttempts | None,
    ) -> None:
        self._database = database
        self._mail = mail
        self._token_keys = token_keys
        self._live = live
        self._shared = shared
        self._lifetime = timedelta(minutes=live.settings.users.reset_minutes)

    async def start(self) -> None:
        """Create the rate limit, and warn if links lead to an address that is only assumed."""
        limit = self._live.settings.users.resets_per_account
        seconds = self._lifetime.total_seconds()
        self._rate = SharedRate("reset account", limit, seconds, self.context.clock.monotonic, self._shared)
        if self._mail.enabled and self._live.settings.public.url is None:
            self.context.log.warning(
                "links in mails lead to %s; [public] url is unset", self._live.settings.public_url
            )

    async def handle(self, message: PasswordResetRequested) -> None:
        """Put a mail into the outbox if the address belongs to a user who may log in."""
        if not self._mail.enabled or self._live.settings.openid.forced or "\x00" in message.email:
            return
        try:
            user = await users.by_email(self._database, message.email)
            if user is not None and await self._may_receive(user):
                await self._write(user)
        except StorageError as error:
            self.context.log.warning("a password reset could not be written: %s", error)

    async def _may_receive(self, user: User) -> bool:
        if (
            user.temporary
            or not may_log_in(user, self.context.clock.now())
            or not self._mail.can_reach(user.email)
        ):
            return False
        if await self._rate.hit(str(user.id)):
            self.context.log.info("user %d has reached the limit of links for a new password", user.id)
            return False
        return True

    async def _write(self, user: User) -> None:
        now = self.context.clock.now()
        expires, mailed = now + self._lifetime, {"email": user.email}
        text, token = issue(self._token_keys, user.id, RESET, expires, now=now, extra=mailed)
        link = password_link(self._live.settings, text)
        message = _reset_mail(user, link, round(self._lifetime.total_seconds() / 60))
        await outbox.enqueue(self._database, message, now=now, expires=token.expires)
        self.context.system.ref(OUTBOX).offer(OutboxFilled())


def password_link(settings: Settings, token: str) -> str:
    """Return the address of the page that sets a new password.

    Browsers send no fragment, so that no log of a proxy and no `Referer` shows the token. The page of the
    Traccar web client, in place of the console's, looks for it in the query.
    """
    joint = "?" if (settings.override / "index.html").exists() else "#"
    return f"{settings.public_url}/reset-password{joint}passwordReset={token}"


def _reset_mail(user: User, link: str, minutes: int) -> OutgoingMessage:
    """Build the mail, without the user's name: the person who registered could have put a message into it."""
    asked = "someone, probably you, asked for a new password for your account at Motorpool."
    within = f"Set it here within {minutes} minutes; the link works once:"
    otherwise = "If it was not you, nothing needs to be done: your password stays as it is."
    shown = escape(link)
    return OutgoingMessage(
        channel="mail",
        # Through the server's account, whatever mail server the user has set.
        system=True,
        user_id=user.id,
        to=user.email,
        subject="A new password for Motorpool",
        text=f"Hello,\n\n{asked}\n{within}\n\n{link}\n\n{otherwise}\n",
        html=f"<p>Hello,</p><p>{asked}<br>{within}</p>"
        f'<p><a href="{shown}">Set a new password</a></p><p>{shown}</p><p>{otherwise}</p>',
    )
