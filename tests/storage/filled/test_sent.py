"""What a release has left to be sent is sent by this one, as that one would have sent it."""

import json
from collections import defaultdict
from datetime import datetime, timedelta
from urllib.parse import parse_qs

import pytest
import trio
import trio.testing
from tests.runtime.actor_testing import TestClock, open_tree
from tests.storage.filled.fill import COMPANY_SECRET, ENCRYPTION_KEY, WEBHOOK_SECRET
from tests.storage.filled.loading import attached_to, contents, disabled_webhooks, pending_messages
from tests.storage.filled.migrating import bring_up_to_date, open_session
from tests.storage.filled.releases import releases

from motorpool.actors.deliveries import OutgoingServices
from motorpool.actors.deliveries.notificators.mail import MailSettings
from motorpool.actors.deliveries.notificators.ntfy import NtfySettings
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
    waiting = {each.identity: each for each in pending_messages(before)}
    # The leases of the server that was killed have ended.
    last = max(datetime.fromisoformat(each.created) for each in waiting.values())
    then = last.replace(microsecond=0) + timedelta(minutes=10)
    mails, web = await mail_server(), web_server()
    settings = DatabaseSettings(url=filled_url, pool_size=4, keys=(ENCRYPTION_KEY,))
    async with open_database(settings, clock_now=lambda: then) as database:
        for statement in RECEIVERS_MOVED:
            await database.execute(statement, web.url)
        await database.execute(
            "update users set attributes = attributes || jsonb_build_object('mail.smtp.port', $1::integer)"
            " where attributes ? 'mail.smtp.host'",
            mails.port,
        )
        for statement in ALL_DUE:
            await database.execute(statement)
        yield before, waiting, then, database, mails, web


@pytest.mark.parametrize("release", releases(recent=1))
async def test_each_message_is_sent_once_in_its_order_with_its_body_id_and_signature(left):
    before, waiting, then, database, mails, web = left
    outgoing = OutgoingServices(
        allow=("127.0.0.0/8",),
        version="8",
        mail=MailSettings(host="127.0.0.1", port=mails.port, security="none", address="fleet@example.net"),
        sms=SmsSettings(url=f"{web.url}/sms", template='["{phone}", "{message}", "{id}"]'),
        telegram=TelegramSettings(token="1:x", url=f"{web.url}/telegram"),
        pushover=PushoverSettings(token="app", url=f"{web.url}/pushover"),
        ntfy=NtfySettings(token="tk", url=f"{web.url}/ntfy"),
    )
    clock = TestClock(then)
    specs = (
        ChildSpec(kind=OUTBOX, factory=lambda: Outbox(database, outgoing, 30, "this server")),
        ChildSpec(kind=WEBHOOK_SENDER, factory=lambda: WebhookSender(database, outgoing, "this server", 30)),
    )
    async with open_tree(*specs, clock=clock):
        with trio.fail_after(120):
            while await database.fetch_value("select count(*) from deliveries where state = 'waiting'"):
                await trio.testing.wait_all_tasks_blocked(0.05)
    users = {row["id"]: row for row in before["users"]}
    received, orders = [], defaultdict(list)
    for asked in web.asked:
        if "webhook-id" not in asked.headers:
            continue
        message = waiting[asked.headers["webhook-id"]]
        received.append(message.identity)
        orders[message.lane, message.order].append(message)
        assert asked.body == message.body.encode()
        if message.lane == "company":
            assert asked.path == f"/company/{message.company_id}"
            secret = COMPANY_SECRET
        else:
            assert asked.path == f"/{message.user_id}"
            secret = WEBHOOK_SECRET if "webhook.secret" in users[message.user_id]["attributes"] else None
        timestamp = int(asked.headers["webhook-timestamp"])
        assert 0 <= timestamp - then.timestamp() <= 120
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
        assert len(names) == attached_to(before, message)
        # Before 0.5.0 all files of reports had one name.
        assert all(name == "report.xlsx" or name.startswith("trips_Van-1_") for name in names)
    # Services take no id: of these the texts are compared.
    chats = [json.loads(each.body)["text"] for each in web.asked if each.path.startswith("/telegram")]
    phones = [parse_qs(each.body.decode())["message"][0] for each in web.asked if "pushover" in each.path]
    by_lane = defaultdict(list)
    for message in waiting.values():
        by_lane[message.lane].append(message)
    assert sorted(chats) == sorted(each.body for each in by_lane["telegram"])
    assert sorted(phones) == sorted(each.body for each in by_lane["pushover"])
    topics = [json.loads(each.body)["message"] for each in web.asked if each.path.startswith("/ntfy")]
    assert sorted(topics) == sorted(each.body for each in by_lane["ntfy"])
    others = [each.identity for each in waiting.values() if each.lane not in ("telegram", "pushover", "ntfy")]
    assert sorted(received) == sorted(others)
    # The log goes on where it was.
    logged = await database.fetch("select message_id, attempts from deliveries where state = 'delivered'")
    stopped = disabled_webhooks(before)
    tried = {
        # A webhook that was disabled and is enabled again begins anew.
        each.identity: 0 if each.company_id in stopped else each.attempts
        for each in by_lane["company"]
    }
    assert {row[0]: row[1] for row in logged if row[0] in tried} == {
        identity: attempts + 1 for identity, attempts in tried.items()
    }
