"""Telegram, Pushover and ntfy: what they are sent, and what their answers mean."""

import json
from base64 import b64encode
from urllib.parse import parse_qs

import pytest

from motorpool.actors.deliveries import OutgoingServices
from motorpool.actors.deliveries.notificator import Envelope
from motorpool.actors.deliveries.notificators.ntfy import NtfySettings
from motorpool.actors.deliveries.notificators.pushover import PushoverSettings
from motorpool.actors.deliveries.notificators.telegram import TelegramSettings
from motorpool.actors.http.errors import DeliveryRefused, Unreachable
from motorpool.storage.deliveries.outbox import OutgoingMessage
from motorpool.storage.records import User

MESSAGE = OutgoingMessage(channel="telegram", to="42", subject="Van: alarm", text="Van: alarm: SOS")


def telegram(server):
    return OutgoingServices(telegram=TelegramSettings(token="1:secret", url=server.url)).notificators[
        "telegram"
    ]


def pushover(server):
    return OutgoingServices(pushover=PushoverSettings(token="app-secret", url=server.url)).notificators[
        "pushover"
    ]


async def test_telegram_gets_the_text_for_the_chat(web_server):
    server = web_server()
    await telegram(server).send(MESSAGE)
    (asked,) = server.asked
    assert asked.path == "/bot1:secret/sendMessage"
    assert json.loads(asked.body) == {"chat_id": "42", "text": "Van: alarm: SOS"}


@pytest.mark.parametrize(
    ("status", "body", "error", "seconds"),
    [
        (403, b"{}", DeliveryRefused, None),
        (400, b"{}", DeliveryRefused, None),
        (401, b"{}", Unreachable, 0),
        (502, b"no JSON", Unreachable, 0),
        (429, b'{"parameters": {"retry_after": 35}}', Unreachable, 35),
        (429, b'{"parameters": []}', Unreachable, 0),
        (429, b"no JSON", Unreachable, 0),
    ],
)
async def test_what_telegram_does_not_take(web_server, status, body, error, seconds):
    server = web_server(lambda _: (status, body))
    with pytest.raises(error) as raised:
        await telegram(server).send(MESSAGE)
    assert "secret" not in str(raised.value)
    if seconds is None:
        assert raised.value.permanent
    else:
        assert raised.value.retry_seconds == seconds


@pytest.mark.parametrize(("urgent", "priority"), [(False, "0"), (True, "1")])
async def test_pushover_gets_title_text_and_devices(web_server, urgent, priority):
    server = web_server()
    message = OutgoingMessage(channel="pushover", to="u1", subject="Van", text="SOS" * 1000, urgent=urgent)
    await pushover(server).send(message, Envelope(attributes={"pushoverDeviceNames": "phone,desk"}))
    (asked,) = server.asked
    assert asked.path == "/1/messages.json"
    sent = {name: values[0] for name, values in parse_qs(asked.body.decode()).items()}
    assert sent == {
        "token": "app-secret",
        "user": "u1",
        "title": "Van",
        "message": ("SOS" * 1000)[:1024],
        "priority": priority,
        "device": "phone,desk",
    }


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (400, b'{"user": "invalid"}', DeliveryRefused),
        (400, b'{"token": "invalid"}', Unreachable),
        (429, b"{}", Unreachable),
        (500, b"", Unreachable),
    ],
)
async def test_what_pushover_does_not_take(web_server, status, body, error):
    server = web_server(lambda _: (status, body))
    with pytest.raises(error) as raised:
        await pushover(server).send(MESSAGE)
    assert "secret" not in str(raised.value)


def ntfy(server, **fields):
    chosen = {"url": server.url, "token": "tk_secret", **fields}
    return OutgoingServices(ntfy=NtfySettings(**chosen)).notificators["ntfy"]


@pytest.mark.parametrize(("urgent", "priority"), [(False, 3), (True, 4)])
async def test_ntfy_gets_topic_title_text_priority_and_what_a_click_opens(web_server, urgent, priority):
    server = web_server()
    message = OutgoingMessage(
        channel="ntfy",
        to="fleet-ann",
        subject="Vän",
        text="Alarm: ü" * 1000,
        link="https://fleet.example.org/event/7",
        urgent=urgent,
    )
    await ntfy(server).send(message)
    (asked,) = server.asked
    assert (asked.method, asked.path) == ("POST", "/")
    assert asked.headers["Authorization"] == "Bearer tk_secret"
    sent = json.loads(asked.body)
    text = sent.pop("message")
    assert sent == {
        "topic": "fleet-ann",
        "title": "Vän",
        "priority": priority,
        "click": "https://fleet.example.org/event/7",
    }
    # ntfy makes a file of a longer text; no character is cut in two.
    assert ("Alarm: ü" * 1000).startswith(text)
    assert 4090 < len(text.encode()) <= 4096


async def test_ntfy_is_published_to_with_a_name_and_a_password_or_without_an_account(web_server):
    server = web_server()
    account = {"token": None, "username": "fleet", "password": "secret"}
    for fields in (account, {"token": None, "anonymous": True}):
        await ntfy(server, **fields).send(OutgoingMessage(channel="ntfy", to="t", text="SOS"))
    named, anonymous = server.asked
    assert named.headers["Authorization"] == f"Basic {b64encode(b'fleet:secret').decode()}"
    assert "Authorization" not in anonymous.headers
    assert json.loads(anonymous.body) == {"topic": "t", "message": "SOS", "priority": 3}


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, DeliveryRefused),
        (403, DeliveryRefused),
        (401, Unreachable),
        (429, Unreachable),
        (500, Unreachable),
    ],
)
async def test_what_ntfy_does_not_take(web_server, status, error):
    server = web_server(lambda _: (status, b'{"error": "no"}'))
    with pytest.raises(error) as raised:
        await ntfy(server).send(MESSAGE)
    assert "secret" not in str(raised.value)
    assert getattr(raised.value, "permanent", True)


@pytest.mark.parametrize("topic", ["", "a b", "a/b", "ü", "x" * 65, None, True])
def test_what_is_no_topic_of_ntfy_gets_no_message(topic):
    notificator = OutgoingServices().notificators["ntfy"]
    assert notificator.address_of(User(attributes={"ntfyTopic": topic})) == ""
    assert notificator.address_of(User(attributes={"ntfyTopic": " fleet-ann_1 "})) == "fleet-ann_1"


async def test_without_a_service_nothing_is_sent():
    nothing = OutgoingServices().notificators
    for name in ("telegram", "pushover", "ntfy"):
        assert not nothing[name].enabled
        with pytest.raises(Unreachable):
            await nothing[name].send(MESSAGE)
