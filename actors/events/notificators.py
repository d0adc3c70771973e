"""From a rendered message to what is sent: one outgoing message for each user and notificator."""

import secrets
from datetime import datetime

from motorpool.actors.events.rendering import RenderedMessage
from motorpool.actors.outgoing import Mail, OutgoingServices, Sms
from motorpool.actors.outgoing.sms import MAX_TEXT_LENGTH
from motorpool.storage.outbox import OutgoingMessage
from motorpool.storage.records import User

__all__ = ["address_of", "lane_of", "message_for", "send_now", "server_notificators", "user_notificators"]

OUTGOING = ("mail", "sms")
"""The notificators whose messages wait in the outbox."""


def server_notificators(outgoing: OutgoingServices) -> tuple[str, ...]:
    """Return the notificators that carry text to every user who has an address for them."""
    return ("web", *(name for name in OUTGOING if _is_enabled(outgoing, name)))


def user_notificators(outgoing: OutgoingServices, user: User) -> tuple[str, ...]:
    """Return the notificators that carry text to a user, whose own mail account counts."""
    return ("web", *(name for name in OUTGOING if _is_enabled(outgoing, name, user)))


def _is_enabled(outgoing: OutgoingServices, name: str, user: User | None = None) -> bool:
    match name:
        case "mail":
            return outgoing.mail.enabled_for({} if user is None else user.attributes)
        case "sms":
            return outgoing.sms.enabled
        case _:
            return False


def address_of(name: str, user: User) -> str:
    """Return where a notificator reaches a user; empty if it does not."""
    match name:
        case "mail":
            return user.email if Mail.can_reach(user.email) else ""
        case "sms":
            return user.phone or "" if Sms.can_reach(user.phone) else ""
        case _:
            return ""


def lane_of(name: str, user: User) -> str:
    """Return the lane of the outbox in which messages to a user wait."""
    if name == "mail" and user.attributes.get("mail.smtp.host"):
        return "own mail"
    return name


def message_for(
    name: str, user: User, rendered: RenderedMessage, *, urgent: bool = False
) -> OutgoingMessage | None:
    """Return a message to a user; None if the notificator does not reach them."""
    to = address_of(name, user)
    if not to:
        return None
    if name == "mail":
        return OutgoingMessage(
            channel="mail",
            to=to,
            subject=rendered.subject,
            text=rendered.text,
            html=rendered.html or None,
            user_id=user.id,
            urgent=urgent,
        )
    return OutgoingMessage(channel="sms", to=to, text=rendered.digest[:MAX_TEXT_LENGTH], user_id=user.id)


async def send_now(
    outgoing: OutgoingServices, message: OutgoingMessage, user: User, *, now: datetime
) -> None:
    """Send a message to a user without the outbox, at most once. Raises OutgoingError."""
    message_id = secrets.token_hex(16)
    if message.channel == "mail":
        await outgoing.mail.send(message, message_id=message_id, date=now, attributes=user.attributes)
    else:
        await outgoing.sms.send(message, message_id=message_id)
