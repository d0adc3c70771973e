"""Mails in words: the entries `[mails]` of the catalog of a language (`actors/words/catalog.py`)."""

from collections.abc import Mapping
from datetime import datetime
from html import escape

from motorpool.actors.words.catalog import mail_templates
from motorpool.actors.words.preferences import Preferences
from motorpool.actors.words.printable import printable_line
from motorpool.storage.deliveries.outbox import OutgoingMessage
from motorpool.storage.records import User

MAX_VALUE_LENGTH = 200


def local_time(instant: datetime, preferences: Preferences) -> str:
    """Return YYYY-MM-DD HH:mm and the abbreviation of the zone, as a user reads it."""
    try:
        return f"{instant.astimezone(preferences.zone):%Y-%m-%d %H:%M %Z}"
    except OverflowError:
        return f"{instant:%Y-%m-%d %H:%M} UTC"


def mail_to(
    user: User,
    name: str,
    preferences: Preferences,
    values: Mapping[str, str],
    *,
    link: str = "",
    system: bool = False,
) -> OutgoingMessage:
    """Return a mail to a user. Values are reduced to one line of printable characters.

    `system`: it is sent through the account of the server, whatever mail server the user has set.
    """
    subject, text = mail_templates(name, preferences.language)
    lines = {key: printable_line(value)[:MAX_VALUE_LENGTH] for key, value in values.items()}
    body = text.render(lines)
    shown = f'<p><a href="{escape(link)}">{escape(link)}</a></p>' if link else ""
    return OutgoingMessage(
        channel="mail",
        to=user.email,
        subject=subject.render(lines),
        text=f"{body}\n\n{link}\n" if link else f"{body}\n",
        html=f"<p>{escape(body)}</p>{shown}",
        user_id=user.id,
        system=system,
    )
