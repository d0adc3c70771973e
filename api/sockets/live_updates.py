"""Pending updates of one WebSocket, by the topics that it follows and the rights of its user.

It keeps only the newest state of each device that was not sent yet, and a bounded number of events: a slow
client gets fewer and newer messages, and uses memory only in proportion to its devices. A client that falls
so far behind that events would be lost is asked to connect again.
"""

from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from functools import partial

import msgspec
import trio
from quart import websocket

from motorpool.actors.messages.changes import (
    CHANGES,
    Change,
    DeviceChanged,
    EverythingChanged,
    GroupChanged,
    LinkChanged,
    SessionEnded,
    TokenRevoked,
    UserChanged,
)
from motorpool.actors.messages.directory import DIRECTORY, GetDeviceStatuses, GetLatestPositions
from motorpool.actors.messages.topics import (
    DEVICES,
    LATEST_POSITIONS,
    POSITIONS,
    WEB_EVENTS,
    DeviceStatus,
    WebEvent,
    WebEventsLost,
)
from motorpool.actors.words.record_json import encode
from motorpool.api.access import visible_device_ids
from motorpool.api.auth.caller import Caller
from motorpool.api.logins.authentication import identify_socket_caller
from motorpool.api.server_context import ServerContext
from motorpool.api.sockets.record_updates import CommandUpdates, ReviewUpdates
from motorpool.api.sockets.ticket_updates import TicketUpdates
from motorpool.api.sockets.traffic_updates import TrafficUpdates
from motorpool.runtime import Lagged, Signal
from motorpool.storage.errors import StorageError
from motorpool.storage.records import Event, Position

GOING_AWAY = 1001
POLICY_VIOLATION = 1008
TRY_AGAIN_LATER = 1013
"""Close codes (RFC 6455, section 7.4.1, and IANA's registry)."""
MAX_PENDING_EVENTS = 1000
"""Events that wait for a slow client."""
CHANGES_QUEUE = 100
"""Commits that wait until a socket has followed the one before; beyond them it follows all at once."""
MAX_SLEEP_SECONDS = 60.0
"""Between two looks at the wall clock, which may be set, while credentials are valid."""
PAUSE_SECONDS = 0.1
"""Between two messages to one socket: what changes meanwhile goes out together."""
READ_SECONDS = 3.0
"""The longest that a message waits for the rows of devices."""
EVENT_PAUSE_SECONDS = 0.02
"""The same for events, which do not wait for the end of that pause."""


