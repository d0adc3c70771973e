"""What a release has left to be sent is sent by this one, as that one would have sent it."""

import json
from collections import defaultdict
from datetime import UTC, datetime
from urllib.parse import parse_qs

import pytest
import trio
import trio.testing
from tests.runtime.actor_testing import TestClock, open_tree
from tests.storage.filled.loading import contents, pending_messages_of_0a24c499
from tests.storage.filled.migrating import bring_up_to_date, open_session

from motorpool.actors.deliveries import OutgoingServices
from motorpool.actors.deliveries.notificators.mail import MailSettings
from motorpool.actors.deliveries.notificators.pushover import PushoverSettings
from motorpool.actors.deliveries.notificators.sms import SmsSettings
from motorpool.actors.deliveries.notificators.telegram import TelegramSettings
from motorpool.actors.deliveries.outbox import OUTBOX, Outbox
from motorpool.actors.deliveries.webhook import sign
from motorpool.actors.helpdesk.webhook_sender import WebhookSender
from motorpool.actors.messages.tickets import WEBHOOK_SENDER
from motorpool.runtime import ChildSpec
from motorpool.storage.database.database import open_database
from motorpool.storage.database.migrations import load
from motorpool.storage.settings import DatabaseSettings

THEN = datetime(2026, 11, 23, 20, 32, tzinfo=UTC)
"""A minute after the server was killed."""
RECEIVERS_MOVED = (
    "update users set attributes = attributes || jsonb_build_object('webhook.url', $1::text || '/' || id)"
    " where attributes ? 'webhook.url'",
    "update companies set attributes = jsonb_set(attributes, '{ticketWebhook}',"
    " (attributes -> 'ticketWebhook') || jsonb_build_object('url', $1::text || '/company/' || id,"
    " 'disabled', false)) where attributes ? 'ticketWebhook'",
)
ALL_DUE = (
    "update deliveries set next_attempt = created where state = 'waiting'",
    "update receivers set held_until = null",
)


@pytest.fixture
async def left(filled_url, mail_server, web_server):
    """The messages of before the migration, by their identities, the database, and those who receive them."""
    async with open_session(filled_url) as session:
        before = await contents(session)
    await bring_up_to_date(filled_url, load())
    mails, web = await mail_server(), web_server()
    settings = DatabaseSettings(url=filled_url, pool_size=4)
    async with open_database(settings, clock_now=lambda: THEN) as database:
        for statement in RECEIVERS_MOVED:
            await database.execute(statement, web.url)
        await database.execute(
            "update users set attributes = attributes || jsonb_build_object('mail.smtp.port', $1::integer)"
            " where attributes ? 'mail.smtp.host'",
            mails.port,
        )
        for statement in ALL_DUE:
            await database.execute(statement)
        yield before, database, mails, web


async def test_each_message_is_sent_once_in_its_order_with_its_body_id_and_signature(left):
    before, database, mails, web = left
    waiting = {each.identity: each for each in pending_messages_of_0a24c499(before)}
    outgoing = OutgoingServices(
        allow=("127.0.0.0/8",),
        version="8",
        mail=MailSettings(host="127.0.0.1", port=mails.port, security="none", address="fleet@example.net"),
        sms=SmsSettings(url=f"{web.url}/sms", template='["{phone}", "{message}", "{id}"]'),
        telegram=TelegramSettings(token="1:x", url=f"{web.url}/telegram"),
        pushover=PushoverSettings(token="app", url=f"{web.url}/pushover"),
    )
    clock = TestClock(THEN)
    specs = (
        ChildSpec(kind=OUTBOX, factory=lambda: Outbox(database, outgoing, 30, "this server")),
        ChildSpec(kind=WEBHOOK_SENDER, factory=lambda: WebhookSender(database, outgoing, "this server", 30)),
    )
    async with open_tree(*specs, clock=clock):
        with trio.fail_after(120):
            while await database.fetch_value("select count(*) from deliveries where state = 'waiting'"):
                await trio.testing.wait_all_tasks_blocked(0.05)
    users = {row["id"]: row for row in before["users"]}
    companies = {row["id"]: row for row in before["companies"]}
    received, orders = [], defaultdict(list)
    for asked in web.asked:
        if "webhook-id" not in asked.headers:
            continue
        message = waiting[asked.headers["webhook-id"]]
        received.append(message.identity)
        orders[message.lane, message.order].append(message)
        assert asked.body == message.body.encode()
        if message.lane == "company":
            company = int(asked.path.rpartition("/")[2])
            assert message.identity.startswith(f"msg_{company}_")
            secret = companies[company]["attributes"]["ticketWebhook"]["secret"]
        else:
            assert asked.path == f"/{message.user_id}"
            secret = users[message.user_id]["attributes"].get("webhook.secret")
        timestamp = int(asked.headers["webhook-timestamp"])
        assert 0 <= timestamp - THEN.timestamp() <= 120
        signature = sign((secret,), message.identity, timestamp, asked.body) if secret else None
        assert asked.headers["webhook-signature"] == signature
        assert asked.headers["Content-Type"] == "application/json"
        assert asked.headers["User-Agent"] == "motorpool/8"
    for messages in orders.values():
        numbers = [message.number for message in messages if not message.is_overtaken]
        assert numbers == sorted(numbers)
    texts = [json.loads(asked.body) for asked in web.asked if asked.path == "/sms"]
    for phone, text, identity in texts:
        message = waiting[identity]
        received.append(identity)
        assert (phone, text) == (users[message.user_id]["phone"], message.body)
    for _ in range(mails.left):
        _, letter = await mails.next()
        identity = letter["Message-ID"].strip("<>").partition("@")[0]
        message = waiting[identity]
        received.append(identity)
        plain = letter.get_body(("plain",)).get_content()
        assert plain.split() == message.body.split()
        own = message.lane == "own mail"
        sender = users[message.user_id]["attributes"]["mail.smtp.from"] if own else "fleet@example.net"
        assert letter["From"] == sender or sender in letter["From"]
        names = [part.get_filename() for part in letter.iter_attachments()]
        attached = next(
            row["message"]["attached"] for row in before["outbox"] if row["message_id"] == identity
        )
        assert names == ["report.xlsx"] * attached
    # Services take no id: of these the texts are compared.
    chats = [json.loads(each.body)["text"] for each in web.asked if each.path.startswith("/telegram")]
    phones = [parse_qs(each.body.decode())["message"][0] for each in web.asked if "pushover" in each.path]
    by_lane = defaultdict(list)
    for message in waiting.values():
        by_lane[message.lane].append(message)
    assert sorted(chats) == sorted(each.body for each in by_lane["telegram"])
    assert sorted(phones) == sorted(each.body for each in by_lane["pushover"])
    others = [each.identity for each in waiting.values() if each.lane not in ("telegram", "pushover")]
    assert sorted(received) == sorted(others)
    # The log goes on where it was.
    logged = await database.fetch("select id, attempts from deliveries where state = 'delivered'")
    stopped = {row["company_id"] for row in before["ticket_webhooks"] if row["stopped_at"]}
    tried = {
        # A webhook that was disabled and is enabled again begins anew.
        row["id"]: 0 if row["company_id"] in stopped else row["attempts"]
        for row in before["ticket_messages"]
        if row["state"] == "waiting"
    }
    assert {row[0]: row[1] for row in logged if row[0] in tried} == {
        row_id: attempts + 1 for row_id, attempts in tried.items()
    }
