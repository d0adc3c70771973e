"""Messages to a real broker, in both versions of MQTT."""

import json
import logging
from contextlib import asynccontextmanager
from functools import partial

import pytest
import trio

from motorpool.actors.forwarding.delivery_log import DeliveryLog
from motorpool.actors.forwarding.mqtt_destination import MqttDestination
from motorpool.actors.forwarding.queue import ForwardQueue
from motorpool.actors.forwarding.settings import ForwardSettings
from motorpool.actors.messages.counters import FORWARD_DROPPED


def queue_of(*messages):
    queue = ForwardQueue(parts=1, max_messages=10_000, max_bytes=1 << 24)
    for message in messages:
        queue.append(message)
    return queue


@asynccontextmanager
async def sending(queue, port, **fields):
    log = DeliveryLog("test", logging.LoggerAdapter(logging.getLogger("test")), trio.current_time)
    url = f"mqtt://127.0.0.1:{port}"
    settings = ForwardSettings(url=url, **{"client_id": "test", "seconds": 60.0, **fields})
    async with trio.open_nursery() as nursery:
        nursery.start_soon(MqttDestination(settings, queue, log, trio.current_time).run)
        yield
        nursery.cancel_scope.cancel()


async def numbers(receive, count):
    return [json.loads((await receive.receive())[1])["number"] for _ in range(count)]


@pytest.mark.parametrize("qos", [0, 1])
@pytest.mark.parametrize("version", ["5", "3.1.1"])
async def test_messages_arrive_in_order(broker, subscriber, message, version, qos, until):
    receive = await subscriber()
    queue = queue_of(*(message(number, number % 7) for number in range(350)))
    async with sending(queue, broker.ports[version], mqtt_version=version, qos=qos):
        assert await numbers(receive, 350) == list(range(350))
        await until(lambda: not len(queue))
        queue.append(message(350))
        assert await numbers(receive, 1) == [350]


async def test_the_topic_names_the_device_and_holds_nothing_else(broker, subscriber, message):
    receive = await subscriber()
    queue = queue_of(message(1, 8, kind="event", unique_id="a/b+#\n"))
    async with sending(queue, broker.ports["5"], topic="fleet/{deviceId}/{uniqueId}/{kind}"):
        topic, content = await receive.receive()
    assert topic == "fleet/8/a_b___/event"
    assert json.loads(content) == {"number": 1, "device": 8}


async def test_nothing_is_lost_when_the_broker_is_restarted(broker, subscriber, message, no_delay, until):
    receive = await subscriber()
    queue = queue_of(*(message(number) for number in range(50)))
    async with sending(queue, broker.ports["5"]):
        assert await numbers(receive, 50) == list(range(50))
        await broker.stop()
        for number in range(50, 300):
            queue.append(message(number))
        await broker.start()
        await until(lambda: not len(queue))


async def test_what_was_not_confirmed_is_sent_again(message, no_delay, until):
    """A broker that accepts, reads and leaves."""
    connack, received = b"\x20\x03\x00\x00\x00", []

    async def leave(stream):
        await stream.receive_some(65536)
        await stream.send_all(connack)
        received.append(await stream.receive_some(65536))
        if len(received) == 3:
            # PUBACK of what was sent third, with packet identifier 1.
            await stream.send_all(b"\x40\x02\x00\x01")
            await trio.sleep_forever()
        await stream.aclose()

    queue = queue_of(message(1))
    async with trio.open_nursery() as nursery:
        (listener,) = await nursery.start(partial(trio.serve_tcp, leave, 0, host="127.0.0.1"))
        port = listener.socket.getsockname()[1]
        async with sending(queue, port):
            await until(lambda: not len(queue))
        nursery.cancel_scope.cancel()
    assert len(received) == 3
    assert all(b'"number": 1' in each for each in received)


async def test_what_the_broker_closes_on_is_dropped(broker, subscriber, message, no_delay, until):
    """It closes the connection on a larger packet than it takes."""
    receive, before = await subscriber(), FORWARD_DROPPED.labels("refused")._value.get()
    large = json.dumps({"number": 1, "more": "x" * 30_000}).encode()
    queue = queue_of(message(1, content=large), message(2))
    async with sending(queue, broker.ports["3.1.1"], mqtt_version="3.1.1"):
        assert await numbers(receive, 1) == [2]
        await until(lambda: not len(queue))
    assert FORWARD_DROPPED.labels("refused")._value.get() == before + 1


async def test_a_wrong_password_is_logged_and_the_right_connects(broker, message, no_delay, caplog, until):
    queue, port = queue_of(message(1)), broker.ports["closed"]
    async with sending(queue, port, username="fleet", password="wrong"):
        await until(lambda: "fails and is repeated" in caplog.text)
    assert "wrong" not in caplog.text
    assert len(queue) == 1
    queue = queue_of(message(1))
    async with sending(queue, port, username="fleet", password="secret"):
        await until(lambda: not len(queue))


async def test_a_server_that_says_nothing_is_given_up(hanging_port, message, no_delay, caplog, until):
    async with sending(queue_of(message(1)), hanging_port, seconds=0.5):
        await until(lambda: "fails and is repeated" in caplog.text)
    assert "did not answer within 0.5 s" in caplog.text


def test_servers_of_a_cluster_are_clients_of_their_own():
    # A broker ends the connection of a client when another of its identifier connects.
    shared = ForwardSettings(client_id="fleet")
    assert {shared.of_server(node).client_id for node in (7, 8)} == {"fleet-7", "fleet-8"}
    assert ForwardSettings().of_server(7).client_id is None
