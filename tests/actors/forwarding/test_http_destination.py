"""Messages to a real HTTP server: their order, what is repeated, and what is given up."""

import logging
from contextlib import asynccontextmanager

import pytest
import trio

from motorpool.actors.forwarding.delivery_log import DeliveryLog
from motorpool.actors.forwarding.http_destination import REFUSED_ATTEMPTS, HttpDestination
from motorpool.actors.forwarding.queue import ForwardQueue
from motorpool.actors.http.http import OutgoingHttp
from motorpool.actors.messages.counters import FORWARD_DROPPED, FORWARDED


def dropped(reason):
    return FORWARD_DROPPED.labels(reason)._value.get()


@asynccontextmanager
async def sending(url, queue, *, trusted=True, headers=None):
    log = DeliveryLog("test", logging.LoggerAdapter(logging.getLogger("test")), trio.current_time)
    session = OutgoingHttp().session(trusted=trusted)
    async with trio.open_nursery() as nursery:
        destination = HttpDestination(session, url, headers or {}, queue, log, trio.current_time, seconds=60)
        nursery.start_soon(destination.run)
        yield
        nursery.cancel_scope.cancel()


def queue_of(*messages, parts=1):
    queue = ForwardQueue(parts=parts, max_messages=1000, max_bytes=1 << 20)
    for message in messages:
        queue.append(message)
    return queue


async def test_each_message_is_a_post_with_the_operators_headers(endpoint, message, until):
    before = FORWARDED.value
    async with sending(endpoint.url + "/in?key=1", queue_of(message(1)), headers={"X-Key": "k"}):
        assert await endpoint.received(1) == [{"number": 1, "device": 1}]
        (asked,) = endpoint.web.asked
        assert (asked.method, asked.path, asked.headers["X-Key"]) == ("POST", "/in?key=1", "k")
        await until(lambda: FORWARDED.value > before)


async def test_a_device_keeps_its_order_whatever_fails(endpoint, message, no_delay):
    endpoint.statuses.extend([503, 200, 429, 500, 200, 502] * 5)
    messages = [message(number, number % 3) for number in range(60)]
    queue = queue_of(*messages, parts=4)
    first_seen = {}
    async with sending(endpoint.url, queue):
        while len(first_seen) < 60:
            received = await endpoint.receive.receive()
            first_seen.setdefault(received["number"], received["device"])
    for device in range(3):
        seen = [number for number, each in first_seen.items() if each == device]
        assert seen == sorted(seen)


async def test_what_is_refused_is_tried_a_few_times_and_dropped(endpoint, message, no_delay, caplog):
    endpoint.statuses.extend([400] * REFUSED_ATTEMPTS)
    before = dropped("refused")
    async with sending(endpoint.url, queue_of(message(1), message(2))):
        received = [each["number"] for each in await endpoint.received(REFUSED_ATTEMPTS + 1)]
    assert received == [1] * REFUSED_ATTEMPTS + [2]
    assert dropped("refused") == before + 1
    assert "1 messages dropped, because they were refused: it answers 400" in caplog.text


async def test_what_expires_while_the_server_is_away_is_dropped(endpoint, message, no_delay):
    endpoint.statuses.append(503)
    before = dropped("expired")
    late, fresh = message(1, expires=trio.current_time()), message(2)
    async with sending(endpoint.url, queue_of(late, fresh)):
        assert [each["number"] for each in await endpoint.received(2)] == [1, 2]
    assert dropped("expired") == before + 1


async def test_a_url_of_a_user_does_not_lead_into_the_private_network(endpoint, message, caplog, until):
    queue = queue_of(message(1))
    async with sending(endpoint.url, queue, trusted=False):
        await until(lambda: not len(queue))
    assert endpoint.web.asked == []
    assert "private network" in caplog.text


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/?key=secret"])
async def test_the_log_names_no_secret(url, message, no_delay, caplog, until):
    caplog.set_level(logging.INFO)
    async with sending(url, queue_of(message(1))):
        await until(lambda: "fails and is repeated" in caplog.text)
    assert "secret" not in caplog.text
