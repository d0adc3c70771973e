"""The bodies of messages to the webhooks of companies (docs/ticket-webhooks.md#messages)."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from motorpool.actors.helpdesk.facts import TicketMessage
from motorpool.actors.helpdesk.times import format_seconds
from motorpool.actors.helpdesk.webhook_settings import TEST, WebhookSettings
from motorpool.actors.words.masking import mask_secrets
from motorpool.actors.words.record_json import optional_texts
from motorpool.storage.deliveries import outbox

MAX_BYTES = 20_000
"""Longest body."""
CUT_LENGTHS = (4000, 1000, 250)
"""Characters to which the texts of a body that is too long are cut, until it is not."""
DELETED = "ticket.deleted"

_encoder = msgspec.json.Encoder()


def wanted_messages(
    settings: WebhookSettings | None, messages: Sequence[TicketMessage]
) -> list[TicketMessage]:
    """Return those messages that a company's webhook wants; None: the company has no webhook."""
    return [] if settings is None else [each for each in messages if settings.wants(each.type)]


def message_rows(
    settings: WebhookSettings, wanted: Sequence[TicketMessage], *, sequence: int, now: datetime
) -> list[outbox.TicketMessage]:
    """Return the rows to enqueue for the messages about one ticket that its company's webhook wants.

    `sequence` is the number of the ticket's latest message; the first row gets the next number.
    """
    return [
        outbox.TicketMessage(
            company_id=message.ticket.company_id,
            ticket_id=message.ticket.id,
            sequence=number,
            type=message.type,
            body=_body(message, number, thin=settings.thin, now=now),
        )
        for number, message in enumerate(wanted, start=sequence + 1)
    ]


def test_body(company_id: int, now: datetime) -> str:
    """Return the body of the message that tests a webhook."""
    return _encode({"type": TEST, "timestamp": format_seconds(now), "data": {"companyId": company_id}})


def _body(message: TicketMessage, sequence: int, *, thin: bool, now: datetime) -> str:
    ticket, event = message.ticket, message.event
    head = {
        "companyId": ticket.company_id,
        "ticketId": ticket.id,
        "number": ticket.number,
        "version": ticket.version,
        "sequence": sequence,
    }
    happened = event.event_time if event is not None else now

    def encode(data: Mapping[str, Any]) -> str:
        return _encode(
            {"type": message.type, "timestamp": format_seconds(happened), "data": {**head, **data}}
        )

    if thin or message.type == DELETED:
        return encode({"eventId": event.id} if event is not None and event.id else {})
    data = {
        "event": None if event is None else _plain(event),
        "changes": _plain(message.changes),
        "ticket": _plain(mask_secrets(ticket)),
    }
    body = encode(data)
    if len(body.encode()) <= MAX_BYTES:
        return body
    return _shortened(data, encode)


def _shortened(data: dict[str, Any], encode: Callable[[Mapping[str, Any]], str]) -> str:
    """Return a body whose texts are cut; the last resort is one without free fields."""
    for length in CUT_LENGTHS:
        body = encode({**_cut(data, length), "truncated": True})
        if len(body.encode()) <= MAX_BYTES:
            return body
    event = data["event"]
    bare: dict[str, Any] = {
        "event": None
        if event is None
        else {**event, "text": None, "from": None, "to": None, "attributes": {}},
        "changes": [],
        "ticket": {**data["ticket"], "description": None, "attributes": {}},
        "truncated": True,
    }
    return encode(_cut(bare, CUT_LENGTHS[-1]))


def _cut(value: Any, length: int) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, str):
        return value[:length]
    if isinstance(value, dict):
        return {name: _cut(each, length) for name, each in value.items()}
    if isinstance(value, list):
        return [_cut(each, length) for each in value]
    return value


def _plain(record: object) -> Any:  # noqa: ANN401 - JSON
    plain = _whole_seconds(msgspec.to_builtins(record, builtin_types=(datetime,)))
    if isinstance(record, msgspec.Struct):
        plain |= {name: plain[name] or None for name in optional_texts(type(record))}
    return plain


def _whole_seconds(value: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, datetime):
        return format_seconds(value)
    if isinstance(value, dict):
        return {name: _whole_seconds(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_whole_seconds(each) for each in value]
    return value


def _encode(value: object) -> str:
    return _encoder.encode(value).decode()
