"""Publishes messages at an MQTT broker, in one order, at least once with quality of service 1."""

import re
import secrets
import ssl
from collections.abc import Callable
from functools import partial

import trio

from motorpool.actors.forwarding.delivery_log import DeliveryLog, DropReason
from motorpool.actors.forwarding.mqtt_connection import MqttConnection
from motorpool.actors.forwarding.queue import ForwardMessage, ForwardQueue
from motorpool.actors.forwarding.settings import ForwardSettings
from motorpool.actors.http.errors import Unreachable
from motorpool.runtime import BackOff

BACK_OFF = BackOff(first_seconds=0.5, max_seconds=60.0)
"""Delay before the next connection."""
FRUITLESS_CONNECTIONS = 5
"""After this many connections in a row that ended without any confirmation, the first unconfirmed message is
dropped: the broker closes the connection because of it."""
PACKET_OVERHEAD = 64
"""At least the bytes that a packet has beside its topic and content."""
UNSAFE = re.compile(r"[/+#\x00-\x1f\x7f-\x9f\ud800-\udfff]")
"""What may not stand in one level of a topic (MQTT 5, section 4.7)."""


class MqttDestination:
    """Keeps a connection to the broker, and repeats unconfirmed messages on the next one."""

    def __init__(
        self,
        settings: ForwardSettings,
        queue: ForwardQueue,
        log: DeliveryLog,
        monotonic: Callable[[], float],
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """`queue` has one part. With `tls` the connection is encrypted."""
        self._settings = settings
        self._client_id = settings.client_id or f"motorpool-{secrets.token_hex(6)}"
        self._queue = queue
        self._log = log
        self._monotonic = monotonic
        self._tls = tls
        self._unconfirmed: dict[int, ForwardMessage] = {}
        """Number at the present connection -> message, oldest first."""
        self._repeated: list[ForwardMessage] = []
        """What an earlier connection has left, oldest first."""
        self._confirmed = False
        """Whether the present connection has confirmed anything."""
        self._fruitless = 0

    async def run(self) -> None:
        """Connect and publish until cancelled."""
        failures = 0
        while True:
            # A broker is connected to only when there is something for it.
            if not self._repeated:
                await self._queue.wait()
            error = await self._run_connection()
            failures = 1 if self._confirmed else failures + 1
            self._log.failed(error)
            await trio.sleep(BACK_OFF.delay(failures))

    async def _run_connection(self) -> str:
        self._confirmed = False
        connection = MqttConnection(self._settings, self._client_id, self._tls, self._settle)
        try:
            await connection.run(partial(self._publish, connection))
        except Unreachable as unreachable:
            return str(unreachable)
        finally:
            self._keep_unconfirmed()
        return connection.end

    async def _publish(self, connection: MqttConnection) -> None:
        while True:
            if not self._repeated:
                await self._queue.wait()
            while connection.room > 0 and (message := self._next()) is not None:
                topic = self._topic_of(message)
                size = len(message.content) + len(topic.encode()) + PACKET_OVERHEAD
                if connection.max_bytes and size > connection.max_bytes:
                    self._give_up("refused", f"the broker takes at most {connection.max_bytes} bytes")
                    continue
                self._unconfirmed[connection.publish(topic, message.content)] = message
            await connection.wait_for_room()
            await trio.lowlevel.checkpoint()

    def _topic_of(self, message: ForwardMessage) -> str:
        """Return the topic of a message; characters that a topic level cannot hold become `_`."""
        return (
            self._settings.topic.replace("{uniqueId}", UNSAFE.sub("_", message.unique_id))
            .replace("{deviceId}", str(message.device_id))
            .replace("{kind}", message.kind)
        )

    def _next(self) -> ForwardMessage | None:
        while True:
            message = self._repeated.pop(0) if self._repeated else self._queue.take()
            if message is None or message.expires > self._monotonic():
                return message
            self._give_up("expired", None)

    def _settle(self, number: int, refusal: str) -> None:
        message = self._unconfirmed.pop(number, None)
        if message is None:
            return
        self._confirmed = True
        if refusal:
            self._give_up("refused", refusal)
        else:
            self._queue.settled()
            self._log.delivered()

    def _keep_unconfirmed(self) -> None:
        """After a connection: queue unconfirmed messages again, before all others."""
        self._fruitless = 0 if self._confirmed or not self._unconfirmed else self._fruitless + 1
        self._repeated[:0] = self._unconfirmed.values()
        self._unconfirmed.clear()
        if self._fruitless >= FRUITLESS_CONNECTIONS:
            self._fruitless = 0
            del self._repeated[0]
            self._give_up("refused", "the broker closes the connection each time")

    def _give_up(self, reason: DropReason, error: str | None) -> None:
        self._queue.settled()
        self._log.dropped(reason, error=error)
