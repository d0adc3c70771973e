"""Composes mails (RFC 5322, MIME)."""

import re
from collections.abc import Sequence
from datetime import datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime

from motorpool.actors.deliveries.smtp import SmtpEnvelope
from motorpool.actors.http.errors import DeliveryRefused
from motorpool.actors.words.printable import printable_line
from motorpool.storage.deliveries.outbox import Attachment, OutgoingMessage

MAX_ADDRESS_LENGTH = 254
MAX_SUBJECT_LENGTH = 500
_ADDRESS = re.compile(r"([^\s@<>()\[\]\\,;:\"\x00-\x1f\x7f]+)@([^\s@<>()\[\]\\,;:\"\x00-\x1f\x7f]+)")
_SEVEN_BIT = SMTP.clone(cte_type="7bit")


def mail_address(text: str) -> str:
    """Return a mail address with its domain in ASCII. Raises DeliveryRefused where it is not valid."""
    found = _ADDRESS.fullmatch(text.strip())
    if found is None or len(text) > MAX_ADDRESS_LENGTH:
        raise DeliveryRefused("there is no such mail address", permanent=True)
    try:
        return f"{found[1]}@{found[2].encode('idna').decode()}"
    except UnicodeError:
        raise DeliveryRefused("there is no such mail address", permanent=True) from None


def compose(
    message: OutgoingMessage,
    *,
    sender: str,
    sender_name: str,
    message_id: str,
    date: datetime,
    attachments: Sequence[Attachment] = (),
) -> SmtpEnvelope:
    """Compose a mail. The same `message_id` gives the same Message-ID; line breaks cannot inject headers.

    Raises:
        DeliveryRefused: sender or recipient is not a valid mail address.
    """
    sender, recipient = mail_address(sender), mail_address(message.to)
    local, _, domain = sender.rpartition("@")
    mail = EmailMessage(policy=_SEVEN_BIT)
    mail["From"] = Address(printable_line(sender_name), local, domain)
    to_local, _, to_domain = recipient.rpartition("@")
    mail["To"] = Address("", to_local, to_domain)
    mail["Subject"] = printable_line(message.subject)[:MAX_SUBJECT_LENGTH]
    mail["Date"] = format_datetime(date)
    mail["Message-ID"] = f"<{message_id}@{domain}>"
    mail["Auto-Submitted"] = "auto-generated"
    if message.urgent:
        mail["Importance"] = "high"
        mail["X-Priority"] = "1"
    mail.set_content(message.text)
    if message.html is not None:
        mail.add_alternative(message.html, subtype="html")
    for each in attachments:
        kind, _, subtype = each.media_type.partition("/")
        mail.add_attachment(each.content, maintype=kind, subtype=subtype, filename=printable_line(each.name))
    international = not (sender + recipient).isascii()
    policy = _SEVEN_BIT.clone(utf8=True) if international else _SEVEN_BIT
    return SmtpEnvelope(sender, recipient, mail.as_bytes(policy=policy), international)
