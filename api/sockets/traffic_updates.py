"""Pending log entries of device traffic of one WebSocket whose administrator sent `{"logs": true}`, or
`{"logs": true, "deviceId": 5}` for one device.
"""

from collections import deque
from collections.abc import Callable

import msgspec
import trio

from motorpool.actors.messages.topics import DEVICE_TRAFFIC, DeviceTraffic
from motorpool.api.auth.caller import Caller
from motorpool.api.json import extended
from motorpool.api.server_context import ServerContext
from motorpool.runtime import Lagged, Signal

MAX_PENDING_LOGS = 100
"""Records in one message, and that wait for a slow client; the oldest are left out."""
MAX_LAG = 1_000
"""Reads of all devices that wait until those of one device are picked; of more a part is left out."""
MAX_REQUEST_CHARACTERS = 1_000
"""A longer message of a client is ignored."""


class _Request(msgspec.Struct, rename="camel"):
    logs: bool | None = None
    device_id: int = 0


class TrafficRecord(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """One read of a device's connection."""

    host: str
    """The address that the device sends from."""
    protocol: str
    unique_id: str
    """What the device calls itself; empty where it has not said so."""
    device_id: int
    """0: no such device."""
    data: str
    """As text if it is printable ASCII, else in hex; of one device always in hex. At most 2,048 bytes."""
    problem: str = ""
    """Why it was refused or dropped, or the connection ended before a login; left out if empty."""
    sent: bool = False
    """The server sent it; left out if false."""


class TrafficUpdates:
    """Records that were not sent yet, while the client wants them."""

    def __init__(self, context: ServerContext, caller: Caller, on_pending: Callable[[], None]) -> None:
        """`on_pending` is called when there is something to send."""
        self._context = context
        self.caller = caller
        self._on_pending = on_pending
        self._pending: deque[DeviceTraffic] = deque(maxlen=MAX_PENDING_LOGS)
        self._wanted = Signal()
        self._device_id = 0
        self._following = trio.CancelScope()

    def receive(self, text: str | bytes) -> None:
        """Handle a message of the client. Anything but a request is ignored: clients send `{}` as a probe."""
        if len(text) > MAX_REQUEST_CHARACTERS:
            return
        try:
            request = msgspec.json.decode(text, type=_Request)
        except msgspec.DecodeError:
            return
        wanted = request.logs
        if wanted and self.caller.administrator:
            if request.device_id != self._device_id:
                self._device_id = request.device_id
                self._following.cancel()
            self._wanted.set()
        elif wanted is False:
            self._wanted.clear()
            self._following.cancel()

    async def follow(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Take what devices send while the client wants it."""
        task_status.started()
        while True:
            await self._wanted.wait()
            with trio.CancelScope() as self._following:
                await self._take_traffic()
            self._pending.clear()

    def take(self) -> list[TrafficRecord]:
        """Return what is pending; nothing once the caller is no administrator any more."""
        taken, self._pending = self._pending, deque(maxlen=MAX_PENDING_LOGS)
        if not self.caller.administrator:
            return []
        shows_unknown = self._context.settings.http.show_unknown_devices
        as_text = not self._device_id
        return [_shown(traffic, as_text=as_text) for traffic in taken if traffic.device_id or shows_unknown]

    async def _take_traffic(self) -> None:
        topic = self._context.system.topic(DEVICE_TRAFFIC)
        device_id = self._device_id
        async with topic.subscribe(MAX_LAG if device_id else MAX_PENDING_LOGS) as subscription:
            while self.caller.administrator:
                try:
                    received = await subscription.receive_batch()
                except Lagged:
                    continue  # of a busy fleet a part is shown
                wanted = [
                    traffic
                    for traffic in received
                    if (traffic.device_id == device_id if device_id else not traffic.sent)
                ]
                if wanted:
                    self._pending.extend(wanted)
                    self._on_pending()
                await trio.lowlevel.checkpoint()
        self._wanted.clear()


def _shown(traffic: DeviceTraffic, *, as_text: bool) -> TrafficRecord:
    data = traffic.data
    is_text = as_text and all(0x20 <= byte < 0x7F or byte in b"\t\r\n" for byte in data)
    return extended(TrafficRecord, traffic, data=data.decode("ascii") if is_text else data.hex())
