"""Sends positions, status and events of this server's devices to the other servers of its database.

A server sends the newest of each device ten times a second, by NOTIFY or by the link, and the others show it
as if the device were theirs (docs/servers.md#watching). What may have been missed, while a connection was
lost, is read in the database and asked of the others; of events it is not known, so WebSocket clients connect
again.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Never

import trio

from motorpool.actors.cluster.broadcasts import Broadcasts, TextsChannel
from motorpool.actors.cluster.cluster_statuses import ClusterStatuses
from motorpool.actors.cluster.remote_texts import (
    decode_text,
    encode_devices,
    encode_events,
    encode_ids,
    encode_text,
)
from motorpool.actors.files.media_store import MediaStore
from motorpool.actors.messages.command_log import COMMAND_LOG_ROWS, RowsChanged, RowsLost
from motorpool.actors.messages.directory import DIRECTORY, GetLastUpdates
from motorpool.actors.messages.homes import LIVING_SERVERS, LivingServers
from motorpool.actors.messages.remote import (
    ApplyRemoteUpdates,
    DeviceUpdate,
    GetLoadedDevices,
    RemoteText,
)
from motorpool.actors.messages.topics import (
    ADDRESSED_POSITIONS,
    LATEST_POSITIONS,
    LOCAL_STATUSES,
    POSITIONS,
    REVIEWS,
    WEB_EVENTS,
    DeviceStatus,
    ReviewsChanged,
    ReviewsLost,
    WebEvent,
    WebEventsLost,
)
from motorpool.actors.messages.uplink import DEVICE, StoredElsewhere
from motorpool.actors.rules.fold import can_be_latest, is_latest
from motorpool.runtime import Actor, ActorError, Signal
from motorpool.storage.database.database import Database
from motorpool.storage.devices import positions
from motorpool.storage.errors import StorageError
from motorpool.storage.events import events
from motorpool.storage.records import Position

CHANNEL = "motorpool_live"
SEND_SECONDS = 0.1
"""Between two statements that send."""
SEND_DEVICES = 2_000
"""Devices of one statement; of the others the newest waits."""
MAX_UNSENT_EVENTS = 1_000
"""Events that wait to be sent; beyond it the clients of other servers connect again."""
BATCH = 1_000
"""Devices that are read at once after a lost connection."""
STOP_SECONDS = 1.0
"""For the last texts, where the database answers."""


class LiveRelay(Actor[Never]):
    """Keeps the newest of each device until it is sent, and applies what others send."""

    def __init__(
        self,
        database: Database,
        server: int,
        cluster_statuses: ClusterStatuses,
        store: MediaStore,
        broadcasts: Broadcasts,
    ) -> None:
        """`server` is the number of this one. `cluster_statuses` is the table of the directory, `store` keeps
        the files of devices; `broadcasts` reach the other servers.
        """
        self._database = database
        self._broadcasts = broadcasts
        self._server = server
        self._cluster_statuses = cluster_statuses
        self._store = store
        self._files = ""
        """The identity of the store; empty: unknown."""
        self._with_other_files: set[int] = set()
        """Servers that keep files of devices in another folder."""
        self._positions: dict[int, Position] = {}
        """The newest unsent position of each device."""
        self._statuses: dict[int, datetime | None] = {}
        """Devices whose status is to be sent, and their last updates."""
        self._events: list[WebEvent] = []
        self._events_lost = False
        self._reviews: dict[int, None] = {}
        """Events whose reviews are to be sent."""
        self._commands: dict[int, None] = {}
        """Rows of the log of commands that are to be sent."""
        self._wanted = Signal()
        """Another server asks for the status of all devices."""
        self._asked = False
        """It has not been sent yet which folder of files this server has."""
        self._added = Signal()
        self._was_connected = False
        self._stopping = False
        self._sent = trio.Event()
        self._known: set[int] = set()
        """The servers that have sent anything and have not left."""

    async def start(self) -> None:
        """Record changes at this server from now on."""
        try:
            self._files = await trio.to_thread.run_sync(self._store.identity)
        except OSError as error:
            self.context.log.warning("files of devices cannot be kept: %s", error)
        self.context.listen(POSITIONS, self._add_positions)
        self.context.listen(ADDRESSED_POSITIONS, self._add_positions)
        self.context.listen(LOCAL_STATUSES, self._add_status)
        self.context.listen(WEB_EVENTS, self._add_event)
        self.context.listen(REVIEWS, self._add_reviews)
        self.context.listen(COMMAND_LOG_ROWS, self._add_commands)
        self.context.listen(LIVING_SERVERS, self._keep_servers)

    async def stop(self) -> None:
        """Send what waits, and that this server leaves."""
        self._stopping = True
        self._added.set()
        with trio.move_on_after(STOP_SECONDS):
            await self._sent.wait()

    # What this server has to send

    def _add_positions(self, stored: tuple[Position, ...]) -> None:
        unsent = self._positions
        for position in stored:
            known = unsent.get(position.device_id)
            # An older fix that arrives late must not replace the latest.
            if known is None or is_latest(position, known if can_be_latest(known) else None):
                unsent[position.device_id] = position
        self._added.set()

    def _add_status(self, status: DeviceStatus) -> None:
        self._statuses[status.device_id] = status.last_update
        self._added.set()

    def _add_event(self, event: WebEvent | WebEventsLost) -> None:
        if isinstance(event, WebEventsLost) or event.is_remote:
            return
        self._events.append(event)
        if len(self._events) > MAX_UNSENT_EVENTS:
            self._events, self._events_lost = [], True
        self._added.set()

    def _add_reviews(self, changed: ReviewsChanged | ReviewsLost) -> None:
        if isinstance(changed, ReviewsLost) or changed.is_remote:
            return
        self._reviews.update(dict.fromkeys(event.id for event in changed.events))
        if len(self._reviews) > MAX_UNSENT_EVENTS:
            self._reviews, self._events_lost = {}, True
        self._added.set()

    def _add_commands(self, changed: RowsChanged | RowsLost) -> None:
        if isinstance(changed, RowsLost) or changed.is_remote:
            return
        self._commands.update(dict.fromkeys(changed.ids))
        if len(self._commands) > MAX_UNSENT_EVENTS:
            self._commands, self._events_lost = {}, True
        self._added.set()

    def _tell_of_lost_events(self) -> None:
        """Have clients ask for what they may have missed."""
        self.context.system.topic(WEB_EVENTS).publish(WebEventsLost())
        self.context.system.topic(REVIEWS).publish(ReviewsLost())
        self.context.system.topic(COMMAND_LOG_ROWS).publish(RowsLost())

    async def run(self) -> None:
        """Send and receive; connect again when the connection is lost."""
        await self._broadcasts.serve(self._serve, self.context.log)

    async def _serve(self, channel: TextsChannel) -> None:
        if self._was_connected:
            self._tell_of_lost_events()
        self._was_connected = True
        await channel.send([encode_text(RemoteText(self._server, asks=True, files=self._files))])
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._receive, channel)
            nursery.start_soon(self._send, channel)
            nursery.start_soon(self._add_all_statuses)
            self._wanted.set()
            await self._read_latest()

    async def _send(self, channel: TextsChannel) -> None:
        while True:
            await self._added.wait()
            device_ids = list(islice(self._positions.keys() | self._statuses.keys(), SEND_DEVICES))
            here = self._cluster_statuses.here
            updates = [
                DeviceUpdate(
                    device_id,
                    here.get(device_id),
                    self._statuses.pop(device_id, None),
                    self._positions.pop(device_id, None),
                )
                for device_id in device_ids
            ]
            unsent, self._events = self._events, []
            reviews, self._reviews = self._reviews, {}
            logged, self._commands = self._commands, {}
            lost, self._events_lost = self._events_lost, False
            # The position of an event comes before it.
            texts = [
                *encode_devices(self._server, updates, channel.max_bytes),
                *encode_events(self._server, unsent, channel.max_bytes),
                *encode_ids(self._server, "reviews", reviews, channel.max_bytes),
                *encode_ids(self._server, "commands", logged, channel.max_bytes),
            ]
            if lost:
                texts.append(encode_text(RemoteText(self._server, lost=True)))
            asked, self._asked = self._asked, False
            if asked:
                texts.append(encode_text(RemoteText(self._server, files=self._files)))
            if self._positions or self._statuses:
                self._added.set()
            elif self._stopping:
                texts.append(encode_text(RemoteText(self._server, leaves=True)))
            try:
                if texts:
                    await channel.send(texts)
            except (StorageError, ActorError):
                # The next connection begins with the folder of files.
                self._restore(updates, unsent, reviews, lost=lost)
                raise
            if self._stopping:
                self._sent.set()
            await trio.sleep(SEND_SECONDS)

    def _restore(
        self,
        updates: Iterable[DeviceUpdate],
        unsent: list[WebEvent],
        reviews: dict[int, None],
        *,
        lost: bool,
    ) -> None:
        """Keep updates that could not be sent, unless there are newer ones."""
        for update in updates:
            if update.position is not None:
                self._positions.setdefault(update.device_id, update.position)
            self._statuses.setdefault(update.device_id, update.last_update)
        self._events = unsent + self._events
        self._reviews |= reviews
        self._events_lost |= lost
        self._added.set()

    async def _add_all_statuses(self) -> None:
        """Send the status of all devices to a server that asks."""
        while True:
            await self._wanted.wait()
            for device_ids in _batches(tuple(self._cluster_statuses.here)):
                known = await self.context.system.ref(DIRECTORY).ask(GetLastUpdates(device_ids))
                for device_id in device_ids:
                    self._statuses.setdefault(device_id, known.get(device_id))
                self._added.set()
                await trio.sleep(SEND_SECONDS)

    # What the others have sent

    async def _receive(self, channel: TextsChannel) -> None:
        while True:
            text = decode_text(await channel.receive())
            if text.server:
                self._known.add(text.server)
            if text.devices:
                await self._apply(text.server, text.devices)
            for each in text.events:
                event = WebEvent(frozenset(each.user_ids), each.event, is_remote=True)
                self.context.system.topic(WEB_EVENTS).publish(event)
            if text.reviews:
                reviewed = await events.TABLE.fetch_many(self._database, text.reviews)
                self.context.system.topic(REVIEWS).publish(ReviewsChanged(tuple(reviewed), is_remote=True))
            if text.commands:
                self.context.system.topic(COMMAND_LOG_ROWS).publish(
                    RowsChanged(text.commands, is_remote=True)
                )
            if text.lost:
                self._tell_of_lost_events()
            if text.files:
                self._compare_files(text.server, text.files)
            if text.asks:
                self._asked = True
                self._added.set()
                self._wanted.set()
            if text.leaves:
                self._known.discard(text.server)

    def _compare_files(self, server: int, files: str) -> None:
        if not self._files or files == self._files:
            self._with_other_files.discard(server)
        elif server not in self._with_other_files:
            self._with_other_files.add(server)
            self.context.log.warning(
                "server %d keeps the files of devices in another folder than %s: what one of them has, such"
                " as pictures and captures, the other does not serve (docs/servers.md#what-servers-share)",
                server,
                self._store.folder,
            )

    async def _apply(self, server: int, updates: Sequence[DeviceUpdate]) -> None:
        long = [update.position_id for update in updates if update.position_id]
        if long:
            read = {each.device_id: each for each in await positions.TABLE.fetch_many(self._database, long)}
            updates = [
                DeviceUpdate(each.device_id, each.status, each.last_update, read.get(each.device_id))
                if each.position_id
                else each
                for each in updates
            ]
        stored = tuple(update.position for update in updates if update.position is not None)
        if stored:
            # Before events that follow in other texts.
            self.context.system.topic(LATEST_POSITIONS).publish(stored)
        system = self.context.system
        await system.ref(DIRECTORY).tell(ApplyRemoteUpdates(server, tuple(updates)))
        for position in stored:
            device = system.ref(DEVICE, position.device_id)
            if device.alive:
                device.offer(StoredElsewhere())

    async def _read_latest(self) -> None:
        """Read the latest positions that are in memory again, since others may have stored newer ones."""
        directory = self.context.system.ref(DIRECTORY)
        for device_ids in _batches(await directory.ask(GetLoadedDevices())):
            latest = await positions.latest(self._database, device_ids)
            updates = tuple(DeviceUpdate(each.device_id, position=each) for each in latest)
            newer = await directory.ask(ApplyRemoteUpdates(0, updates))
            if newer:
                self.context.system.topic(LATEST_POSITIONS).publish(newer)

    def _keep_servers(self, living: LivingServers) -> None:
        self._with_other_files &= living.numbers
        dead = self._known - living.numbers
        if dead:
            # It may have ended between an event and its sending.
            self._known -= dead
            self._tell_of_lost_events()
        self.context.system.ref(DIRECTORY).offer(living)


def _batches(device_ids: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    return (device_ids[start : start + BATCH] for start in range(0, len(device_ids), BATCH))
