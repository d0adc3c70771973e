"""Makes outgoing messages from a rendered one: one for each user and notificator."""

import secrets
from datetime import datetime
from typing import assert_never

from motorpool.actors.deliveries import Mail, OutgoingServices, Sms
from motorpool.actors.deliveries.push import PUSHOVER_DEVICES, PUSHOVER_USER, TELEGRAM_CHAT
from motorpool.actors.deliveries.sms import MAX_TEXT_LENGTH
from motorpool.actors.deliveries.webhook import WEBHOOK_SECRET, WEBHOOK_URL
from motorpool.actors.events.rendering import EventFacts, RenderedMessage
from motorpool.actors.words.record_json import encode
from motorpool.storage.deliveries.outbox import OutgoingMessage
from motorpool.storage.records import User

OUTGOING = ("mail", "sms", "telegram", "pushover", "webhook")
"""The notificators whose messages wait in the outbox."""


ADDRESSES = {"telegram": TELEGRAM_CHAT, "pushover": PUSHOVER_USER, "webhook": WEBHOOK_URL}
"""Notificator -> the attribute of a user that says where it reaches them."""


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
        case "telegram":
            return outgoing.telegram.enabled
        case "pushover":
            return outgoing.pushover.enabled
        case "webhook":
            return user is not None and bool(address_of(name, user))
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
            value = user.attributes.get(ADDRESSES.get(name, ""))
            return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def lane_of(name: str, user: User) -> str:
    """Return the lane of the outbox in which messages to a user wait."""
    if name == "mail" and user.attributes.get("mail.smtp.host"):
        return "own mail"
    return name


def webhook_body(facts: EventFacts, message: str) -> str:
    """Return the JSON that webhooks get of an event (docs/events.md#webhooks)."""
    event, device = facts.event, facts.device
    data: dict[str, object] = {"event": event, "message": message}
    if device is not None:
        data["device"] = {"id": device.id, "name": device.name, "uniqueId": device.unique_id}
    if facts.position is not None:
        data["position"] = facts.position
    body = {"type": f"event.{event.type}", "timestamp": event.event_time, "data": data}
    return encode(body).decode()


def message_for(
    name: str, user: User, rendered: RenderedMessage, facts: EventFacts, *, urgent: bool = False
) -> OutgoingMessage | None:
    """Return a message to a user; None if the notificator does not reach them."""
    to = address_of(name, user)
    if not to:
        return None
    if name == "webhook":
        body = webhook_body(facts, rendered.digest)
        return OutgoingMessage(channel="webhook", to="", text=body, user_id=user.id)
    if name == "telegram":
        return OutgoingMessage(channel="telegram", to=to, text=rendered.text, user_id=user.id)
    if name == "pushover":
        return OutgoingMessage(
            channel="pushover",
            to=to,
            subject=rendered.subject,
            text=rendered.digest,
            user_id=user.id,
            urgent=urgent,
        )
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
    attributes = user.attributes
    match message.channel:
        case "mail":
            await outgoing.mail.send(message, message_id=message_id, date=now, attributes=attributes)
        case "sms":
            await outgoing.sms.send(message, message_id=message_id)
        case "telegram":
            await outgoing.telegram.send(message)
        case "pushover":
            await outgoing.pushover.send(message, devices=str(attributes.get(PUSHOVER_DEVICES) or ""))
        case "webhook":
            secret = attributes.get(WEBHOOK_SECRET)
            await outgoing.webhooks.send(
                str(attributes.get(WEBHOOK_URL)),
                message.text.encode(),
                message_id=message_id,
                secrets=(secret,) if isinstance(secret, str) and secret else (),
                now=now,
            )
        case _:
            assert_never(message.channel)
