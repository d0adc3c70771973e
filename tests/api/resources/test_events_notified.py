"""From a stored event to those who are notified: over every way, to real servers, and no further."""

import json
from datetime import UTC, datetime

import trio
from trio_websocket import open_websocket_url

from motorpool.actors.deliveries.notificators.mail import MailSettings
from motorpool.actors.deliveries.notificators.pushover import PushoverSettings
from motorpool.actors.deliveries.notificators.sms import SmsSettings
from motorpool.actors.deliveries.notificators.telegram import TelegramSettings
from motorpool.actors.deliveries.webhook import sign
from motorpool.actors.devices.position_writer import POSITION_WRITER, AppendEvents
from motorpool.actors.messages.topics import EVENTS
from motorpool.api.settings import (
    WebhookSettings,
)
from motorpool.storage.records import Event

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
LOOPBACK = WebhookSettings(allow=("127.0.0.0/8",))


async def store(served, device_id, kind="deviceOverspeed", **attributes):
    """Have an event stored; returns when its messages are made."""
    event = Event(type=kind, event_time=NOON, device_id=device_id, attributes=attributes)
    async with served.context.system.topic(EVENTS).subscribe() as stored:
        await served.context.system.ref(POSITION_WRITER).tell(AppendEvents((event,)))
        await stored.receive_batch()
    with trio.fail_after(120):
        while await served.context.database.fetch_value("select count(*) from unmatched_events"):  # noqa: ASYNC110
            await trio.sleep(0.01)


async def notify(served, client, kind, *names, **fields):
    """A notification of a user, by all these ways, of all their devices."""
    body = {"type": kind, "always": True, "notificators": ",".join(names), **fields}
    answer = await client.post("/notifications", json=body)
    assert answer.status == 200, answer.text
    return answer.json()["id"]


async def asked_of(server, number=1):
    with trio.fail_after(120):
        while len(server.asked) < number:  # noqa: ASYNC110 - a thread of another library adds to it
            await trio.sleep(0.01)
    return server.asked


async def test_an_event_goes_out_by_every_way(starting, mail_server, web_server):
    mails = await mail_server()
    hook, gateway, telegram, pushover = web_server(), web_server(), web_server(), web_server()
    settings = {
        "mail": MailSettings(host="127.0.0.1", port=mails.port, security="none", address="fleet@example.net"),
        "sms": SmsSettings(url=gateway.url),
        "telegram": TelegramSettings(token="1:x", url=telegram.url),
        "pushover": PushoverSettings(token="app", url=pushover.url),
        "webhook": LOOPBACK,
    }
    attributes = {
        "webhook.url": hook.url,
        "webhook.secret": SECRET,
        "telegramChatId": "42",
        "pushoverUserKey": "key",
        "language": "de",
        "timezone": "Europe/Berlin",
        "speedUnit": "kmh",
    }
    ways = ("web", "mail", "sms", "telegram", "pushover", "webhook")
    async with starting(listen=True, **settings) as served:
        ann = await served.user("ann", phone="+49123", deviceLimit=-1, attributes=attributes)
        listed = (await ann.get("/notifications/notificators")).json()
        assert [each["type"] for each in listed] == [*ways, "command"]
        device_id = await served.device(ann, "860000000000001", category="van")
        await notify(served, ann, "deviceOverspeed", *ways)
        url = f"ws://127.0.0.1:{served.port}/api/socket"
        headers = [("Cookie", f"JSESSIONID={served.cookie(ann)}")]
        async with open_websocket_url(url, extra_headers=headers) as socket:
            await socket.get_message()
            await store(served, device_id, speed=50.0, speedLimit=40.0)
            with trio.fail_after(120):
                message = {}
                while "events" not in message:
                    message = json.loads(await socket.get_message())
        (shown,) = message["events"]
        envelope, letter = await mails.next()
        (posted,), (text,) = await asked_of(hook), await asked_of(gateway)
        (chat,), (push,) = await asked_of(telegram), await asked_of(pushover)
    digest = (
        "Vehicle 860000000000001: hat die zulässige Geschwindigkeit überschritten:"
        " 92,6 km/h (Grenze 74,1 km/h), 01.05.2026 14:00:00"
    )
    assert shown["attributes"] == {"speed": 50.0, "speedLimit": 40.0, "message": digest}
    assert envelope.rcpt_tos == ["ann@example.org"]
    assert letter["Subject"] == digest.rpartition(", ")[0]
    assert digest in letter.get_body("plain").get_content()
    assert f"/event/{shown['id']}" in letter.get_body("html").get_content()
    assert json.loads(text.body) == {"to": "+49123", "text": digest}
    assert json.loads(chat.body)["text"].startswith(digest)
    assert b"priority=0" in push.body
    body = json.loads(posted.body)
    assert body["type"] == "event.deviceOverspeed"
    assert body["data"]["device"] == {
        "id": device_id,
        "name": "Vehicle 860000000000001",
        "uniqueId": "860000000000001",
    }
    assert body["data"]["event"]["id"] == shown["id"]
    assert body["data"]["message"] == digest
    stamp, message_id = posted.headers["webhook-timestamp"], posted.headers["webhook-id"]
    expected = sign((SECRET,), message_id, int(stamp), posted.body)
    assert posted.headers["webhook-signature"] == expected