class LiveUpdates:
    """What one socket has yet to send."""

    def __init__(self, context: ServerContext, caller: Caller, token: str | None) -> None:
        """`token` is the query parameter, None without one."""
        self._context = context
        self._caller = caller
        self._token = token
        self._visible_ids: frozenset[int] = frozenset()
        self._positions: dict[int, Position] = {}
        """Device id -> newest position not sent yet."""
        self._devices: dict[int, DeviceStatus] = {}
        """Device id -> newest state not sent yet."""
        self._events: list[Event] = []
        self._events_lost = False
        self._events_pending = Signal()
        self._pending = Signal()
        self._conditions_pending = any(True for _ in context.system.conditions)
        """Whether what is wrong with the server has to be sent; a new client takes it for nothing."""
        self.tickets = TicketUpdates(context, caller, self._wake)
        self.traffic = TrafficUpdates(context, caller, self._wake)
        self.reviews = ReviewUpdates(context, caller, self._wake)
        self.commands = CommandUpdates(context, caller, self._wake)
        self._authorized = True
        self._expiry_sleep = trio.CancelScope()
        self._sent_positions = False
        """Whether the first message, with the latest position of each device, has been sent."""

    async def load(self) -> None:
        """Take the latest position of each visible device."""
        self._visible_ids = await visible_device_ids(self._context, self._caller)
        await self._load_positions(self._visible_ids)

    def followers(self) -> tuple[Callable[..., Awaitable[None]], ...]:
        """Return the tasks that take what is to be sent, and look after the rights of the user."""
        return (
            self._follow_topics,
            self.tickets.follow,
            self.traffic.follow,
            partial(self.reviews.follow, lambda: self._visible_ids),
            partial(self.commands.follow, lambda: self._visible_ids),
            self._follow_conditions,
            self._follow_changes,
            self._follow_expiry,
            self._follow_closing,
        )

    async def _follow_topics(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Take positions, states of devices and events as they are published, in order.

        A task that wakes for each would cost more than it does.
        """
        topic = self._context.system.topic
        listeners = (
            topic(POSITIONS).listen(self._add_positions),
            topic(LATEST_POSITIONS).listen(self._add_positions),
            topic(DEVICES).listen(self._add_devices),
            topic(WEB_EVENTS).listen(self._add_event),
        )
        try:
            task_status.started()
            await trio.sleep_forever()
        finally:
            for listener in listeners:
                listener.cancel()

    async def _follow_conditions(
        self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
    ) -> None:
        """Notice when something begins or ceases to be wrong with the server."""

        def note() -> None:
            self._conditions_pending = True
            self._pending.set()

        with self._context.system.conditions.followed_by(note):
            task_status.started()
            await trio.sleep_forever()

    async def _follow_changes(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Follow committed changes: of this user, of what they may see, and of the rows of those devices."""
        async with self._context.system.topic(CHANGES).subscribe(CHANGES_QUEUE) as subscription:
            task_status.started()
            while True:
                # What cannot be read now is read at the next keep-alive; until then rights stay as they were.
                with suppress(StorageError):
                    try:
                        commits = await subscription.receive_batch()
                    except Lagged:
                        await self._apply([EverythingChanged()])
                        await self._load_devices(self._visible_ids)
                    else:
                        await self._apply(change for commit in commits for change in commit)

    async def _follow_expiry(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Check the credentials again when they are due to end."""
        task_status.started()
        clock = self._context.clock
        while self._authorized:
            expires = self._caller.expires
            left = MAX_SLEEP_SECONDS if expires is None else (expires - clock.now()).total_seconds()
            if left > 0:
                with trio.CancelScope() as self._expiry_sleep:
                    await trio.sleep(min(left, MAX_SLEEP_SECONDS))
                continue
            try:
                await self._identify_again()
            except StorageError:
                self._end()  # what cannot be checked when it is due is not valid
            if self._caller.expires == expires:
                await trio.sleep(PAUSE_SECONDS)

    async def _follow_closing(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Wake the sender when the server stops."""
        task_status.started()
        await self._context.lifetime.closing.wait()
        self._pending.set()

    async def send_all(self) -> int:
        """Send what is pending, and an empty object when nothing was for a while; return the close code."""
        keepalive = self._context.settings.http.socket_keepalive_seconds
        while self._authorized:
            is_quiet = not await self._pending.wait(keepalive)
            if self._context.lifetime.closing.is_set():
                return GOING_AWAY
            if self._events_lost or self.tickets.lost:
                return TRY_AGAIN_LATER
            if is_quiet:
                # Keeps the connection open; here the socket of an expired session ends as well.
                await websocket.send("{}")
                with suppress(StorageError):
                    await self._identify_again()
                    await self._refresh_visible()
                if self._devices:
                    self._pending.set()
                continue
            positions, self._positions = self._positions, {}
            devices, self._devices = self._devices, {}
            await self._send(positions, devices, self._take_events())
            await self._pause()
        return POLICY_VIOLATION

    async def _pause(self) -> None:
        """Wait until the next message is due; events that come meanwhile are sent.

        With them goes what is pending of their devices: a client has the position of an event before it or
        together with it. All else is sent as often as without events.
        """
        now = trio.current_time()
        end = now + PAUSE_SECONDS
        while await self._events_pending.wait(end - now):
            await trio.sleep_until(min(now + EVENT_PAUSE_SECONDS, end))
            now = trio.current_time()
            if now >= end or not self._authorized or self._events_lost:
                return
            events = self._take_events()
            device_ids = {event.device_id for event in events}
            await self._send(
                {each: self._positions.pop(each) for each in device_ids & self._positions.keys()},
                {each: self._devices.pop(each) for each in device_ids & self._devices.keys()},
                events,
            )

    def _take_events(self) -> list[Event]:
        events, self._events = self._events, []
        self._events_pending.clear()
        return events

    async def _send(
        self, positions: dict[int, Position], devices: dict[int, DeviceStatus], events: list[Event]
    ) -> None:
        """Send these and the changed tickets, without what may no longer be seen."""
        message: dict[str, object] = {}
        if devices and (shown := await self._shown(devices)):
            message["devices"] = shown
        visible = [position for position in positions.values() if position.device_id in self._visible_ids]
        if visible or not self._sent_positions:
            self._sent_positions = True
            message["positions"] = self._context.position_json.encode_all(visible)
        visible_events = [
            event for event in events if not event.device_id or event.device_id in self._visible_ids
        ]
        if visible_events:
            message["events"] = visible_events
        reviews = await self.reviews.take(lambda: self._visible_ids)
        if reviews is not None:
            message["reviews"] = reviews
        commands = await self.commands.take(lambda: self._visible_ids)
        if commands is not None:
            message["commands"] = commands
        tickets = await self.tickets.take()
        if tickets:
            message["tickets"] = tickets
        if logs := self.traffic.take():
            message["logs"] = logs
        if self._conditions_pending and self._caller.administrator:
            message["conditions"] = [
                {"name": each.kind.name, "since": each.since, "text": each.text, "cause": each.cause}
                for each in self._context.system.conditions
            ]
        self._conditions_pending = False
        if message:
            await websocket.send(encode(message).decode())

    async def _shown(self, devices: dict[int, DeviceStatus]) -> list[msgspec.Raw]:
        """Return the JSON of devices with their state."""
        try:
            with trio.fail_after(READ_SECONDS):
                rows = await self._context.devices.get_many(devices)
        except (StorageError, trio.TooSlowError):
            # Sent with a later message; what is wrong with the database is not to wait for them.
            self._devices = {**devices, **self._devices}
            return []
        return self._context.device_json.encode_all(
            (rows[live.device_id].record, live)
            for live in devices.values()
            # Checked here again: the right to see it may have ended while the rows were read.
            if live.device_id in rows and live.device_id in self._visible_ids
        )

    def _add_positions(self, positions: tuple[Position, ...]) -> None:
        for position in positions:
            # Clients take what comes for where the device is.
            if position.device_id in self._visible_ids and "implausible" not in position.attributes:
                self._positions[position.device_id] = position
        if self._positions:
            self._pending.set()

    def _add_devices(self, devices: tuple[DeviceStatus, ...]) -> None:
        for live in devices:
            if live.device_id in self._visible_ids:
                self._devices[live.device_id] = live
        if self._devices:
            self._pending.set()

    def _add_event(self, published: WebEvent | WebEventsLost) -> None:
        if isinstance(published, WebEventsLost):
            self._events_lost = True
        elif self._caller.id in published.user_ids and not self._events_lost:
            self._events.append(published.event)
            self._events_lost = len(self._events) > MAX_PENDING_EVENTS
        if self._events_lost or self._events:
            self._events_pending.set()
            self._pending.set()

    async def _apply(self, changes: Iterable[Change]) -> None:
        """Read again only what these changes concern."""
        changes = list(changes)
        self.tickets.apply(changes)
        identity = visibility = False
        edited: set[int] = set()
        caller = self._caller
        concerned = {caller.id, caller.impersonator_id, caller.sharer_id} - {0}
        for change in changes:
            match change:
                case EverythingChanged():
                    identity = visibility = True
                case UserChanged():
                    identity = identity or change.id in concerned
                case TokenRevoked():
                    identity = identity or change.user_id in concerned or change.id == caller.token_id
                case SessionEnded():
                    identity = identity or (caller.session is not None and caller.session.id == change.id)
                case LinkChanged(owner="user"):
                    # That of a manager to the user, or of a sharer to what they shared.
                    identity = identity or change.owner_id in concerned - {caller.id}
                    visibility = visibility or change.owner_id == caller.id
                case GroupChanged():
                    visibility = visibility or change.affects_visibility
                case DeviceChanged():
                    visibility = visibility or change.affects_visibility
                    if change.operation == "updated":
                        edited.add(change.id)
                case _:
                    pass
        if identity or (visibility and caller.sharer_id):
            await self._identify_again()
        if visibility:
            await self._refresh_visible()
        await self._load_devices(edited & self._visible_ids)

    async def _identify_again(self) -> None:
        """Check that the credentials are still valid; the socket ends where they are not."""
        caller = await identify_socket_caller(self._context, self._token)
        if caller is None or caller.id != self._caller.id:
            self._end()
        else:
            self._caller = self.tickets.caller = self.traffic.caller = caller
            self.reviews.caller = self.commands.caller = caller
            self._expiry_sleep.cancel()

    def _end(self) -> None:
        self._authorized = False
        self._pending.set()

    def _wake(self) -> None:
        self._pending.set()

    async def _refresh_visible(self) -> None:
        """Take the set of devices that the user sees now, and the state of those that are new in it."""
        visible_ids = await visible_device_ids(self._context, self._caller)
        if visible_ids is self._visible_ids:
            return
        gained = visible_ids - self._visible_ids
        self._visible_ids = visible_ids
        if gained:
            await self._load_positions(gained)
            await self._load_devices(gained)

    async def _load_positions(self, device_ids: Iterable[int]) -> None:
        latest = await self._context.system.ref(DIRECTORY).ask(GetLatestPositions(tuple(sorted(device_ids))))
        for position in latest:
            self._positions[position.device_id] = position
        self._pending.set()

    async def _load_devices(self, device_ids: Iterable[int]) -> None:
        ids = tuple(sorted(device_ids))
        if ids:
            devices = await self._context.system.ref(DIRECTORY).ask(GetDeviceStatuses(ids))
            self._devices.update(devices)
            self._pending.set()
