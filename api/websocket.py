"""`/api/socket`: devices, positions and events as they come, to those who may see them
(docs/http-api.md#websocket).

A socket holds the newest state of each device that it has not sent yet, and a bounded number of events: a
slow client gets fewer and newer messages, and its memory here is bounded by its devices. One that falls so
far behind that events would be lost is told to come again, and one that takes nothing at all is dropped by
listening.py.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

import msgspec
import trio
from quart import websocket
from quart.globals import websocket_ctx
from quart_trio import QuartTrio

from motorpool.actors.devices.directory import DIRECTORY, GetDeviceStatuses, GetLatestPositions
from motorpool.actors.messages.topics import (
    ACCESS_CHANGES,
    DEVICES,
    LATEST_POSITIONS,
    POSITIONS,
    WEB_EVENTS,
    DeviceStatus,
)
from motorpool.api.access import visible_device_ids
from motorpool.api.auth.authentication import authenticate, authenticate_token
from motorpool.api.auth.caller import Caller
from motorpool.api.http.errors import Unauthorized
from motorpool.api.json import encode
from motorpool.api.server_context import ServerContext
from motorpool.runtime import Lagged, TopicName
from motorpool.storage.errors import StorageError
from motorpool.storage.records import Event, Position

__all__ = ["install"]

T = TypeVar("T")

GOING_AWAY = 1001
POLICY = 1008
TRY_AGAIN = 1013

EVENTS_KEPT = 1000
"""Events that wait for a slow client."""

ACCESS_QUEUE = 100

PAUSE_SECONDS = 0.1
"""Between two messages to one socket: what changes meanwhile goes out together."""


def install(app: QuartTrio, context: ServerContext) -> None:
    """Serve the socket."""

    @app.websocket("/api/socket")
    async def live() -> None:
        token = websocket.args.get("token")
        caller = await who(context, token)
        if caller is None:
            raise Unauthorized("log in first")
        feed = Feed(context, caller, token)
        async with trio.open_nursery() as nursery:
            for follow in (
                feed.follow_positions,
                feed.follow_latest,
                feed.follow_devices,
                feed.follow_events,
                feed.follow_access,
                feed.end_at_closing,
            ):
                await nursery.start(follow)
            # From here on nothing is missed.
            await websocket.accept()
            nursery.start_soon(_read_all)
            await feed.load()
            code = await feed.send_all()
            nursery.cancel_scope.cancel()
        await websocket.close(code)


async def who(context: ServerContext, token: str | None) -> Caller | None:
    """The user of `?token=`, else of the request's own credential."""
    if token:
        return await authenticate_token(context, token)
    return await authenticate(context, websocket_ctx.websocket)


async def _read_all() -> None:
    """Take what clients send to test the line."""
    while True:
        await websocket.receive()


