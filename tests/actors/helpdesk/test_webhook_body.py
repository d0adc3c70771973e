"""Bodies of messages to webhooks: what they say, how long they may be, and which are wanted."""

import json
from datetime import UTC, datetime, timedelta

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from motorpool.actors.helpdesk.facts import FieldChange, TicketMessage
from motorpool.actors.helpdesk.webhook_body import MAX_BYTES, message_rows, wanted_messages
from motorpool.actors.helpdesk.webhook_body import test_body as body_of_test
from motorpool.actors.helpdesk.webhook_settings import WebhookSettings
from motorpool.storage.helpdesk.helpdesk_records import Ticket, TicketEvent

NOW = datetime(2026, 10, 12, 10, 20, 0, 999_000, tzinfo=UTC)
DUE = datetime(2026, 10, 12, 9, 0, 0, 500_000, tzinfo=UTC)
WEBHOOK = WebhookSettings("https://hooks.example.org")
TICKET = Ticket(id=118, number=42, company_id=5, version=9, subject="No position", created_at=DUE)
BREACH = TicketMessage(
    "ticket.sla_breached",
    TicketEvent(
        id=8812,
        ticket_id=118,
        event_time=DUE,
        created_at=NOW,
        type="slaBreached",
        version=9,
        attributes={"target": "firstResponse", "due": DUE},
    ),
    (FieldChange("firstResponseBreached", False, True),),
    TICKET,
)


def bodies(*messages, webhook=WEBHOOK, sequence=8):
    rows = message_rows(webhook, wanted_messages(webhook, messages), sequence=sequence, now=NOW)
    return [json.loads(row.body) for row in rows]


def noted(kind, text="a word"):
    entry = TicketEvent(id=1, event_time=NOW, type="comment", text=text)
    return TicketMessage(kind, entry, (), TICKET)


def test_the_body_of_a_breach():
    (row,) = message_rows(WEBHOOK, [BREACH], sequence=8, now=NOW)
    assert (row.company_id, row.ticket_id, row.sequence, row.type) == (5, 118, 9, "ticket.sla_breached")
    assert row.body.startswith('{"type":"ticket.sla_breached","timestamp":"2026-10-12T09:00:00Z","data":{')
    data = json.loads(row.body)["data"]
    assert {name: data[name] for name in ("companyId", "ticketId", "number", "version", "sequence")} == {
        "companyId": 5,
        "ticketId": 118,
        "number": 42,
        "version": 9,
        "sequence": 9,
    }
    assert data["event"]["id"] == 8812
    assert data["event"]["eventTime"] == "2026-10-12T09:00:00Z"
    assert data["event"]["createdAt"] == "2026-10-12T10:20:00Z"
    assert data["event"]["attributes"] == {"target": "firstResponse", "due": "2026-10-12T09:00:00Z"}
    assert data["changes"] == [{"field": "firstResponseBreached", "from": False, "to": True}]
    assert data["ticket"]["subject"] == "No position"
    assert data["ticket"]["resolvedAt"] is None
    assert "truncated" not in data


def test_messages_that_are_wanted_are_numbered_without_gaps():
    several = [noted("ticket.noted"), BREACH, noted("ticket.noted"), noted("ticket.commented")]
    found = bodies(*several)
    assert [(each["type"], each["data"]["sequence"]) for each in found] == [
        ("ticket.sla_breached", 9),
        ("ticket.commented", 10),
    ]
    by_name = WebhookSettings("https://hooks.example.org", events=frozenset({"ticket.noted"}))
    assert [each["data"]["sequence"] for each in bodies(*several, webhook=by_name)] == [9, 10]
    assert wanted_messages(None, several) == []


def test_a_thin_message_holds_ids_only():
    (body,) = bodies(BREACH, webhook=WebhookSettings("https://hooks.example.org", thin=True))
    ids = {"companyId": 5, "ticketId": 118, "number": 42, "version": 9, "sequence": 9}
    assert body["data"] == {**ids, "eventId": 8812}
    (deleted,) = bodies(TicketMessage("ticket.deleted", None, (), TICKET))
    assert deleted["data"] == ids
    assert deleted["timestamp"] == "2026-10-12T10:20:00Z"


def test_long_texts_are_cut_to_four_thousand_characters():
    ticket = msgspec.structs.replace(TICKET, description="d" * 65536)
    (body,) = bodies(msgspec.structs.replace(noted("ticket.commented", "e" * 65536), ticket=ticket))
    assert body["data"]["truncated"] is True
    assert body["data"]["ticket"]["description"] == "d" * 4000
    assert body["data"]["event"]["text"] == "e" * 4000


texts = st.text(st.characters(codec="utf-8"), max_size=300)


@settings(max_examples=40, deadline=None)
@given(
    description=texts,
    times=st.integers(1, 200),
    attributes=st.dictionaries(st.text("ab", max_size=3), st.lists(texts, max_size=3), max_size=3),
    keys=st.integers(0, 3000),
)
def test_no_body_is_longer_than_it_may_be(description, times, attributes, keys):
    ticket = msgspec.structs.replace(
        TICKET,
        description=description * times,
        attributes=attributes | {str(key): key for key in range(keys)},
    )
    message = TicketMessage(
        "ticket.updated",
        BREACH.event,
        (FieldChange("description", description * times, ""), FieldChange("attributes", {}, attributes)),
        ticket,
    )
    (row,) = message_rows(WEBHOOK, [message], sequence=0, now=NOW + timedelta(days=1))
    assert len(row.body.encode()) <= MAX_BYTES
    assert json.loads(row.body)["data"]["ticket"]["id"] == 118


def test_the_message_of_the_test_operation():
    body = '{"type":"webhook.test","timestamp":"2026-10-12T10:20:00Z","data":{"companyId":5}}'
    assert body_of_test(5, NOW) == body


def test_texts_that_are_absent_are_null():
    (body,) = bodies(BREACH)
    ticket, event = body["data"]["ticket"], body["data"]["event"]
    assert (ticket["description"], ticket["uniqueId"], event["text"], event["field"]) == (None,) * 4
