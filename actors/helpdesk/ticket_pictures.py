"""Adds the last picture of a device to a ticket that a rule has opened (docs/ticket-rules.md#pictures).

It is asked after the commit of the ticket: neither events nor other tickets wait for cameras.
"""

import hashlib
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import trio

from motorpool.actors.files.media_files import MediaFiles, measure, newest_picture
from motorpool.actors.helpdesk.business_calendars import BusinessCalendars
from motorpool.actors.helpdesk.capture_evidence import file_attributes, with_camera
from motorpool.actors.helpdesk.draft import to_milliseconds
from motorpool.actors.helpdesk.evidence import add_evidence
from motorpool.actors.helpdesk.facts import Author, Change
from motorpool.actors.helpdesk.ticket_reader import lock_facts
from motorpool.actors.helpdesk.ticket_writer import announce, write
from motorpool.actors.mailings.ticket_mails import TicketMails
from motorpool.actors.messages.live_stream import STREAM
from motorpool.actors.messages.tickets import AttachPicture
from motorpool.actors.video.snapshot import SnapshotImage, read_snapshot
from motorpool.actors.words.record_json import format_time
from motorpool.codecs.reports import MediaFile
from motorpool.runtime import Actor, ActorError
from motorpool.storage.database.database import Database
from motorpool.storage.devices import devices
from motorpool.storage.errors import StorageError
from motorpool.storage.helpdesk import ticket_files
from motorpool.storage.helpdesk.ticket_files import FileFacts
from motorpool.storage.records import Device

MAX_AGE = timedelta(minutes=10)
"""An older picture does not show what has happened."""
STREAM_SECONDS = 5.0
"""How long a running stream is waited for; its next key frame may be some seconds away."""
LIVE_SECONDS = 15.0
"""How long all streams of a device, and the decoding, are waited for."""
WORKERS = 3
"""Tickets whose pictures are looked for at the same time."""
MAX_WAITING = 100
"""Tickets that wait; further ones get no picture."""


class _Picture(NamedTuple):
    file: FileFacts
    attributes: dict[str, Any]


class TicketPictures(Actor[AttachPicture]):
    """Takes tickets, a few at a time."""

    def __init__(
        self, database: Database, files: MediaFiles, calendars: BusinessCalendars, mails: TicketMails
    ) -> None:
        self._database = database
        self._files = files
        self._calendars = calendars
        self._mails = mails
        self._waiting, self._next = trio.open_memory_channel[AttachPicture](MAX_WAITING)

    def handle(self, message: AttachPicture) -> None:
        """Have a worker look for the picture."""
        try:
            self._waiting.send_nowait(message)
        except trio.WouldBlock:
            self.context.log.warning("ticket %d gets no picture: too many wait", message.ticket_id)

    async def run(self) -> None:
        """Look for pictures."""
        async with trio.open_nursery() as workers:
            for _ in range(WORKERS):
                workers.start_soon(self._work)

    async def _work(self) -> None:
        async for message in self._next:
            try:
                await self._attach(message)
            except (StorageError, OSError) as error:
                self.context.log.warning("ticket %d gets no picture: %s", message.ticket_id, error)
            except Exception:
                self.context.log.exception("ticket %d gets no picture", message.ticket_id)

    async def _attach(self, message: AttachPicture) -> None:
        device = await devices.TABLE.fetch(self._database, message.device_id)
        if device is None:
            return
        picture = await self._live(device) or await self._stored(device)
        if picture is None:
            return
        now = to_milliseconds(self.context.clock.now())
        async with self._database.transaction() as transaction:
            found = await lock_facts(transaction, [message.ticket_id], self._calendars, now=now)
            facts = found.get(message.ticket_id)
            if facts is None or await ticket_files.count(transaction, message.ticket_id):
                return
            await ticket_files.add(transaction, facts.ticket.company_id, message.ticket_id, picture.file)
            entry = await with_camera(transaction, picture.attributes)
            outcome = add_evidence(facts, Author(kind="device"), now, entry)
            changes = await write(transaction, [Change(facts, outcome)], now, self._mails)
        if self._files.quota is not None:
            self._files.quota.hold(picture.file.name)
        await announce(self.context.system, changes)

    async def _live(self, device: Device) -> _Picture | None:
        """Store the picture of the first channel that streams. No camera is started."""
        found = await self._snapshot(device.id)
        if found is None:
            return None
        channel, image = found
        name = await self._files.save(
            device.unique_id, MediaFile("image", "jpg", image.jpeg, channel), self.context.clock.now()
        )
        file = FileFacts(name, len(image.jpeg), hashlib.sha256(image.jpeg).hexdigest())
        return _picture(device, file, image.taken_at, channel)

    async def _snapshot(self, device_id: int) -> tuple[int, SnapshotImage] | None:
        system, clock = self.context.system, self.context.clock
        with trio.move_on_after(LIVE_SECONDS):
            for key in sorted(key for key in system.keys(STREAM) if key[0] == device_id):
                with suppress(ActorError):
                    image = await read_snapshot(system, key, STREAM_SECONDS, may_start=False)
                    if isinstance(image, SnapshotImage) and clock.now() - image.taken_at <= MAX_AGE:
                        return key[1], image
        return None

    async def _stored(self, device: Device) -> _Picture | None:
        """Return the newest photo or stored snapshot."""
        store, oldest = self._files.store, self.context.clock.now() - MAX_AGE
        found = await trio.to_thread.run_sync(newest_picture, store, device.unique_id, oldest)
        if found is None:
            return None
        name, stored_at = found
        size, digest = await trio.to_thread.run_sync(measure, store, device.unique_id, name)
        return _picture(device, FileFacts(name, size, digest), stored_at)


def _picture(device: Device, file: FileFacts, taken_at: datetime, channel: int = 0) -> _Picture:
    attributes = {**file_attributes(device, file), "time": format_time(taken_at)}
    return _Picture(file, {**attributes, "channel": channel} if channel else attributes)
