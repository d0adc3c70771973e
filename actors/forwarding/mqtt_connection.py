"""One connection to an MQTT broker: paho's client, with its reads and writes driven by Trio."""

import ssl
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import paho.mqtt.client as paho
import trio
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from motorpool.actors.forwarding.settings import MQTT_PORTS, ForwardSettings
from motorpool.actors.http.errors import Unreachable, root_cause
from motorpool.runtime import Signal

KEEP_ALIVE_SECONDS = 30
"""The connection is lost when the broker answers nothing for this long."""
MISC_SECONDS = 5.0
"""Interval of checks of the keep-alive."""
WINDOW = 100
"""Most messages that the broker has not confirmed; less if it asks for less."""
VERSIONS = {"5": MQTTProtocolVersion.MQTTv5, "3.1.1": MQTTProtocolVersion.MQTTv311}


class MqttConnection:
    """Connects once and publishes until the connection ends; another attempt needs another object."""

    def __init__(
        self,
        settings: ForwardSettings,
        client_id: str,
        tls: ssl.SSLContext | None,
        on_settled: Callable[[int, str], object],
    ) -> None:
        """The URL of the settings names the broker. `on_settled` is called with the number of each message
        that the broker has confirmed, and "" or why it refused it.
        """
        self._settings = settings
        self._on_settled = on_settled
        self._client = paho.Client(
            CallbackAPIVersion.VERSION2,
            client_id=client_id,
            protocol=VERSIONS[settings.mqtt_version],
            reconnect_on_failure=False,
        )
        # Messages are counted here, by `room`.
        self._client.max_inflight_messages = 0
        if settings.username is not None:
            self._client.username_pw_set(settings.username, settings.password)
        if tls is not None:
            self._client.tls_set_context(tls)
        self._properties: Properties | None = None
        if settings.mqtt_version == "5":
            # paho has no types for it.
            self._properties = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]
            self._properties.ContentType = "application/json"
            self._properties.PayloadFormatIndicator = 1
        self._accepted = trio.Event()
        self._writable = Signal()
        self._changed = Signal()
        self._scope = trio.CancelScope()
        self._closed = False
        self._unconfirmed = 0
        self._window = WINDOW
        self._max_qos = 1
        self.max_bytes = 0
        """Largest packet that the broker takes; 0: it has named no limit."""
        self.end = ""
        """Why the connection has ended."""

    async def run(self, publish: Callable[[], Awaitable[None]]) -> None:
        """Connect, then run the async function `publish` until the connection ends or `publish` returns.

        Returns in both cases. Raises Unreachable if there is no accepted connection in time.
        """
        seconds = self._settings.seconds
        try:
            try:
                with trio.fail_after(seconds):
                    await self._connect()
            except trio.TooSlowError:
                raise Unreachable(f"no connection within {seconds:g} s") from None
            with self._scope:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(_until_closed, self._read)
                    nursery.start_soon(_until_closed, self._write)
                    nursery.start_soon(self._keep_alive)
                    with trio.move_on_after(seconds):
                        await self._accepted.wait()
                    if self._accepted.is_set():
                        await publish()
                    else:
                        self._lost(f"the broker did not answer within {seconds:g} s")
                    nursery.cancel_scope.cancel()
        finally:
            self._close()
        if not self._accepted.is_set():
            raise Unreachable(self.end)

    def publish(self, topic: str, content: bytes) -> int:
        """Begin to send a message; return the number that `on_settled` is called with.

        Only while there is `room`.
        """
        self._unconfirmed += 1
        qos = min(self._settings.qos, self._max_qos)
        return self._client.publish(topic, content, qos, properties=self._properties).mid

    @property
    def room(self) -> int:
        """How many messages may be sent now."""
        return self._window - self._unconfirmed

    async def wait_for_room(self) -> None:
        """Wait until a message may be sent."""
        while self.room <= 0:
            await self._changed.wait()

    async def _connect(self) -> None:
        client = self._client
        client.connect_timeout = self._settings.seconds
        try:
            # Resolving the name, connecting and the TLS handshake block in paho.
            await trio.to_thread.run_sync(self._open, abandon_on_cancel=True)
        except (OSError, ValueError) as error:
            raise Unreachable(f"cannot be connected to: {root_cause(error)}") from None
        # Not before: these are called in the thread that connects.
        client.on_connect = self._on_connect
        client.on_publish = self._on_publish
        client.on_disconnect = self._on_disconnect
        client.on_socket_register_write = self._on_register_write
        client.on_socket_close = self._on_socket_close
        if client.want_write():
            self._writable.set()

    def _open(self) -> None:
        """Connect, in a thread; close a connection that is made after this object was given up."""
        url = urlsplit(self._settings.url or "")
        self._client.connect(url.hostname or "", url.port or MQTT_PORTS[url.scheme], KEEP_ALIVE_SECONDS)
        if self._closed:
            self._client.disconnect()

    async def _read(self) -> None:
        while (sock := self._client.socket()) is not None:
            pending = sock.pending() if isinstance(sock, ssl.SSLSocket) else 0
            if not pending:
                await trio.lowlevel.wait_readable(sock)
            self._check(self._client.loop_read())
            await trio.lowlevel.checkpoint()

    async def _write(self) -> None:
        while True:
            await self._writable.wait()
            while self._client.want_write() and (sock := self._client.socket()) is not None:
                await trio.lowlevel.wait_writable(sock)
                self._check(self._client.loop_write())

    async def _keep_alive(self) -> None:
        while True:
            await trio.sleep(MISC_SECONDS)
            self._check(self._client.loop_misc())

    def _check(self, result: MQTTErrorCode) -> None:
        if result != MQTTErrorCode.MQTT_ERR_SUCCESS:
            self._lost(paho.error_string(result))

    def _lost(self, reason: str) -> None:
        self.end = self.end or reason
        self._scope.cancel()

    def _close(self) -> None:
        """Say goodbye if that is possible at once, and close the socket."""
        client = self._client
        self._closed = True
        client.on_socket_register_write = None
        client.on_disconnect = None
        sock = client.socket()
        client.disconnect()
        if client.socket() is not None and sock is not None:
            client.on_socket_close = None
            sock.close()

    def _on_connect(
        self, _client: object, _data: object, _flags: object, code: ReasonCode, properties: Properties | None
    ) -> None:
        if code.is_failure:
            self._lost(f"the broker refuses the connection: {code}")
            return
        self._window = min(WINDOW, getattr(properties, "ReceiveMaximum", WINDOW))
        self._max_qos = min(1, getattr(properties, "MaximumQoS", 1))
        self.max_bytes = getattr(properties, "MaximumPacketSize", 0)
        self._accepted.set()

    def _on_publish(
        self, _client: object, _data: object, number: int, code: ReasonCode, _properties: object
    ) -> None:
        self._unconfirmed -= 1
        self._changed.set()
        self._on_settled(number, str(code) if code.is_failure else "")

    def _on_disconnect(
        self, _client: object, _data: object, _flags: object, code: ReasonCode, _properties: object
    ) -> None:
        self._lost(f"the connection ended: {code}")

    def _on_register_write(self, _client: object, _data: object, _sock: object) -> None:
        self._writable.set()

    def _on_socket_close(self, _client: object, _data: object, sock: Any) -> None:  # noqa: ANN401 - paho's type
        trio.lowlevel.notify_closing(sock)


async def _until_closed(work: Callable[[], Awaitable[None]]) -> None:
    with suppress(trio.ClosedResourceError):
        await work()
