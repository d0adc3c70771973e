"""A broker, a subscriber and an HTTP server, all real, whose messages come out of channels."""

import json
import math
import threading
from collections import deque

import paho.mqtt.client as paho
import pytest
import trio
from iotcore import Broker
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion

from motorpool.actors.forwarding import http_destination, mqtt_destination
from motorpool.actors.forwarding.queue import ForwardMessage
from motorpool.runtime import BackOff

LISTENER = """
[{version}.{number}]
name = "{version}-{number}"
listen = "127.0.0.1:{port}"
next_connection_delay_ms = 1
[{version}.{number}.connections]
connection_timeout_ms = 60000
max_payload_size = {max_payload}
max_inflight_count = 100
dynamic_filters = true
"""
ROUTER = """
id = 0
[router]
id = 0
max_connections = 100
max_outgoing_packet_count = 200
max_segment_size = 1048576
max_segment_count = 10
"""
AUTH = """
[v5.2.connections.auth]
fleet = "secret"
"""


class MqttBroker:
    """A broker with a port for each version of MQTT, and one that asks for a password."""

    def __init__(self, folder, ports):
        self.ports = dict(zip(("3.1.1", "5", "closed"), ports, strict=True))
        file = folder / "broker.toml"
        file.write_text(
            ROUTER
            + LISTENER.format(version="v4", number=1, port=ports[0], max_payload=20_000)
            + LISTENER.format(version="v5", number=1, port=ports[1], max_payload=20_000)
            + LISTENER.format(version="v5", number=2, port=ports[2], max_payload=20_000)
            + AUTH
        )
        self.broker = Broker(config_path=str(file))

    async def start(self):
        await trio.to_thread.run_sync(self.broker.start)

    async def stop(self):
        await trio.to_thread.run_sync(self.broker.stop)


class Subscriber:
    """Receives the messages of all topics, in order."""

    def __init__(self):
        self.send, self.receive = trio.open_memory_channel(math.inf)
        self.token = trio.lowlevel.current_trio_token()
        self.subscribed = threading.Event()
        self.client = paho.Client(CallbackAPIVersion.VERSION2, protocol=MQTTProtocolVersion.MQTTv5)
        self.client.on_connect = lambda client, *_: client.subscribe("#", 1)
        self.client.on_subscribe = lambda *_: self.subscribed.set()
        self.client.on_message = self.on_message

    def on_message(self, client, data, message):
        self.token.run_sync_soon(self.send.send_nowait, (message.topic, message.payload))

    def connect(self, port):
        self.client.connect("127.0.0.1", port)
        self.client.loop_start()
        assert self.subscribed.wait(60)

    def close(self):
        self.client.disconnect()
        self.client.loop_stop()


@pytest.fixture
async def broker(tmp_path, free_port):
    """A broker that runs."""
    first = free_port(1, 2)
    made = MqttBroker(tmp_path, (first, first + 1, first + 2))
    await made.start()
    yield made
    await made.stop()


@pytest.fixture
async def subscriber(broker):
    """`await subscriber()`: a channel of (topic, content) of all messages from now on."""
    made = []

    async def subscribe():
        made.append(Subscriber())
        await trio.to_thread.run_sync(made[-1].connect, broker.ports["5"])
        return made[-1].receive

    yield subscribe
    for each in made:
        await trio.to_thread.run_sync(each.close)


class Endpoint:
    """An HTTP server: what it was sent, and what it is to answer instead of 200."""

    def __init__(self, web_server):
        send, self.receive = trio.open_memory_channel(math.inf)
        token = trio.lowlevel.current_trio_token()
        self.statuses = deque()

        def answer(asked):
            status = self.statuses.popleft() if self.statuses else 200
            token.run_sync_soon(send.send_nowait, json.loads(asked.body))
            return status, b""

        self.web = web_server(answer)
        self.url = self.web.url

    async def received(self, count):
        return [await self.receive.receive() for _ in range(count)]


@pytest.fixture
async def endpoint(web_server):
    return Endpoint(web_server)


@pytest.fixture(scope="session")
def until():
    """`await until(condition)`: look again and again, for as long as the test may take.

    In real time, and without waiting for quiet: what is repeated at once leaves none.
    """

    async def wait(condition):
        while not condition():  # noqa: ASYNC110 - what is waited for sets no event
            await trio.sleep(0.002)

    return wait


@pytest.fixture
def no_delay(monkeypatch):
    """Repeat at once."""
    for module in (http_destination, mqtt_destination):
        monkeypatch.setattr(module, "BACK_OFF", BackOff(first_seconds=0.001, factor=1.0))


@pytest.fixture
def message():
    """`message(number, device_id)`."""

    def make(number, device_id=1, **fields):
        content = json.dumps({"number": number, "device": device_id}).encode()
        return ForwardMessage(
            **{
                "number": number,
                "kind": "position",
                "device_id": device_id,
                "unique_id": f"device {device_id}",
                "content": content,
                "expires": math.inf,
                **fields,
            }
        )

    return make
