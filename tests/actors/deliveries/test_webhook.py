"""Webhooks: what is signed, where requests may go, and what an answer means."""

from datetime import UTC, datetime
from functools import partial

import pytest
import trio
import trio.lowlevel

from motorpool.actors.deliveries import OutgoingServices, webhook
from motorpool.actors.deliveries.webhook import check_url, sign, signing_key
from motorpool.actors.deliveries.webhook_schedule import MAX_ATTEMPTS, delay_seconds
from motorpool.actors.http.errors import DeliveryRefused, ReceiverGone, Unreachable

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
TICKET = b'{"type":"ticket.created","timestamp":"2026-10-12T08:00:00Z","data":{"id":118}}'


@pytest.mark.parametrize(
    ("secret", "message_id", "timestamp", "body", "signature"),
    [
        # The first is found in the libraries of Standard Webhooks.
        (
            SECRET,
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            1614265330,
            b'{"test": 2432232314}',
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
        ),
        (
            "whsec_ZmxlZXQtaGVscGRlc2stdGVzdC1zZWNyZXQtMDAwMSE=",
            "msg_c42_118_9",
            1791792000,
            TICKET,
            "v1,/MoNSzLbqZAONJn5CVYIrZI3TLE7iIJFSM9PrxZF+NA=",
        ),
        (
            "my-existing-plain-secret",
            "msg_c42_118_9",
            1791792000,
            TICKET,
            "v1,oLPxHCcPXGZIxVoNazGmyNVApL9RgKRR89/8l49Ch7Y=",
        ),
    ],
)
def test_signatures_are_those_of_standard_webhooks(secret, message_id, timestamp, body, signature):
    assert sign((secret,), message_id, timestamp, body) == signature
    assert sign((secret, SECRET), message_id, timestamp, body).split(" ")[0] == signature


def test_delays_after_failed_attempts():
    """In all about three days; each is up to a fifth shorter or longer."""
    hour = 3600
    usual = [5, 300, 1800, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour]
    assert [delay_seconds(failed, lambda least, most: (least + most) / 2) for failed in range(9)] == usual
    assert delay_seconds(20, min) == pytest.approx(0.8 * usual[-1])
    assert delay_seconds(0, max) == pytest.approx(1.2 * usual[0])
    assert MAX_ATTEMPTS == 10


@pytest.mark.parametrize("secret", ["", "short", "whsec_!", "fifteen letters", "whsec_", "whsec_c2hvcnQ="])
def test_a_short_secret_is_refused(secret):
    with pytest.raises(DeliveryRefused):
        signing_key(secret)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://example.org", True),
        ("https://example.org:443/a?b=c", True),
        ("https://example.org:8443/", True),
        ("https://example.org:1024/", True),
        ("https://example.org:22/", False),
        ("http://example.org/", False),
        ("http://example.org:8080/", False),
    ],
)
def test_only_https_to_ordinary_ports_needs_no_leave(url, expected):
    assert check_url(url) is expected


@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.org",
        "ftp://example.org",
        "https://",
        "https://user@example.org",
        "https://user:word@example.org",
        "https://example.org/#part",
        "https://example.org:99999/",
        "https://" + "a" * 254,
        "https://[::1",
    ],
)
def test_what_is_no_url_of_a_webhook_is_refused(url):
    with pytest.raises(DeliveryRefused) as refused:
        check_url(url)
    assert refused.value.permanent


def webhooks(*allow):
    return OutgoingServices(allow=allow).ticket_webhooks


async def send(url, *allow, **fields):
    answer = await webhooks(*allow).post(url, b'{"a": 1}', **{"message_id": "m1", "now": NOW, **fields})
    if (error := webhook.refusal(answer, NOW)) is not None:
        raise error


async def test_the_receiver_can_check_the_signature(web_server):
    server = web_server(lambda _: (204, b""))
    await send(server.url + "/hook", "127.0.0.0/8", secrets=(SECRET,))
    (asked,) = server.asked
    assert (asked.method, asked.body) == ("POST", b'{"a": 1}')
    assert asked.headers["Content-Type"] == "application/json"
    assert asked.headers["webhook-id"] == "m1"
    assert asked.headers["webhook-timestamp"] == str(int(NOW.timestamp()))
    assert asked.headers["webhook-signature"] == sign((SECRET,), "m1", int(NOW.timestamp()), asked.body)


async def test_without_a_secret_there_is_no_signature(web_server):
    server = web_server()
    await send(server.url, "127.0.0.0/8")
    assert "webhook-signature" not in server.asked[0].headers


