"""Mails in words: the entries `[mails]` of the catalog of a language (`actors/words/catalog.py`)."""

from collections.abc import Mapping
from datetime import datetime
from html import escape

from motorpool.actors.words.catalog import mail_templates
from motorpool.actors.words.preferences import Preferences
from motorpool.actors.words.printable import printable_line

MAX_VALUE_LENGTH = 200


def local_time(instant: datetime, preferences: Preferences) -> str:
    """Return YYYY-MM-DD HH:mm and the abbreviation of the zone, as a user reads it."""
    try:
        return f"{instant.astimezone(preferences.zone):%Y-%m-%d %H:%M %Z}"
    except OverflowError:
        return f"{instant:%Y-%m-%d %H:%M} UTC"


def write(
    name: str, preferences: Preferences, values: Mapping[str, str], *, link: str = ""
) -> tuple[str, str, str]:
    """Return subject, text and HTML of a mail. Values are reduced to one line of printable characters."""
    subject, text = mail_templates(name, preferences.language)
    lines = {key: printable_line(value)[:MAX_VALUE_LENGTH] for key, value in values.items()}
    body = text.render(lines)
    plain = f"{body}\n\n{link}\n" if link else f"{body}\n"
    shown = f'<p><a href="{escape(link)}">{escape(link)}</a></p>' if link else ""
    return subject.render(lines), plain, f"<p>{escape(body)}</p>{shown}"
