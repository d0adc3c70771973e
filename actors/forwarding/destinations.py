"""The server that the settings name, and the URLs that devices name where that is allowed."""

import logging
from collections.abc import Callable, Mapping
from typing import Protocol
from urllib.parse import urlsplit

import trio

from motorpool.actors.forwarding.delivery_log import DeliveryLog
from motorpool.actors.forwarding.http_destination import HttpDestination
from motorpool.actors.forwarding.queue import ForwardMessage, ForwardQueue
from motorpool.actors.forwarding.settings import MQTT_PORTS, ForwardSettings
from motorpool.actors.http.errors import one_line
from motorpool.actors.http.http import OutgoingHttp
from motorpool.storage.records import Device

DEVICE_URL = "forward.url"
"""Attribute of a device: a further URL for its messages."""
MAX_DEVICE_URLS = 100
"""URLs of devices that messages are sent to at the same time."""
DEVICE_QUEUE = 1_000
"""Messages that wait for one of these URLs."""
DEVICE_QUEUE_BYTES = 4 << 20
IDLE_SECONDS = 600.0
"""A URL of a device that had no message for this long gives up its slot and its connection."""


class Destination(Protocol):
    """What sends the messages of a queue."""

    async def run(self) -> None:
        """Send until cancelled."""


class _Target:
    """A destination with its queue."""

    def __init__(self, queue: ForwardQueue, log: DeliveryLog, destination: Destination) -> None:
        self.queue = queue
        self._log = log
        self._destination = destination
        self.used = 0.0
        """Monotonic time of the last message."""
        self.scope = trio.CancelScope()

    def append(self, message: ForwardMessage, now: float) -> None:
        """Queue a message."""
        self.used = now
        if dropped := self.queue.append(message):
            self._log.dropped("full", dropped)

    async def run(self) -> None:
        """Send until `scope` is cancelled."""
        with self.scope:
            await self._destination.run()


class Destinations:
    """Queues each message for its destinations, and runs the tasks that send them."""

    def __init__(
        self,
        http: OutgoingHttp,
        settings: ForwardSettings,
        log: logging.LoggerAdapter[logging.Logger],
        monotonic: Callable[[], float],
    ) -> None:
        self._http = http
        self._settings = settings
        self._log = log
        self._monotonic = monotonic
        self._device_urls: dict[str, _Target] = {}
        self._nursery: trio.Nursery | None = None
        self._main = None if settings.url is None else self._main_target(settings.url)
        self._refusals = DeliveryLog("URLs of devices", log, monotonic)

    @property
    def waiting(self) -> int:
        """Messages that are not delivered yet."""
        waiting = sum(len(each.queue) for each in self._device_urls.values())
        return waiting + (len(self._main.queue) if self._main is not None else 0)

    def append(self, message: ForwardMessage, device: Device) -> None:
        """Queue a message of a device; never waits."""
        if self._main is not None:
            self._main.append(message, self._monotonic())
        if self._settings.device_urls:
            url = device.attributes.get(DEVICE_URL)
            if isinstance(url, str) and (target := self._target_of(url.strip())) is not None:
                target.append(message, self._monotonic())

    async def run(self) -> None:
        """Send until cancelled."""
        async with trio.open_nursery() as self._nursery:
            if self._main is not None:
                self._nursery.start_soon(self._main.run)
            while True:
                await trio.sleep(IDLE_SECONDS / 4)
                self._end_idle()

    def _main_target(self, url: str) -> _Target:
        settings = self._settings
        parts = urlsplit(url)
        is_mqtt = parts.scheme in MQTT_PORTS
        log = DeliveryLog(parts.hostname or "", self._log, self._monotonic)
        queue = ForwardQueue(
            parts=1 if is_mqtt else settings.connections,
            max_messages=settings.queue,
            max_bytes=settings.queue_bytes,
        )
        if not is_mqtt:
            return self._http_target(url, _headers(settings), queue, log, trusted=True)
        # paho is imported where it is needed: most servers forward nothing.
        from motorpool.actors.forwarding.mqtt_destination import MqttDestination  # noqa: PLC0415 - see above

        tls = self._http.tls if parts.scheme == "mqtts" else None
        return _Target(queue, log, MqttDestination(settings, queue, log, self._monotonic, tls))

    def _http_target(
        self, url: str, headers: Mapping[str, str], queue: ForwardQueue, log: DeliveryLog, *, trusted: bool
    ) -> _Target:
        session, seconds = self._http.session(trusted=trusted), self._settings.seconds
        destination = HttpDestination(session, url, headers, queue, log, self._monotonic, seconds=seconds)
        return _Target(queue, log, destination)

    def _target_of(self, url: str) -> _Target | None:
        """Return the destination of a URL that a device names; None if it is empty or too many are in use."""
        found = self._device_urls.get(url)
        if found is not None or not url:
            return found
        if len(self._device_urls) >= MAX_DEVICE_URLS or self._nursery is None:
            self._refusals.dropped("full", error=f"more than {MAX_DEVICE_URLS} URLs are in use")
            return None
        queue = ForwardQueue(parts=1, max_messages=DEVICE_QUEUE, max_bytes=DEVICE_QUEUE_BYTES)
        log = DeliveryLog(one_line(_host(url)), self._log, self._monotonic)
        headers = {"Content-Type": "application/json"}
        made = self._device_urls[url] = self._http_target(url, headers, queue, log, trusted=False)
        self._nursery.start_soon(made.run)
        return made

    def _end_idle(self) -> None:
        for url, each in list(self._device_urls.items()):
            if not len(each.queue) and self._monotonic() - each.used >= IDLE_SECONDS:
                del self._device_urls[url]
                each.scope.cancel()


def _headers(settings: ForwardSettings) -> dict[str, str]:
    headers = {"Content-Type": "application/json"}
    for line in settings.headers:
        name, _, value = line.partition(":")
        headers[name.strip()] = value.strip()
    if settings.authorization is not None:
        headers["Authorization"] = settings.authorization
    return headers


def _host(url: str) -> str:
    """Return the host of a URL that a user wrote, for the log; the rest may hold a key."""
    try:
        return urlsplit(url).hostname or "a device's URL"
    except ValueError:
        return "a device's URL"