async def test_private_addresses_and_plain_http_need_the_operators_leave(web_server):
    server = web_server()
    for allow in ((), ("10.0.0.0/8",)):
        with pytest.raises(DeliveryRefused) as refused:
            await send(server.url, *allow)
        assert refused.value.permanent
    assert server.asked == []


@pytest.mark.parametrize("status", [200, 201, 299])
async def test_any_2xx_is_delivered_however_long_its_answer(web_server, status):
    server = web_server(lambda _: (status, b"x" * 100_000))
    server.headers["Content-Encoding"] = "gzip"
    await send(server.url, "127.0.0.0/8")


@pytest.mark.parametrize("status", [301, 307, 400, 401, 404, 500])
async def test_other_answers_refuse_this_message(web_server, status):
    server = web_server(lambda _: (status, b""))
    server.headers["Location"] = server.url
    with pytest.raises(DeliveryRefused, match=str(status)) as refused:
        await send(server.url, "127.0.0.0/8")
    assert not refused.value.permanent
    assert len(server.asked) == 1


async def test_a_receiver_that_hangs_is_named(hanging_port, monkeypatch):
    monkeypatch.setattr(webhook, "SECONDS", 0.05)
    with pytest.raises(Unreachable, match=r"^127\.0\.0\.1 gave no answer within 0\.05 s$"):
        await send(f"http://127.0.0.1:{hanging_port}/?key=secret", "127.0.0.0/8")


async def test_410_ends_it(web_server):
    server = web_server(lambda _: (410, b""))
    with pytest.raises(ReceiverGone):
        await send(server.url, "127.0.0.0/8")


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, 0),
        ("120", 120),
        ("Mon, 15 Jun 2026 12:01:00 GMT", 60),
        ("Mon, 15 Jun 2026 11:00:00 GMT", 0),
        ("99999999", 86400),
        ("soon", 0),
    ],
)
@pytest.mark.parametrize("status", [429, 503])
async def test_a_receiver_may_ask_to_wait(web_server, status, value, seconds):
    server = web_server(lambda _: (status, b""))
    if value is not None:
        server.headers["Retry-After"] = value
    with pytest.raises(Unreachable) as error:
        await send(server.url, "127.0.0.0/8")
    assert error.value.retry_seconds == seconds


class Keeping:
    """Answers requests on connections that stay open."""

    def __init__(self):
        self.connections, self.closed, self.received = 0, 0, []

    async def serve(self, stream):
        self.connections += 1
        async with stream:
            while head := await stream.receive_some(65536):
                while not head.endswith(b'{"a": 1}'):
                    head += await stream.receive_some(65536)
                self.received.append(head)
                await stream.send_all(b"HTTP/1.1 204 No Content\r\n\r\n")
        self.closed += 1


@pytest.fixture
async def keeping(nursery):
    receiver = Keeping()
    (listener,) = await nursery.start(partial(trio.serve_tcp, receiver.serve, 0, host="127.0.0.1"))
    receiver.url = f"http://127.0.0.1:{listener.socket.getsockname()[1]}"
    return receiver


async def post(session, url):
    answer = await session.post(url, b'{"a": 1}', message_id="m1", secrets=(SECRET,), now=NOW)
    assert (answer.status, answer.address) == (204, "127.0.0.1")


async def test_messages_of_a_session_share_a_connection(keeping):
    async with webhooks("127.0.0.0/8").session() as session:
        for _ in range(3):
            await post(session, keeping.url + "/a")
        assert (keeping.connections, len(keeping.received)) == (1, 3)
        async with trio.open_nursery() as sending:
            for _ in range(3):
                sending.start_soon(post, session, keeping.url + "/b")
        assert keeping.connections == 3
    with trio.fail_after(120):
        while keeping.closed < 3:
            await trio.lowlevel.checkpoint()
    heads = [received.lower() for received in keeping.received]
    assert all(head.count(b"webhook-signature: v1,") == 1 for head in heads)


async def test_an_idle_connection_is_not_used_for_long(keeping, monkeypatch):
    monkeypatch.setattr(webhook, "IDLE_SECONDS", 0.0)
    async with webhooks("127.0.0.0/8").session() as session:
        await post(session, keeping.url)
        await trio.sleep(0.001)
        await post(session, keeping.url)
    assert keeping.connections == 2


async def test_each_connection_of_a_session_is_checked(keeping, monkeypatch):
    monkeypatch.setattr(webhook, "IDLE_SECONDS", 0.0)
    sending = webhooks("127.0.0.0/8")
    async with sending.session() as session:
        await post(session, keeping.url)
        monkeypatch.setattr(sending._http.guard, "_allow", ())
        await trio.sleep(0.001)
        with pytest.raises(DeliveryRefused):
            await post(session, keeping.url)
