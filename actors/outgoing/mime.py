"""From a message to the bytes of a mail (RFC 5322, MIME)."""

import re
from datetime import datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime

from motorpool.actors.outgoing.errors import DeliveryRefused
from motorpool.actors.outgoing.smtp import SmtpEnvelope
from motorpool.storage.outbox import OutgoingMessage

__all__ = ["compose", "mail_address"]

LONGEST_ADDRESS = 254
LONGEST_SUBJECT = 500
_ADDRESS = re.compile(r"([^\s@<>()\[\]\\,;:\"\x00-\x1f\x7f]+)@([^\s@<>()\[\]\\,;:\"\x00-\x1f\x7f]+)")
_SEVEN_BIT = SMTP.clone(cte_type="7bit")


def mail_address(text: str) -> str:
    """Return an address with its domain in ASCII; DeliveryRefused where it is none."""
    found = _ADDRESS.fullmatch(text.strip())
    if found is None or len(text) > LONGEST_ADDRESS:
        raise DeliveryRefused("there is no such mail address", permanent=True)
    try:
        return f"{found[1]}@{found[2].encode('idna').decode()}"
    except UnicodeError:
        raise DeliveryRefused("there is no such mail address", permanent=True) from None


def compose(
    message: OutgoingMessage, *, sender: str, sender_name: str, message_id: str, date: datetime
) -> SmtpEnvelope:
    """Make the mail; the same arguments give the same Message-ID, and line breaks make no headers.

    Raises:
        DeliveryRefused: sender or recipient is no mail address.
    """
    sender, recipient = mail_address(sender), mail_address(message.to)
    local, _, domain = sender.rpartition("@")
    letter = EmailMessage(policy=_SEVEN_BIT)
    letter["From"] = Address(_plain(sender_name), local, domain)
    to_local, _, to_domain = recipient.rpartition("@")
    letter["To"] = Address("", to_local, to_domain)
    letter["Subject"] = _plain(message.subject)[:LONGEST_SUBJECT]
    letter["Date"] = format_datetime(date)
    letter["Message-ID"] = f"<{message_id}@{domain}>"
    letter["Auto-Submitted"] = "auto-generated"
    if message.urgent:
        letter["Importance"] = "high"
        letter["X-Priority"] = "1"
    letter.set_content(message.text)
    if message.html is not None:
        letter.add_alternative(message.html, subtype="html")
    international = not (sender + recipient).isascii()
    policy = _SEVEN_BIT.clone(utf8=True) if international else _SEVEN_BIT
    return SmtpEnvelope(sender, recipient, letter.as_bytes(policy=policy), international)


def _plain(text: str) -> str:
    """One line of printable characters."""
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())