async def test_what_ends_a_right_ends_its_notifications(starting, web_server):
    hook = web_server()
    async with starting(webhook=LOOPBACK) as served:
        ann = await served.user("ann", attributes={"webhook.url": hook.url})
        device_id = await served.device(served.admin, "1")
        await notify(served, ann, "deviceStopped", "webhook")
        link = {"userId": ann.id, "deviceId": device_id}
        await store(served, device_id, "deviceStopped", number=1)
        await served.admin.post("/permissions", json=link)
        await store(served, device_id, "deviceStopped", number=2)
        await asked_of(hook)
        await served.admin.delete("/permissions", json=link)
        await store(served, device_id, "deviceStopped", number=3)
        await served.admin.post("/permissions", json=link)
        await store(served, device_id, "deviceStopped", number=4)
        await asked_of(hook, 2)
    numbers = [json.loads(asked.body)["data"]["event"]["attributes"]["number"] for asked in hook.asked]
    assert numbers == [2, 4]


async def test_a_failing_webhook_is_shown_and_a_test_that_arrives_resumes_it(starting, web_server):
    answers = [410]
    hook = web_server(lambda _: (answers.pop() if answers else 204, b""))
    async with starting(webhook=LOOPBACK) as served:
        ann = await served.user("ann", deviceLimit=-1, attributes={"webhook.url": hook.url})
        device_id = await served.device(ann, "1")
        await notify(served, ann, "deviceStopped", "webhook")
        await store(served, device_id, "deviceStopped")
        failing = []
        with trio.fail_after(120):
            while not failing or failing[0]["paused"] is None:
                failing = (await ann.get("/notifications/failing")).json()
                await trio.sleep(0.01)
        assert (failing[0]["notificator"], failing[0]["failures"]) == ("webhook", 1)
        assert failing[0]["lastError"] == "the receiver answers 410"
        assert (await served.admin.get("/notifications/failing")).json() == []
        assert (await ann.post("/notifications/test/webhook")).status == 204
        assert (await ann.get("/notifications/failing")).json() == []
        # What was answered with 410 still waits, and is sent again.
        await asked_of(hook, 3)
    types = [json.loads(asked.body)["type"] for asked in hook.asked]
    assert types == ["event.deviceStopped", "event.test", "event.deviceStopped"]
    first, _, again = (asked.headers["webhook-id"] for asked in hook.asked)
    assert first == again


async def test_a_webhook_is_checked_when_it_is_saved_and_its_secret_never_shown(served):
    ann = await served.user(
        "ann", attributes={"webhook.url": "https://example.org", "webhook.secret": SECRET}
    )
    shown = (await ann.get(f"/users/{ann.id}")).json()
    assert shown["attributes"] == {"webhook.url": "https://example.org", "webhook.secret": "********"}
    assert (await ann.put(f"/users/{ann.id}", json=shown)).status == 200
    stored = await served.context.database.fetch_value("select attributes from users where id = $1", ann.id)
    assert stored["webhook.secret"] == SECRET
    # The secret does not go to another host with the mask.
    moved = {**shown, "attributes": {**shown["attributes"], "webhook.url": "https://example.com"}}
    assert (await ann.put(f"/users/{ann.id}", json=moved)).status == 200
    stored = await served.context.database.fetch_value("select attributes from users where id = $1", ann.id)
    assert stored == {"webhook.url": "https://example.com"}
    for wrong in (
        {"webhook.url": "gopher://example.org"},
        {"webhook.url": "https://a:b@example.org"},
        {"webhook.url": 7},
        {"webhook.secret": "short"},
    ):
        answer = await ann.put(f"/users/{ann.id}", json={**shown, "attributes": wrong})
        assert answer.status == 400, wrong
        assert answer.text.startswith("webhook.")