class Feed:
    """What one socket has yet to send."""

    def __init__(self, context: ServerContext, caller: Caller, token: str | None) -> None:
        self._context = context
        self._caller = caller
        self._token = token
        self._ids: frozenset[int] = frozenset()
        self._positions: dict[int, Position] = {}
        self._devices: dict[int, DeviceStatus] = {}
        self._events: list[Event] = []
        self._behind = False
        self._wake = trio.Event()
        self._valid = True
        self._greeted = False

    async def load(self) -> None:
        """Find the devices to be seen, and where each was last."""
        self._ids = await visible_device_ids(self._context, self._caller)
        await self._resync(devices_too=False)

    async def follow_positions(
        self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
    ) -> None:
        """Note each new position of a visible device."""
        await self._follow(POSITIONS, self._keep_positions, task_status)

    async def follow_latest(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Note each position that is a device's latest again."""
        await self._follow(LATEST_POSITIONS, self._keep_positions, task_status)

    def _keep_positions(self, positions: tuple[Position, ...]) -> None:
        for position in positions:
            if position.device_id in self._ids:
                self._positions[position.device_id] = position

    async def follow_devices(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Note each change of a visible device."""

        def keep(changed: tuple[DeviceStatus, ...]) -> None:
            for live in changed:
                if live.device_id in self._ids:
                    self._devices[live.device_id] = live

        await self._follow(DEVICES, keep, task_status)

    async def follow_events(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Note what this user is told, in the order it comes."""
        async with self._context.system.topic(WEB_EVENTS).subscribe(EVENTS_KEPT) as subscription:
            task_status.started()
            while not self._behind:
                try:
                    told = await subscription.receive_batch()
                except Lagged:
                    self._behind = True
                else:
                    self._events += [each.event for each in told if self._caller.id in each.user_ids]
                    self._behind = len(self._events) > EVENTS_KEPT
                if self._behind or self._events:
                    self._wake.set()

    async def follow_access(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Look again at what may be seen whenever that may have changed."""
        async with self._context.system.topic(ACCESS_CHANGES).subscribe(ACCESS_QUEUE) as subscription:
            task_status.started()
            while True:
                with suppress(Lagged):
                    await subscription.receive_batch()
                await self._look_again()

    async def send_all(self) -> int:
        """Send what there is, and an empty object now and then; the code to close with."""
        every = self._context.settings.http.socket_keepalive_seconds
        while self._valid:
            with trio.move_on_after(every) as quiet:
                await self._wake.wait()
            if self._context.closing.is_set():
                return GOING_AWAY
            if self._behind:
                return TRY_AGAIN
            self._wake = trio.Event()
            if quiet.cancelled_caught:
                # The line is kept alive, and a session that has ended meanwhile ends its socket.
                await websocket.send("{}")
                await self._look_again()
                continue
            positions, self._positions = self._positions, {}
            devices_changed, self._devices = self._devices, {}
            events, self._events = self._events, []
            message = await self._message(positions, devices_changed, events)
            if message:
                await websocket.send(encode(message).decode())
            await trio.sleep(PAUSE_SECONDS)
        return POLICY

    async def end_at_closing(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Wake the sender when the server stops."""
        task_status.started()
        await self._context.closing.wait()
        self._wake.set()

    async def _message(
        self, positions: dict[int, Position], changed: dict[int, DeviceStatus], events: list[Event]
    ) -> dict[str, object]:
        message: dict[str, object] = {}
        rows = await self._context.devices.get_many(changed)
        shown = [
            msgspec.structs.replace(
                rows[live.device_id],
                status=live.status,
                last_update=live.last_update,
                position_id=live.position_id,
            )
            for live in changed.values()
            # Looked at again: the right to see it may have gone while the message was made.
            if live.device_id in rows and live.device_id in self._ids
        ]
        if shown:
            message["devices"] = shown
        visible = [position for position in positions.values() if position.device_id in self._ids]
        if visible or not self._greeted:
            self._greeted = True
            message["positions"] = self._context.texts.of(visible)
        told = [event for event in events if not event.device_id or event.device_id in self._ids]
        if told:
            message["events"] = told
        return message

    async def _follow(
        self, topic: TopicName[T], keep: Callable[[T], None], task_status: trio.TaskStatus[None]
    ) -> None:
        size = self._context.settings.http.socket_queue
        async with self._context.system.topic(topic).subscribe(size) as subscription:
            task_status.started()
            while True:
                try:
                    for value in await subscription.receive_batch():
                        keep(value)
                except Lagged:
                    await self._resync(devices_too=True)
                self._wake.set()
                # A busy topic must not keep the loop from its other work.
                await trio.lowlevel.checkpoint()

    async def _look_again(self) -> None:
        """Reload who this is and what he may see; a credential that is no longer good ends the socket."""
        try:
            caller = await who(self._context, self._token)
            if caller is None or caller.id != self._caller.id:
                self._valid = False
                self._wake.set()
                return
            self._caller = caller
            ids = await visible_device_ids(self._context, caller)
        except StorageError:
            # Asked again at the next keep-alive; what was allowed stays so meanwhile.
            return
        gained = ids - self._ids
        self._ids = ids
        if gained:
            await self._resync(devices_too=True, device_ids=gained)

    async def _resync(self, *, devices_too: bool, device_ids: frozenset[int] | None = None) -> None:
        """Take the present state of devices in place of what was missed."""
        ids = tuple(sorted(self._ids if device_ids is None else device_ids))
        directory = self._context.system.ref(DIRECTORY)
        for position in await directory.ask(GetLatestPositions(ids)):
            self._positions[position.device_id] = position
        if devices_too:
            live = await directory.ask(GetDeviceStatuses(ids))
            self._devices.update(live)
        self._wake.set()
